#include "worker/worker.h"

#include <algorithm>
#include <exception>
#include <vector>

#include "base/log.h"
#include "net/timer.h"

namespace assay::worker {

Worker::Worker(Workplace place) : place_(place), group_(place_.loop) {}

void Worker::start() {
  group_.spawn("acquire chats", repeat(&Worker::acquire_chats));
  group_.spawn("keep leases", repeat(&Worker::keep_leases));
}

net::Task<> Worker::repeat(net::Task<> (Worker::*duty)()) {
  while (!group_.token().stopped()) {
    try {
      co_await (this->*duty)();
    } catch (const std::exception& failure) {
      log::error("a duty of the worker failed and begins again", {{"error", failure.what()}});
    }
    co_await net::sleep_for(place_.settings.acquire_interval, group_.token());
  }
}

net::Task<> Worker::stop() {
  group_.stop(net::StopReason::Shutdown);
  co_await group_.join();
}

net::Task<> Worker::acquire_chats() {
  net::Event& wake_up = place_.notifications.ownership();
  while (!group_.token().stopped()) {
    wake_up.clear();
    bool may_be_more = false;
    const std::size_t at_work = employed_.size() - std::min(employed_.size(), place_.counters.runners_waiting);
    const std::size_t free_places = place_.settings.runners_max - std::min(place_.settings.runners_max, at_work);
    if (free_places > 0) {
      const auto limit = static_cast<std::int64_t>(free_places);
      auto acquired = co_await place_.chats.acquire(place_.settings.replica, limit, place_.settings.lease,
                                                    Deadline::after(place_.clock, kStoreTimeout));
      if (!acquired) {
        log::warning("no chats acquired", {{"error", acquired.error().message}});
      } else {
        for (const store::Ownership& owned : *acquired) group_.spawn("run a chat", employ(owned));
        may_be_more = acquired->size() == free_places;
      }
    }
    if (may_be_more) continue;
    const Deadline next_look = Deadline::after(place_.clock, place_.settings.acquire_interval);
    co_await wake_up.wait(next_look, group_.token());
  }
}

net::Task<> Worker::keep_leases() {
  while (co_await net::sleep_for(place_.settings.heartbeat, group_.token())) {
    std::vector<store::Ownership> owned;
    for (const auto& [chat, employed] : employed_) owned.push_back(employed->owned);
    if (owned.empty()) continue;
    auto kept = co_await place_.chats.heartbeat(place_.settings.replica, owned,
                                                Deadline::after(place_.clock, place_.settings.lease));
    if (!kept) {
      log::warning("leases not renewed", {{"error", kept.error().message}});
      continue;
    }
    for (const store::Ownership& mine : owned) {
      if (std::find(kept->begin(), kept->end(), mine) != kept->end()) continue;
      const auto employed = employed_.find(mine.chat);
      if (employed == employed_.end() || employed->second->owned != mine) continue;
      log::warning("lease lost", {{"chat", mine.chat.to_string()}});
      ++place_.counters.chats_lost;
      employed->second->stop.stop(net::StopReason::LeaseLost);
    }
  }
}

// An exception ends this chat's turn and nothing else.
net::Task<> Worker::run_guarded(store::Ownership owned, net::StopToken stop) {
  Runner runner(place_, owned, stop);
  bool was_broken = false;
  try {
    co_await runner.run();
  } catch (const std::exception& failure) {
    log::error("a turn broke", {{"chat", owned.chat.to_string()}, {"error", failure.what()}});
    was_broken = true;
  }
  if (!was_broken) co_return;
  try {
    co_await runner.give_up();
  } catch (const std::exception& failure) {
    log::error("a broken turn could not be ended", {{"chat", owned.chat.to_string()}, {"error", failure.what()}});
  }
}

net::Task<> Worker::employ(store::Ownership owned) {
  ++place_.counters.chats_acquired;
  const auto employed = std::make_shared<Employed>(owned, net::StopSource(group_.token()));
  // The chat may have been lost and acquired again by this very replica while its earlier runner is still leaving.
  std::shared_ptr<Employed>& place = employed_[owned.chat];
  if (place) place->stop.stop(net::StopReason::LeaseLost);
  place = employed;
  place_.counters.runners = employed_.size();
  co_await run_guarded(owned, employed->stop.token());
  const auto current = employed_.find(owned.chat);
  if (current != employed_.end() && current->second == employed) employed_.erase(current);
  place_.counters.runners = employed_.size();
}

}  // namespace assay::worker
