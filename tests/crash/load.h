#pragma once
// Clients that use chats of their own at any replica and take no error for an answer.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "tests/crash/books.h"
#include "tests/crash/fleet.h"

namespace assay::tests {

// What the provider does about a message is said by a word in it.
extern const char* const kLoadScript;

class Load {
 public:
  Load(const Fleet& fleet, std::string token, std::string organization, std::uint64_t seed);
  ~Load() { stop(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Joins the clients. What was accepted then stands still.
  void stop();
  // Deletes what waits behind a failed turn: nobody else would ever begin it. Requires: stopped.
  void clear_queue(const std::string& chat);
  [[nodiscard]] const Accepted& accepted() const { return accepted_; }

  // Returns once the clients have had so many answers more, or the time is over.
  void await_answers(std::size_t count, std::chrono::milliseconds patience);
  [[nodiscard]] std::size_t answers() const { return answers_; }
  [[nodiscard]] std::size_t errors() const { return errors_; }

 private:
  static constexpr std::size_t kClients = 3;

  void run(std::size_t client, std::uint64_t seed);
  // Between two requests of a client; cut short by the end.
  void pause(std::chrono::milliseconds time);

  const Fleet& fleet_;
  const std::string token_;
  const std::string organization_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::condition_variable ended_;
  Accepted accepted_;
  std::atomic<std::size_t> answers_ = 0;
  std::atomic<std::size_t> errors_ = 0;
  std::atomic<bool> ends_ = false;
  std::vector<std::thread> clients_;

  friend class Client;
};

}  // namespace assay::tests
