// Long random walks over the pure machine. ASSAY_WALKS=N walks more, ASSAY_WALK_SEED=S begins elsewhere.
#include "tests/model/walk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace assay::model {
namespace {

constexpr std::uint64_t kWalks = 2000;
constexpr std::size_t kMovesOfAWalk = 120;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

bool fails(const Moves& moves, Broken broken) {
  return run_walk(moves, WalkOptions{.mirror = nullptr, .broken = broken}).violation.has_value();
}

// The shortest failing walk that shrinking finds among some seeds, or an empty one.
Moves shortest_failure(Broken broken) {
  for (std::uint64_t seed = 1; seed <= kWalks; ++seed) {
    const Moves moves = random_moves(seed, kMovesOfAWalk);
    if (!fails(moves, broken)) continue;
    return shrink(moves, [broken](const Moves& fewer) { return fails(fewer, broken); });
  }
  return {};
}

TEST(Walk, OwesEachRequestExactlyOneReceiptWhateverHappens) {
  const std::uint64_t first = number_from("ASSAY_WALK_SEED", 1);
  const std::uint64_t walks = number_from("ASSAY_WALKS", kWalks);
  std::uint64_t steps = 0;
  std::set<std::string_view> outcomes;
  std::set<chat::Transition> transitions;
  for (std::uint64_t seed = first; seed < first + walks; ++seed) {
    const Moves moves = random_moves(seed, kMovesOfAWalk);
    const WalkResult result = run_walk(moves);
    steps += result.steps;
    outcomes.insert(result.outcomes.begin(), result.outcomes.end());
    transitions.insert(result.transitions.begin(), result.transitions.end());
    if (!result.violation) continue;
    const Moves fewer = shrink(moves, [](const Moves& some) { return fails(some, Broken::Nothing); });
    FAIL() << "seed " << seed << ", " << *run_walk(fewer).violation << "\nthe moves that it needs:\n"
           << describe(fewer);
  }
  fmt::print("{} walks from seed {}: {} transactions\n", walks, first, steps);
  EXPECT_EQ(outcomes,
            (std::set<std::string_view>{"succeeded", "not_produced", "validation_exhausted", "generation_failed",
                                        "configuration_error", "interrupted", "queue_deleted", "superseded"}))
      << "the walks must reach every end that they can";
  EXPECT_EQ(transitions.size(), std::variant_size_v<Input>) << "and take every transition that they know";
}

TEST(Walk, MissesAnOmittedReceiptAndShrinksToTheMovesThatShowIt) {
  const Moves moves = shortest_failure(Broken::InterruptionWithoutReceipt);
  EXPECT_EQ(moves.size(), 1U) << describe(moves);  // what interrupts; the runners then finish by themselves
}

TEST(Walk, MissesAFenceThatLetsLateWorkPass) {
  const Moves moves = shortest_failure(Broken::LateCommitsPassTheFence);
  EXPECT_FALSE(moves.empty());
  EXPECT_LE(moves.size(), 8U) << describe(moves);
}

}  // namespace
}  // namespace assay::model
