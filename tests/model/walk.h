#pragma once
// Random walks over the pure machine: users, runners, models that answer anything, replicas that die, wake up late and
// repeat a commit whose answer they lost. A walk is a list of moves; each carries its own seed, so that any part of
// the list is a walk too and a failure shrinks to the moves that it needs.
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/model/inputs.h"
#include "tests/model/invariants.h"

namespace assay::model {

enum class MoveKind {
  Send,
  Interrupt,
  Archive,
  Retitle,
  DeleteQueued,
  Promote,
  Edit,
  Compact,
  Clear,
  Answer,  // the client answers its calls: all of them, or in a way that is refused
  Begin,   // a runner reads the chat and prepares its next commit; a model call records its attempt first
  Commit,  // one of the prepared commits is tried, the newest or an older one
  Repeat,  // the last commit is tried again, as if its answer had been lost
  Lose,    // the runner gives the chat up, or is lost
  Steal,   // another runner takes the chat while the first one still works
};

struct Move {
  MoveKind kind = MoveKind::Send;
  std::uint64_t seed = 0;
};
using Moves = std::vector<Move>;

[[nodiscard]] Moves random_moves(std::uint64_t seed, std::size_t count);
[[nodiscard]] std::string describe(const Moves& moves);

// Carries the same steps out elsewhere, and tells what came of them.
class Mirror {
 public:
  virtual ~Mirror() = default;
  virtual void create(const chat::NewChat& created) = 0;
  virtual std::optional<chat::Refusal> apply(const Input& input) = 0;
  virtual RunnerId acquire() = 0;  // whoever has it now
  virtual void release(RunnerId runner) = 0;
  virtual chat::MemoryChat read() = 0;
};

// A rule that a test breaks, to see that it is missed.
enum class Broken { Nothing, InterruptionWithoutReceipt, LateCommitsPassTheFence };

struct WalkOptions {
  Mirror* mirror = nullptr;
  Broken broken = Broken::Nothing;
};

struct WalkResult {
  std::uint64_t steps = 0;                 // transactions tried
  std::set<std::string_view> outcomes;     // `succeeded` or a code
  std::set<chat::Transition> transitions;  // that were allowed at least once
  std::optional<std::string> violation;    // what broke, and after which move
};

// Runs the moves, then lets the runners finish: every turn must end.
[[nodiscard]] WalkResult run_walk(const Moves& moves, const WalkOptions& options = {});

// The moves that are left when none can be taken away without losing the failure.
[[nodiscard]] Moves shrink(Moves moves, const std::function<bool(const Moves&)>& fails);

}  // namespace assay::model
