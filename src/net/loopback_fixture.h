#pragma once
// For tests only: blocking sockets as the other side of a connection, and a loop on a thread of its own.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/time.h"
#include "net/loop.h"
#include "net/task.h"

namespace assay::net {

// Longer than anything takes that works; a test that reaches it has failed.
inline constexpr int kTestPatienceSeconds = 20;

class RawSocket {
 public:
  explicit RawSocket(int descriptor) : descriptor_(descriptor) {
    const timeval patience{.tv_sec = kTestPatienceSeconds, .tv_usec = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  }
  static RawSocket connect(std::uint16_t port, int receive_buffer_bytes = 0) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer_bytes > 0) {
      ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof(receive_buffer_bytes));
    }
    sockaddr_in address = loopback(port);
    if (::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      ADD_FAILURE() << "connect failed: " << errno;
    }
    return RawSocket(descriptor);
  }
  ~RawSocket() { close(); }
  RawSocket(RawSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  RawSocket& operator=(RawSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  // False once the connection is gone.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // False where not a byte could be sent for so long, or the connection is gone; otherwise sends everything.
  bool try_send_within(std::string_view bytes, Milliseconds patience) {
    pollfd writable{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    return ::poll(&writable, 1, static_cast<int>(patience.count())) == 1 && send(bytes);
  }
  // Empty at the end, which was_reset() tells apart from a reset.
  std::string read_some() {
    std::array<char, 16384> buffer;
    const auto count = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) ADD_FAILURE() << "the peer said nothing for too long";
    was_reset_ = count < 0;
    return count <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(count));
  }
  // Everything up to and with `mark`; what came after it is kept for the next read.
  std::string read_until(std::string_view mark) {
    while (!held_.contains(mark)) {
      const std::string more = read_some();
      if (more.empty()) return std::exchange(held_, "");
      held_ += more;
    }
    const std::size_t end = held_.find(mark) + mark.size();
    std::string taken = held_.substr(0, end);
    held_.erase(0, end);
    return taken;
  }
  std::string read_bytes(std::size_t count) {
    while (held_.size() < count) {
      const std::string more = read_some();
      if (more.empty()) break;
      held_ += more;
    }
    std::string taken = held_.substr(0, count);
    held_.erase(0, count);
    return taken;
  }
  std::string read_to_end() {
    std::string all = std::exchange(held_, "");
    for (std::string more = read_some(); !more.empty(); more = read_some()) all += more;
    return all;
  }
  [[nodiscard]] bool was_reset() const { return was_reset_; }
  void shutdown_send() { ::shutdown(descriptor_, SHUT_WR); }
  // Closing then resets the connection.
  void reset_on_close() {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

 private:
  int descriptor_;
  bool was_reset_ = false;
  std::string held_;
};

// A peer to connect to, on a port of the system's choice.
class RawListener {
 public:
  RawListener() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = RawSocket::loopback(0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(descriptor_, 16), 0);
    ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    const timeval patience{.tv_sec = kTestPatienceSeconds, .tv_usec = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  ~RawListener() { close(); }
  RawListener(const RawListener&) = delete;
  RawListener& operator=(const RawListener&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url(std::string_view path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }
  RawSocket accept() {
    const int descriptor = ::accept(descriptor_, nullptr, nullptr);
    EXPECT_GE(descriptor, 0) << "nobody connected";
    return RawSocket(descriptor);
  }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
  std::uint16_t port_ = 0;
};

// Runs a loop beside the test, which plays a blocking peer.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop_.run(); }) {}
  ~LoopThread() {
    loop_.stop();
    thread_.join();
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  Loop& loop() { return loop_; }

  // Calls the function on the loop thread and returns what it returns.
  template <class Function>
  auto call(Function function) {
    std::packaged_task<std::invoke_result_t<Function&>()> job(std::move(function));
    auto result = job.get_future();
    loop_.post(std::move(job));
    return result.get();
  }

  // Runs the task on the loop and waits for its end.
  void run(Task<> task) {
    std::promise<void> ended;
    auto done = ended.get_future();
    loop_.post(
        [this, task = std::move(task), &ended]() mutable { loop_.spawn("test", fulfil(std::move(task), &ended)); });
    done.get();
  }

 private:
  static Task<> fulfil(Task<> task, std::promise<void>* ended) {
    std::exception_ptr thrown;
    try {
      co_await std::move(task);
    } catch (...) {
      thrown = std::current_exception();
    }
    if (thrown) {
      ended->set_exception(thrown);
    } else {
      ended->set_value();
    }
  }

  Loop loop_;
  std::thread thread_;
};

}  // namespace assay::net
