#pragma once
// The text of a notification: hints as `CHAT-ID:SNAPSHOT` or `CHAT-ID:SNAPSHOT!` (needs an owner), separated by
// blanks. Ids and versions only, so that a payload stays far below PostgreSQL's limit of 8 000 bytes.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/notifications.h"

namespace assay::store {

inline constexpr std::size_t kPayloadBytesMax = 6000;

// As many payloads as the hints need.
std::vector<std::string> payloads_of(std::span<const ChatHint> hints);
// What is no hint is left out: anybody with access to the database can notify.
std::vector<ChatHint> hints_in(std::string_view payload);

}  // namespace assay::store
