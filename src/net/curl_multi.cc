#include "net/curl_multi.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>

#include "base/check.h"

namespace assay::net::detail {

namespace {

// Sockets handled in one go before other tasks get their turn.
constexpr int kReadySocketsMax = 64;

std::uint32_t epoll_events(int what) {
  switch (what) {
    case CURL_POLL_IN:
      return EPOLLIN;
    case CURL_POLL_OUT:
      return EPOLLOUT;
    default:
      return EPOLLIN | EPOLLOUT;
  }
}

}  // namespace

CurlMulti::CurlMulti(const boost::asio::any_io_executor& executor) : epoll_(executor), timer_(executor) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  ASSAY_CHECK(initialised == CURLE_OK, "libcurl must initialise");
  multi_ = curl_multi_init();
  const int descriptor = epoll_create1(EPOLL_CLOEXEC);
  ASSAY_CHECK(multi_ != nullptr && descriptor >= 0, "libcurl and epoll must be available");
  epoll_.assign(descriptor);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlMulti::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlMulti::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

CurlMulti::~CurlMulti() {
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, nullptr);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, nullptr);
  curl_multi_cleanup(multi_);
}

void CurlMulti::start() { watch(); }

bool CurlMulti::add(CURL* easy) {
  ASSAY_CHECK(!inside_curl_, "transfers are added from tasks");
  return curl_multi_add_handle(multi_, easy) == CURLM_OK;
}

void CurlMulti::remove(CURL* easy) {
  ASSAY_CHECK(!inside_curl_, "transfers are removed from tasks");
  curl_multi_remove_handle(multi_, easy);
}

int CurlMulti::on_socket(CURL*, curl_socket_t descriptor, int what, void* self, void*) {
  const int epoll = static_cast<CurlMulti*>(self)->epoll_.native_handle();
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nullptr);
    return 0;
  }
  epoll_event event{};
  event.events = epoll_events(what);
  event.data.fd = descriptor;
  // Whether the descriptor is known already, the kernel knows best.
  if (epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) == 0) return 0;
  return errno == ENOENT && epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : -1;
}

int CurlMulti::on_timer(CURLM*, long milliseconds, void* self) {
  auto& multi = *static_cast<CurlMulti*>(self);
  multi.timer_.cancel();
  if (milliseconds < 0) return 0;
  multi.timer_.expires_after(std::chrono::milliseconds(milliseconds));
  multi.timer_.async_wait([weak = multi.weak_from_this()](boost::system::error_code error) {
    const auto alive = weak.lock();
    if (!error && alive) alive->drive(CURL_SOCKET_TIMEOUT, 0);
  });
  return 0;
}

void CurlMulti::watch() {
  epoll_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [weak = weak_from_this()](boost::system::error_code error) {
                      const auto alive = weak.lock();
                      if (error || !alive) return;
                      alive->handle_ready_sockets();
                      alive->watch();
                    });
}

void CurlMulti::handle_ready_sockets() {
  std::array<epoll_event, kReadySocketsMax> ready;
  const int count = epoll_wait(epoll_.native_handle(), ready.data(), kReadySocketsMax, 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    int events = 0;
    if ((event.events & EPOLLIN) != 0) events |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) events |= CURL_CSELECT_OUT;
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) events |= CURL_CSELECT_ERR;
    drive(event.data.fd, events);
  }
}

void CurlMulti::drive(curl_socket_t descriptor, int events) {
  int running = 0;
  inside_curl_ = true;
  curl_multi_socket_action(multi_, descriptor, events, &running);
  inside_curl_ = false;
  collect_finished();
}

void CurlMulti::collect_finished() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode result = message->data.result;
    void* listener = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &listener);
    static_cast<CurlListener*>(listener)->on_finished(result);
  }
}

}  // namespace assay::net::detail
