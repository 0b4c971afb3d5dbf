#pragma once
// The worker of one replica: takes chats that have work and no owner, keeps their leases alive, and runs one Runner for
// each. Only on the loop thread.
#include <memory>
#include <unordered_map>

#include "net/task_group.h"
#include "worker/runner.h"

namespace assay::worker {

class Worker {
 public:
  explicit Worker(Workplace place);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void start();
  // Takes no more chats, asks every runner to leave its chat to others, and returns when all have left. Twice or early
  // is harmless. Requires: returned before destruction, when start() was called.
  net::Task<> stop();

 private:
  struct Employed {
    store::Ownership owned;
    net::StopSource stop;
  };

  net::Task<> acquire_chats();
  net::Task<> keep_leases();
  // Runs a duty until the worker stops; one that throws begins again.
  net::Task<> repeat(net::Task<> (Worker::*duty)());
  net::Task<> employ(store::Ownership owned);
  net::Task<> run_guarded(store::Ownership owned, net::StopToken stop);

  Workplace place_;
  net::TaskGroup group_;
  std::unordered_map<ChatId, std::shared_ptr<Employed>> employed_;
};

}  // namespace assay::worker
