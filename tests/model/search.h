#pragma once
// An exhaustive search of a small world over the pure functions: one chat, two replicas that run it as worker/runner.cc
// does, a client with a few actions. At any point a replica may die, be overtaken by the other one while it still works
// (a lapsed lease), or not learn what became of its commit.
//
// Checked in every state: invariants.h, so never two receipts; and text that is kept of a cut answer belongs to the
// turn that was cut. Checked of the whole: from every state, once deaths, lapses and doubt cease, every path ends with
// the chat at rest, where nothing but what is queued is still owed.
#include <cstddef>
#include <optional>
#include <string>

namespace assay::model {

// A rule that a test leaves out, to see that the search misses it.
enum class Omitted {
  Nothing,
  Fence,                 // work commits though the chat has moved on
  FenceAndReceiptGuard,  // and no look at the receipts that exist
  InterruptionReceipt,
  Takeover,        // nobody takes a dead replica's chat
  AttemptLimit,    // a model call that fails is begun again for ever
  PartialTextAge,  // what a cut answer had said is kept over a commit in doubt
};

struct SearchOptions {
  int client_actions = 2;
  bool client_tools = false;  // the model may begin a turn with a call of a client's tool, whose deadline may pass
  Omitted omitted = Omitted::Nothing;
};

struct SearchResult {
  std::size_t states = 0;
  std::size_t steps = 0;
  std::size_t ends = 0;                  // states at rest
  std::optional<std::string> violation;  // what broke, and the steps that lead there
};

[[nodiscard]] SearchResult search(const SearchOptions& options);

}  // namespace assay::model
