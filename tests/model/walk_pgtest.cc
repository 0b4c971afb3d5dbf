// Random walks that PostgreSQL follows: after every move the database holds exactly what the pure machine says.
// ASSAY_WALKS=N walks more, ASSAY_WALK_SEED=S begins elsewhere.
#include <fmt/format.h>

#include <cstdlib>

#include "database/test_database.h"
#include "tests/model/walk.h"

namespace assay::model {
namespace {

using test_database::in_test_time;
using test_database::StoreTest;

constexpr std::uint64_t kWalks = 60;
constexpr std::size_t kMovesOfAWalk = 80;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class DatabaseWalk : public StoreTest {
 public:
  template <class T>
  T await(net::Task<T> task) {
    return get(std::move(task));
  }
  store::ChatStore& store() { return chats(); }
  test_database::TestDatabase& data() { return database; }
};

// A chat of its own for each walk; it answers to the walk's fixed id.
class DatabaseMirror : public Mirror {
 public:
  explicit DatabaseMirror(DatabaseWalk& test) : test_(test) {}

  void create(const chat::NewChat& created) override {
    chat::NewChat mine = created;
    walk_id_ = mine.chat.id;
    id_ = mine.chat.id = ChatId::random(system_random());
    const auto committed = test_.await(test_.store().create(std::move(mine), in_test_time()));
    require(committed.has_value(), "the chat was not created");
  }

  std::optional<chat::Refusal> apply(const Input& input) override {
    const store::Decide decide = [&input](const chat::LockedChat& locked) { return model::decide(locked, input); };
    const auto committed = test_.await(test_.store().transit(id_, reads_of(input), decide, in_test_time()));
    if (committed) return std::nullopt;
    const auto* refusal = std::get_if<chat::Refusal>(&committed.error());
    if (refusal == nullptr) throw Violation(std::get<store::StoreError>(committed.error()).message);
    return *refusal;
  }

  // With a lease of no time every owner has lost its chats.
  RunnerId acquire() override {
    constexpr std::int64_t kAll = 1000;
    const auto owned =
        test_.await(test_.store().acquire(ReplicaId::random(system_random()), kAll, Milliseconds(0), in_test_time()));
    require(owned.has_value(), "nothing could be acquired");
    for (const store::Ownership& one : *owned) {
      if (one.chat == id_) return one.runner;
    }
    throw Violation("a chat with work was not acquired");
  }

  void release(RunnerId runner) override {
    const store::Ownership owned{id_, runner};
    const auto released = test_.await(test_.store().release(owned, in_test_time()));
    require(released.has_value() && *released, "the owner could not release its chat");
  }

  chat::MemoryChat read() override {
    auto turn = test_.await(test_.store().read_turn(id_, in_test_time()));
    auto queue = test_.await(test_.store().list_queue(id_, in_test_time()));
    require(turn.has_value() && turn->has_value() && queue.has_value(), "the chat cannot be read");
    chat::MemoryChat found = chat::MemoryChat(chat::NewChat());
    found.chat = std::move((*turn)->chat);
    found.chat.id = walk_id_;
    found.messages = std::move((*turn)->history);
    found.queue = std::move(*queue);
    // No read of the product returns soft-deleted rows.
    for (const auto& row : test_.data().sql("select id, revision from chat_messages where deleted and chat_id = '" +
                                            id_.to_string() + "' order by revision, id")) {
      chat::Message message;
      message.id = std::stoll(*row[0]);
      message.revision = std::stoll(*row[1]);
      message.deleted = true;
      found.deleted.push_back(std::move(message));
    }
    return found;
  }

 private:
  DatabaseWalk& test_;
  ChatId id_;
  ChatId walk_id_;
};

TEST_F(DatabaseWalk, HoldsTheSameAsThePureMachineAfterEveryStep) {
  const std::uint64_t first = number_from("ASSAY_WALK_SEED", 1);
  const std::uint64_t walks = number_from("ASSAY_WALKS", kWalks);
  const auto follow = [this](const Moves& moves) {
    DatabaseMirror mirror(*this);
    return run_walk(moves, WalkOptions{.mirror = &mirror, .broken = Broken::Nothing});
  };
  std::uint64_t steps = 0;
  for (std::uint64_t seed = first; seed < first + walks; ++seed) {
    const Moves moves = random_moves(seed, kMovesOfAWalk);
    const WalkResult result = follow(moves);
    steps += result.steps;
    if (!result.violation) continue;
    const Moves fewer = shrink(moves, [&](const Moves& some) { return follow(some).violation.has_value(); });
    FAIL() << "seed " << seed << ", " << follow(fewer).violation.value_or("") << "\nthe moves that it needs:\n"
           << describe(fewer);
  }
  fmt::print("{} walks from seed {}: {} transactions\n", walks, first, steps);
}

}  // namespace
}  // namespace assay::model
