#pragma once
// From rows to the plain values of chat/ and back to parameters.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/chat.h"
#include "chat/effects.h"
#include "chat/message.h"
#include "store/connection.h"
#include "store/error.h"

namespace assay::store {

// Columns of a row that follow those of a chat in kLockChat's answer.
inline constexpr int kLastQueuedMessageColumn = 31;
inline constexpr int kNowColumn = 32;
// In kFindChat's answer.
inline constexpr int kFoundNowColumn = kLastQueuedMessageColumn;

// Each fails with Corrupt where the row does not decode.
Result<chat::Chat, StoreError> read_chat(const Rows& rows, std::size_t row);
Result<chat::Message, StoreError> read_message(const Rows& rows, std::size_t row, ChatId chat);
Result<chat::QueuedMessage, StoreError> read_queued_message(const Rows& rows, std::size_t row, ChatId chat);

Result<std::vector<chat::Message>, StoreError> read_messages(const Rows& rows, ChatId chat);
Result<std::vector<chat::QueuedMessage>, StoreError> read_queue(const Rows& rows, ChatId chat);

// The JSON of jsonb parameters.
std::string messages_json(std::span<const chat::NewMessage> messages, std::int64_t first_id);
std::string queued_messages_json(std::span<const chat::EnqueueMessage> messages, std::int64_t first_id);
std::string labels_json(const std::map<std::string, std::string>& labels);
std::string error_json(const chat::ChatError& error);
std::string retry_state_json(const chat::RetryState& state);

}  // namespace assay::store
