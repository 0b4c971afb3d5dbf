#pragma once
// The runner of one owned chat: reads what is committed, asks chat/ for the next step, carries it out, commits it, and
// begins again, until the chat has no work or is not its own any more. It keeps no state that a successor would need.
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "chat/transitions.h"
#include "chat/turn.h"
#include "net/loop.h"
#include "net/stop.h"
#include "net/task.h"
#include "schema/schema.h"
#include "store/chat_store.h"
#include "store/notifications.h"
#include "worker/generation.h"
#include "worker/settings.h"
#include "worker/turn_counters.h"

namespace assay::worker {

// What the whole worker shares. Lifetime: outlives every runner.
struct Workplace {
  net::Loop& loop;
  store::ChatStore& chats;
  store::Notifications& notifications;
  live::Episodes& episodes;
  providers::ModelClient& models;
  const Catalogue& catalogue;
  const Clock& clock;
  Random& random;
  Settings settings;
  TurnCounters& counters;
};

class Runner {
 public:
  Runner(Workplace& place, store::Ownership owned, net::StopToken stop);

  // Returns when the chat is finished with, lost or to be released; it was released where it was still this runner's.
  net::Task<> run();
  // After run() has thrown: ends the turn with an internal error and a receipt, so that it harms no successor.
  net::Task<> give_up();

 private:
  enum class Next { GoOn, Leave };

  net::Task<Next> take_step();
  net::Task<Next> carry_out(store::TurnRead turn);
  net::Task<Next> generate(const store::TurnRead& turn, const chat::TurnView& view, chat::Generate decision,
                           const ModelRoute& route, Purpose purpose);
  net::Task<Next> ask_client(chat::Fence fence, std::vector<chat::NewMessage> rows);
  net::Task<Next> await_client(const store::TurnRead& turn);
  net::Task<Next> settle_failure(const chat::Chat& chat, const chat::Generate& decision, providers::Failure failure);
  net::Task<Next> finish_interruption(const store::TurnRead& turn);
  net::Task<Next> finish(chat::Fence fence, std::vector<chat::NewMessage> rows, chat::EndTurn end);
  net::Task<Next> finish(chat::Fence fence, std::vector<chat::NewMessage> rows, chat::FailTurn failure);

  // Applies a transition, trying again while the database is away. Nothing where it did not happen or nobody knows:
  // the next step then decides from what is committed.
  template <class Input>
  net::Task<std::optional<store::Committed>> apply(Input input);

  net::Task<> release();
  // What happens after a write: this runner's work is over where the chat has left its hands.
  [[nodiscard]] Next after(const std::optional<store::Committed>& committed) const;
  void note_end(const chat::Chat& chat, const std::optional<structured::OutcomePart>& receipt);
  [[nodiscard]] AttemptTools attempt_tools();
  [[nodiscard]] Deadline store_deadline() const;

  Workplace& place_;
  store::Ownership owned_;
  net::StopToken stop_;
  store::Subscription subscription_;
  std::optional<schema::Schema> compiled_;      // the governing request's, from an earlier step
  std::optional<SteadyTime> first_attempt_at_;  // of the step under way
  // What clients have seen of an answer that was not committed, for an interruption's row; of no use once the history
  // that it answers has changed, be it by a commit whose answer was lost.
  std::string partial_text_;
  std::int64_t partial_of_ = 0;              // history_version
  std::optional<live::EpisodeKey> episode_;  // of the last attempt
};

}  // namespace assay::worker
