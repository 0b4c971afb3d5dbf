#pragma once
// A program under test: started with its own environment, its output read line by line.
#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::tests {

// Long enough for a loaded machine under a sanitizer; a test that reaches it has failed.
inline constexpr std::chrono::seconds kPatience{60};

class ChildProcess {
 public:
  using Environment = std::map<std::string, std::string>;

  // The child sees these variables and PATH alone. Its stdout and stderr come as one stream of lines.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments, const Environment& environment);
  ~ChildProcess();  // kills what still runs
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Reads on until a line contains `text` and returns it; nothing when the output ends or patience runs out.
  std::optional<std::string> wait_for_line(const std::string& text);
  // Reads to the end of the output and returns the exit code; minus the number of the signal that killed it.
  int wait_for_exit();
  void send_signal(int signal);
  // False once it has ended. Reads on what it printed: a full pipe would stop it.
  bool is_running();
  // Returns once the process has stopped (SIGSTOP). Requires: it is about to.
  void await_stop() const;
  // SIGKILL, and waits until it is gone.
  void kill();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Everything read so far.
  [[nodiscard]] const std::string& output() const { return output_; }

 private:
  bool read_more(std::chrono::steady_clock::time_point deadline);
  void reap();

  pid_t pid_ = -1;
  int output_pipe_ = -1;
  std::string output_;
  std::size_t scanned_ = 0;
  std::optional<int> exit_;
};

struct Finished {
  int exit_code = 0;
  std::string output;  // stdout and stderr together
};
Finished run_program(const std::string& program, const std::vector<std::string>& arguments,
                     const ChildProcess::Environment& environment = {});

// A built binary: `assay` or `assay-sim`.
std::string binary(const std::string& name);

}  // namespace assay::tests
