#pragma once
// Processes of the private cluster: started as the unprivileged user, found again, ended. Internal to store/.
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace assay::store {

// The user that the server runs as.
struct ServerUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  bool is_other = false;  // not the user of this process: it runs as root and drops to `postgres`
};

// nullopt: this process is root, and there is no user `postgres`.
std::optional<ServerUser> find_server_user();

// Starts a program as `user`, in a process group of its own, with both outputs appended to `log`. It gets SIGINT when
// the calling thread ends. nullopt: the fork failed.
std::optional<pid_t> start_process(const std::vector<std::string>& command, const ServerUser& user,
                                   const std::filesystem::path& log);

// The exit status as waitpid gives it, once the child has ended; nullopt when the deadline passed first. Reaps it.
std::optional<int> wait_for_exit(pid_t child, Deadline deadline);

// The first of the folders that `user` cannot enter (each parent of `folder`, then itself); nullopt: all is well.
std::optional<std::filesystem::path> first_closed_folder(const std::filesystem::path& folder, const ServerUser& user);

// Whether `process` runs and is a PostgreSQL server program; a zombie runs no more.
bool is_postgres(pid_t process);
// Server processes that work in `data` (each server process does), whoever started them.
std::vector<pid_t> processes_in(const std::filesystem::path& data);

// Sends a signal and waits until none of the processes runs. False when the deadline passed first.
bool end_processes(const std::vector<pid_t>& processes, int signal, Deadline deadline);

void pause_briefly();  // between two looks at something that no descriptor announces

}  // namespace assay::store
