#pragma once
// One chat in memory, for tests: carries effects out as the store does, content by way of its stored form, versions as
// the triggers keep them.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "chat/content.h"
#include "chat/state.h"
#include "chat/transitions.h"

namespace assay::chat {

class MemoryChat {
 public:
  explicit MemoryChat(NewChat created) : chat(std::move(created.chat)) {
    ++chat.snapshot_version;
    for (const NewMessage& row : created.messages) insert(row);
  }

  // Ownership changes the snapshot and nothing else.
  void acquire(RunnerId runner) {
    ++chat.snapshot_version;
    chat.runner_id = runner;
  }
  void release() {
    ++chat.snapshot_version;
    chat.runner_id.reset();
  }

  template <class Input>
  std::optional<Refusal> apply(const Input& input) {
    Decision decision = decide(locked(reads_of(input)), input);
    if (!decision) return std::move(decision.error());
    carry_out(*decision);
    return std::nullopt;
  }

  [[nodiscard]] LockedChat locked(const ReadPlan& reads) const {
    LockedChat view;
    view.chat = chat;
    view.now = now;
    view.chat.queue_length = static_cast<std::int64_t>(queue.size());
    if (reads.queue) view.queue = queue;
    if (reads.history) {
      view.history = messages;
    } else if (reads.open_step || reads.suffix_of) {
      view.history.assign(open_step(reads.suffix_of), messages.end());
    }
    for (const RequestId& id : closed_requests()) {
      const bool is_asked_for = std::ranges::find(reads.outcomes_of, id) != reads.outcomes_of.end();
      if (reads.all_outcomes || is_asked_for) view.closed_requests.push_back(id);
    }
    return view;
  }

  [[nodiscard]] State state() const { return state_of(chat); }

  [[nodiscard]] std::size_t count_receipts(RequestId id) const {
    return count_receipts(messages, id) + count_receipts(deleted, id);
  }

  // Deleted or not.
  [[nodiscard]] std::optional<structured::OutcomePart> receipt(RequestId id) const {
    for (const std::vector<Message>* rows : {&messages, &deleted}) {
      for (const Message& message : *rows) {
        for (const Part& part : message.content) {
          const auto* outcome = std::get_if<structured::OutcomePart>(&part);
          if (outcome != nullptr && outcome->request_id == id) return *outcome;
        }
      }
    }
    return std::nullopt;
  }

  void carry_out(const Effects& effects) {
    ++chat.snapshot_version;
    const std::optional<RetryState> retry_before = chat.retry_state;
    for (const std::int64_t id : effects.delete_messages) soft_delete(id);
    for (const std::int64_t id : effects.dequeue) {
      std::erase_if(queue, [id](const QueuedMessage& message) { return message.id == id; });
    }
    for (const NewMessage& row : effects.insert) insert(row);
    for (const EnqueueMessage& message : effects.enqueue) enqueue(message);
    if (!effects.queue_order.empty()) reorder(effects.queue_order);
    if (!effects.dequeue.empty() || !effects.enqueue.empty()) chat.queue_version = chat.snapshot_version;
    chat.queue_length = static_cast<std::int64_t>(queue.size());
    if (effects.status) chat.status = *effects.status;
    if (effects.archived) chat.archived = *effects.archived;
    if (effects.last_error) chat.last_error = *effects.last_error;
    if (effects.retry_state) chat.retry_state = *effects.retry_state;
    if (effects.generation_attempt && chat.generation_attempt != *effects.generation_attempt) {
      chat.generation_attempt = *effects.generation_attempt;
      chat.retry_state.reset();
    }
    if (chat.retry_state != retry_before) chat.retry_state_version = chat.snapshot_version;
    if (effects.compaction_due) chat.compaction_due = *effects.compaction_due;
    if (effects.clear_requires_action_deadline) chat.requires_action_deadline.reset();
    if (effects.requires_action_after_ms) {
      chat.requires_action_deadline = now + Milliseconds(*effects.requires_action_after_ms);
    }
    if (effects.release_ownership) chat.runner_id.reset();
    if (effects.mark_read) chat.last_read_message_id = chat.last_message_id;
    if (effects.title) chat.title = *effects.title;
    if (effects.labels) chat.labels = *effects.labels;
    if (effects.plan_mode) chat.plan_mode = *effects.plan_mode;
    if (effects.last_model_config) chat.last_model_config = *effects.last_model_config;
    if (effects.reasoning_effort) chat.reasoning_effort = *effects.reasoning_effort;
  }

  Chat chat;
  WallTime now{};                 // the database's clock
  std::vector<Message> messages;  // undeleted
  std::vector<Message> deleted;   // in order of deletion
  std::vector<QueuedMessage> queue;

 private:
  // The last step before `before`, or the first row.
  [[nodiscard]] std::vector<Message>::const_iterator open_step(std::optional<std::int64_t> before) const {
    for (auto at = messages.end(); at != messages.begin(); --at) {
      const Message& message = *(at - 1);
      if (before && message.id >= *before) continue;
      if (message.role == Role::Assistant && message.visibility == Visibility::Both) return at - 1;
    }
    return messages.begin();
  }

  [[nodiscard]] std::vector<RequestId> closed_requests() const {
    std::vector<RequestId> closed;
    for (const std::vector<Message>* rows : {&messages, &deleted}) {
      for (const Message& message : *rows) {
        for (const Part& part : message.content) {
          if (const auto* outcome = std::get_if<structured::OutcomePart>(&part)) closed.push_back(outcome->request_id);
        }
      }
    }
    return closed;
  }

  static std::size_t count_receipts(const std::vector<Message>& rows, RequestId id) {
    std::size_t count = 0;
    for (const Message& message : rows) {
      for (const Part& part : message.content) {
        const auto* outcome = std::get_if<structured::OutcomePart>(&part);
        if (outcome != nullptr && outcome->request_id == id) ++count;
      }
    }
    return count;
  }

  void change_history() {
    chat.history_version = chat.snapshot_version;
    chat.generation_attempt = 0;
    chat.retry_state.reset();
  }

  void soft_delete(std::int64_t id) {
    const auto found =
        std::find_if(messages.begin(), messages.end(), [id](const Message& row) { return row.id == id; });
    if (found == messages.end()) return;
    deleted.push_back(std::move(*found));
    deleted.back().deleted = true;
    deleted.back().revision = chat.snapshot_version;
    messages.erase(found);
    change_history();
  }

  void reorder(const std::vector<std::int64_t>& order) {
    const auto place_of = [&order](const QueuedMessage& message) {
      return std::find(order.begin(), order.end(), message.id) - order.begin();
    };
    const auto goes_before = [&](const QueuedMessage& a, const QueuedMessage& b) { return place_of(a) < place_of(b); };
    if (std::is_sorted(queue.begin(), queue.end(), goes_before)) return;
    std::sort(queue.begin(), queue.end(), goes_before);
    chat.queue_version = chat.snapshot_version;
  }

  void insert(const NewMessage& row) {
    Message message;
    message.id = ++chat.last_message_id;
    message.chat_id = chat.id;
    message.role = row.role;
    message.visibility = row.visibility;
    message.content = stored(row.content);
    message.created_by = row.created_by;
    message.model_config = row.model_config;
    message.reasoning_effort = row.reasoning_effort;
    message.usage = row.usage;
    message.compressed = row.compressed;
    message.revision = chat.snapshot_version;
    const bool is_receipt = row.role == Role::Assistant && row.visibility == Visibility::User &&
                            std::any_of(row.content.begin(), row.content.end(), [](const Part& part) {
                              return std::holds_alternative<structured::OutcomePart>(part);
                            });
    messages.push_back(std::move(message));
    if (!is_receipt) change_history();
  }

  void enqueue(const EnqueueMessage& message) {
    QueuedMessage queued;
    queued.id = ++last_queue_id_;
    queued.chat_id = chat.id;
    queued.position = queued.id;
    queued.content = stored(message.content);
    queued.model_config = message.model_config;
    queued.reasoning_effort = message.reasoning_effort;
    queued.created_by = message.created_by;
    queue.push_back(std::move(queued));
  }

  static Content stored(const Content& content) {
    auto decoded = decode_content(encode_content(content));
    ASSAY_CHECK(decoded.has_value(), "content that the server wrote must be readable");
    return std::move(*decoded);
  }

  std::int64_t last_queue_id_ = 0;
};

}  // namespace assay::chat
