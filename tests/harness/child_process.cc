#include "tests/harness/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>

namespace assay::tests {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                           const Environment& environment) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  output_pipe_ = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);

  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  for (const char* inherited : {"PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
    if (const char* value = std::getenv(inherited)) variables.push_back(std::string(inherited) + "=" + value);
  }
  const int failure =
      ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failure != 0) throw std::runtime_error("cannot start " + program);
}

ChildProcess::~ChildProcess() {
  kill();
  ::close(output_pipe_);
}

bool ChildProcess::read_more(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  pollfd wait{.fd = output_pipe_, .events = POLLIN, .revents = 0};
  if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) return false;
  char block[16 * 1024];
  const ssize_t got = ::read(output_pipe_, block, sizeof block);
  if (got <= 0) return false;
  output_.append(block, static_cast<std::size_t>(got));
  return true;
}

std::optional<std::string> ChildProcess::wait_for_line(const std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    for (std::size_t end = output_.find('\n', scanned_); end != std::string::npos; end = output_.find('\n', scanned_)) {
      std::string line = output_.substr(scanned_, end - scanned_);
      scanned_ = end + 1;
      if (line.find(text) != std::string::npos) return line;
    }
    if (!read_more(deadline)) return std::nullopt;
  }
}

int ChildProcess::wait_for_exit() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (read_more(deadline)) {
  }
  if (std::chrono::steady_clock::now() >= deadline) ::kill(pid_, SIGKILL);
  reap();
  return *exit_;
}

void ChildProcess::send_signal(int signal) {
  if (!exit_) ::kill(pid_, signal);
}

bool ChildProcess::is_running() {
  while (read_more(std::chrono::steady_clock::now() + std::chrono::milliseconds(1))) {
  }
  int status = 0;
  if (!exit_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    exit_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  return !exit_;
}

void ChildProcess::await_stop() const {
  siginfo_t ignored;
  while (::waitid(P_PID, static_cast<id_t>(pid_), &ignored, WSTOPPED | WNOWAIT) < 0 && errno == EINTR) {
  }
}

void ChildProcess::kill() {
  send_signal(SIGCONT);
  send_signal(SIGKILL);
  reap();
}

void ChildProcess::reap() {
  if (exit_) return;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  exit_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

Finished run_program(const std::string& program, const std::vector<std::string>& arguments,
                     const ChildProcess::Environment& environment) {
  ChildProcess child(program, arguments, environment);
  const int exit_code = child.wait_for_exit();
  return Finished{.exit_code = exit_code, .output = child.output()};
}

std::string binary(const std::string& name) { return std::string(ASSAY_BINARY_DIR) + "/" + name; }

}  // namespace assay::tests
