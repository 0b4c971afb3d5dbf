#include "tests/hermetic/trap.h"

#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <vector>

namespace assay::hermetic {
namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "name this architecture's AUDIT_ARCH"
#endif

// Memory, locks, randomness, time, writing to what is open already, and the end.
constexpr std::array kAllowed = {
    __NR_brk,     __NR_mmap,         __NR_munmap,         __NR_mprotect,  __NR_mremap,
    __NR_madvise, __NR_futex,        __NR_sched_yield,    __NR_getrandom, __NR_clock_gettime,
    __NR_write,   __NR_rt_sigreturn, __NR_rt_sigprocmask, __NR_exit,      __NR_exit_group};

struct Report {
  TrappedRun::End end;
  int code;
};

int report_to = -1;

[[noreturn]] void report(TrappedRun::End end, int code) {
  const Report said{end, code};
  const bool is_said = ::write(report_to, &said, sizeof said) == sizeof said;
  ::_exit(is_said ? 0 : 1);
}

void on_caught(int /*signal*/, siginfo_t* info, void* /*context*/) {
  report(TrappedRun::End::Caught, info->si_syscall);
}

bool install() {
  struct sigaction handler{};
  handler.sa_sigaction = on_caught;
  handler.sa_flags = SA_SIGINFO;
  if (::sigaction(SIGSYS, &handler, nullptr) != 0) return false;

  const auto load = [](std::size_t offset) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
  };
  const auto skip_one_if = [](unsigned value) { return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1); };
  const auto answer = [](unsigned verdict) { return sock_filter BPF_STMT(BPF_RET | BPF_K, verdict); };
  std::vector<sock_filter> filter = {load(offsetof(seccomp_data, arch)),
                                     sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
                                     answer(SECCOMP_RET_KILL_PROCESS), load(offsetof(seccomp_data, nr))};
  for (const int allowed : kAllowed) {
    filter.push_back(skip_one_if(static_cast<unsigned>(allowed)));
    filter.push_back(answer(SECCOMP_RET_ALLOW));
  }
  filter.push_back(answer(SECCOMP_RET_TRAP));
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

[[noreturn]] void run_child(const std::function<int()>& action) {
  if (!install()) report(TrappedRun::End::NotPermitted, errno);
  report(TrappedRun::End::Returned, action());
}

}  // namespace

std::string TrappedRun::describe() const {
  switch (end) {
    case End::Returned:
      return fmt::format("returned {}", code);
    case End::Caught:
      return fmt::format("was caught at system call {}", code);
    case End::NotPermitted:
      return fmt::format("seccomp is not permitted here (errno {}): nothing is proved", code);
    case End::Died:
      return fmt::format("died of signal {}", code);
  }
  return "";
}

TrappedRun run_trapped(const std::function<int()>& action) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {.end = TrappedRun::End::Died, .code = 0};
  const pid_t child = ::fork();
  if (child == 0) {
    report_to = ends[1];
    run_child(action);
  }
  ::close(ends[1]);
  Report said{};
  const bool is_said = ::read(ends[0], &said, sizeof said) == sizeof said;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (is_said) return {.end = said.end, .code = said.code};
  return {.end = TrappedRun::End::Died, .code = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

}  // namespace assay::hermetic
