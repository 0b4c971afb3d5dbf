// The reads of ChatStore.
#include <limits>
#include <utility>

#include "base/log.h"
#include "chat/rows.h"
#include "store/chat_store.h"
#include "store/pool.h"
#include "store/query.h"
#include "store/rows.h"
#include "store/statements.h"

namespace assay::store {

net::Task<Result<std::optional<chat::Chat>, StoreError>> ChatStore::find_chat(ChatId chat, Deadline deadline) {
  Params params;
  params.uuid(chat);
  auto rows = co_await query(pool_, statements::kFindChat, std::move(params), deadline);
  if (!rows) co_return fail(std::move(rows).error());
  if (rows->size() == 0) co_return std::nullopt;
  auto found = read_chat(*rows, 0);
  if (!found) co_return fail(std::move(found).error());
  co_return std::move(*found);
}

net::Task<Result<std::vector<chat::Chat>, StoreError>> ChatStore::list_chats(ChatListQuery list, Deadline deadline) {
  const std::map<std::string, std::string> labels(list.labels.begin(), list.labels.end());
  Params params;
  params.uuid(list.owner).boolean(list.archived).json(labels_json(labels)).text(list.title_contains);
  params.uuid(list.after_id).integer(list.limit).integer(list.offset).boolean(list.has_unread);
  auto rows = co_await query(pool_, statements::kListChats, std::move(params), deadline);
  if (!rows) co_return fail(std::move(rows).error());
  std::vector<chat::Chat> chats;
  for (std::size_t row = 0; row < rows->size(); ++row) {
    auto chat = read_chat(*rows, row);
    if (chat)
      chats.push_back(std::move(*chat));
    else
      log::error("a chat is left out of a list", {{"why", chat.error().message}});
  }
  co_return chats;
}

net::Task<Result<MessagePage, StoreError>> ChatStore::list_messages(ChatId chat, std::optional<std::int64_t> before_id,
                                                                    std::optional<std::int64_t> after_id,
                                                                    std::int64_t limit, Deadline deadline) {
  const bool ascending = after_id && !before_id;
  const Statement& statement = ascending ? statements::kMessagesAscending : statements::kMessagesDescending;
  Params params;
  params.uuid(chat).integer(before_id.value_or(std::numeric_limits<std::int64_t>::max()));
  params.integer(after_id.value_or(0)).integer(limit + 1);
  auto rows = co_await query(pool_, statement, std::move(params), deadline);
  if (!rows) co_return fail(std::move(rows).error());
  auto messages = read_messages(*rows, chat);
  if (!messages) co_return fail(std::move(messages).error());
  MessagePage page;
  page.messages = std::move(*messages);
  page.has_more = page.messages.size() > static_cast<std::size_t>(limit);
  if (page.has_more) page.messages.pop_back();
  co_return page;
}

net::Task<Result<std::vector<chat::QueuedMessage>, StoreError>> ChatStore::list_queue(ChatId chat, Deadline deadline) {
  Params params;
  params.uuid(chat);
  auto rows = co_await query(pool_, statements::kQueue, std::move(params), deadline);
  if (!rows) co_return fail(std::move(rows).error());
  co_return read_queue(*rows, chat);
}

// A snapshot shows a chat's row together with exactly the rows that its versions count. It takes no row lock: the read
// neither waits for a transition nor delays one, and writes nothing.
net::Task<Result<std::optional<SyncRead>, StoreError>> ChatStore::read_sync(ChatId chat, SyncCursor cursor,
                                                                            Deadline deadline) {
  Batch batch;
  batch.add(statements::kBeginSnapshot);
  batch.add(statements::kFindChat, Params().uuid(chat));
  if (cursor.snapshot_version == 0) {
    batch.add(statements::kFirstSyncMessages, Params().uuid(chat).integer(cursor.after_message_id));
  } else {
    batch.add(statements::kSyncMessages,
              Params().uuid(chat).integer(cursor.snapshot_version).integer(cursor.after_message_id));
  }
  batch.add(statements::kSyncQueue, Params().uuid(chat).integer(cursor.queue_version));
  batch.add(statements::kPendingStep, Params().uuid(chat));
  batch.add(statements::kCommit);
  auto answers = co_await query(pool_, std::move(batch), deadline);
  if (!answers) co_return fail(std::move(answers).error());
  if ((*answers)[1].size() == 0) co_return std::nullopt;

  SyncRead sync;
  auto row = read_chat((*answers)[1], 0);
  if (!row) co_return fail(std::move(row).error());
  sync.chat = std::move(*row);
  auto messages = read_messages((*answers)[2], chat);
  if (!messages) co_return fail(std::move(messages).error());
  for (chat::Message& message : *messages) {
    if (message.deleted)
      sync.deleted.push_back(message.id);
    else
      sync.messages.push_back(std::move(message));
  }
  if (sync.chat.queue_version != cursor.queue_version) {
    auto queue = read_queue((*answers)[3], chat);
    if (!queue) co_return fail(std::move(queue).error());
    sync.queue = std::move(*queue);
  }
  auto step = read_messages((*answers)[4], chat);
  if (!step) co_return fail(std::move(step).error());
  sync.pending_calls = chat::outstanding_calls(*step);
  co_return std::move(sync);
}

net::Task<Result<std::optional<TurnRead>, StoreError>> ChatStore::read_turn(ChatId chat, Deadline deadline) {
  Batch batch;
  batch.add(statements::kBeginSnapshot);
  batch.add(statements::kFindChat, Params().uuid(chat));
  batch.add(statements::kHistory, Params().uuid(chat));
  batch.add(statements::kCommit);
  auto answers = co_await query(pool_, std::move(batch), deadline);
  if (!answers) co_return fail(std::move(answers).error());
  if ((*answers)[1].size() == 0) co_return std::nullopt;

  TurnRead turn;
  auto row = read_chat((*answers)[1], 0);
  if (!row) co_return fail(std::move(row).error());
  turn.chat = std::move(*row);
  turn.now = (*answers)[1].instant(0, kFoundNowColumn);
  auto history = read_messages((*answers)[2], chat);
  if (!history) co_return fail(std::move(history).error());
  turn.history = std::move(*history);
  co_return std::move(turn);
}

}  // namespace assay::store
