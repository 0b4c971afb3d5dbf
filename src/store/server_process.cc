#include "store/server_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <thread>

namespace assay::store {

namespace fs = std::filesystem;

namespace {

// From here on the process is `user`. Only calls that are safe between fork and exec.
bool become(const ServerUser& user) {
  if (!user.is_other) return true;
  return ::setgroups(user.groups.size(), user.groups.data()) == 0 && ::setgid(user.gid) == 0 && ::setuid(user.uid) == 0;
}

[[noreturn]] void run_child(char* const* arguments, const ServerUser& user, int log, pid_t parent) {
  ::setpgid(0, 0);  // a terminal's ^C is for the parent, which stops the server in order
  if (!become(user)) ::_exit(126);
  // Only now: changing the user clears it.
  ::prctl(PR_SET_PDEATHSIG, SIGINT);
  if (::getppid() != parent || ::chdir("/") != 0) ::_exit(126);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv(arguments[0], arguments);
  ::_exit(127);
}

// The state letter of /proc/PID/stat; 0: no such process.
char state_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  if (!std::getline(file, line)) return 0;
  const auto name_end = line.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= line.size() ? '\0' : line[name_end + 2];
}

std::optional<std::string> link_target(const std::string& link) {
  std::error_code error;
  const fs::path target = fs::read_symlink(link, error);
  if (error) return std::nullopt;
  return target.string();
}

}  // namespace

std::optional<ServerUser> find_server_user() {
  ServerUser user;
  user.uid = ::geteuid();
  user.gid = ::getegid();
  if (user.uid != 0) return user;
  const passwd* entry = ::getpwnam("postgres");
  if (entry == nullptr) return std::nullopt;
  user.uid = entry->pw_uid;
  user.gid = entry->pw_gid;
  user.is_other = true;
  int count = 64;
  user.groups.resize(static_cast<std::size_t>(count));
  if (::getgrouplist(entry->pw_name, entry->pw_gid, user.groups.data(), &count) < 0) count = 0;
  user.groups.resize(static_cast<std::size_t>(count));
  return user;
}

std::optional<pid_t> start_process(const std::vector<std::string>& command, const ServerUser& user,
                                   const fs::path& log) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (output < 0) return std::nullopt;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) run_child(arguments.data(), user, output, parent);
  ::close(output);
  if (child < 0) return std::nullopt;
  return child;
}

std::optional<int> wait_for_exit(pid_t child, Deadline deadline) {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno == ECHILD) return 0;  // somebody else reaped it: it is gone
    if (deadline.has_passed(system_clock())) return std::nullopt;
    pause_briefly();
  }
}

std::optional<fs::path> first_closed_folder(const fs::path& folder, const ServerUser& user) {
  std::vector<std::string> folders;
  for (fs::path path = folder;; path = path.parent_path()) {
    folders.push_back(path.string());
    if (path == path.root_path() || path.empty()) break;
  }
  std::ranges::reverse(folders);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!become(user)) ::_exit(0);  // the start itself will say so
    for (std::size_t index = 0; index < folders.size(); ++index) {
      if (::access(folders[index].c_str(), X_OK) != 0) ::_exit(static_cast<int>(index) + 1);
    }
    ::_exit(0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return std::nullopt;
  const auto number = static_cast<std::size_t>(WEXITSTATUS(status));
  if (number == 0 || number > folders.size()) return std::nullopt;
  return folders[number - 1];
}

bool is_postgres(pid_t process) {
  const char state = state_of(process);
  if (state == 0 || state == 'Z' || state == 'X') return false;
  const auto program = link_target(fmt::format("/proc/{}/exe", process));
  return program && fs::path(*program).filename() == "postgres";
}

std::vector<pid_t> processes_in(const fs::path& data) {
  std::vector<pid_t> found;
  std::error_code error;
  const fs::path folder = fs::canonical(data, error);
  if (error) return found;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    pid_t process = 0;
    const auto [end, parsed] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (parsed != std::errc() || end != name.data() + name.size()) continue;
    const auto works_in = link_target(fmt::format("/proc/{}/cwd", process));
    if (works_in && *works_in == folder.string() && is_postgres(process)) found.push_back(process);
  }
  return found;
}

bool end_processes(const std::vector<pid_t>& processes, int signal, Deadline deadline) {
  for (const pid_t process : processes) ::kill(process, signal);
  const auto runs = [](pid_t process) { return is_postgres(process); };
  while (std::ranges::any_of(processes, runs)) {
    if (deadline.has_passed(system_clock())) return false;
    pause_briefly();
  }
  return true;
}

void pause_briefly() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

}  // namespace assay::store
