#pragma once
// libcurl's multi interface on the loop. Internal to this room.
//
// curl's sockets are watched by an epoll instance of their own, and the loop watches only that one descriptor. So curl
// keeps its descriptors, level-triggered as it expects, and Asio never holds one that curl has closed.
#include <curl/curl.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>

namespace assay::net::detail {

// Gets the end of its transfer, from inside the loop, never from inside a call that it made itself.
class CurlListener {
 public:
  virtual ~CurlListener() = default;
  virtual void on_finished(CURLcode result) = 0;
};

class CurlMulti : public std::enable_shared_from_this<CurlMulti> {
 public:
  explicit CurlMulti(const boost::asio::any_io_executor& executor);
  ~CurlMulti();
  CurlMulti(const CurlMulti&) = delete;
  CurlMulti& operator=(const CurlMulti&) = delete;

  // Begins to watch. Once, after it is held by a shared_ptr.
  void start();

  // Requires: the handle's CURLOPT_PRIVATE is a CurlListener* that lives until remove(); neither is called inside a
  // curl callback. False where memory is short.
  bool add(CURL* easy);
  void remove(CURL* easy);

 private:
  static int on_socket(CURL* easy, curl_socket_t descriptor, int what, void* self, void* unused);
  static int on_timer(CURLM* multi, long milliseconds, void* self);

  void watch();
  void handle_ready_sockets();
  void drive(curl_socket_t descriptor, int events);
  void collect_finished();

  CURLM* multi_;
  boost::asio::posix::stream_descriptor epoll_;
  boost::asio::steady_timer timer_;
  bool inside_curl_ = false;
};

}  // namespace assay::net::detail
