#pragma once
// What makes a write happen once however often a client sends it: the key that the client chose, and the answer that
// is kept with what was written, as long as the chat.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/uuid.h"

namespace assay::store {

struct Committed;

// One use of a key: by whom, on which route, and with which request. Keys of two users, two routes or two chats are
// strangers to each other.
struct Submission {
  UserId user;
  std::string route;   // `create`, `send`, `edit`
  std::string key;     // as the client sent it; at most kSubmissionKeyBytesMax printable ASCII characters
  std::string digest;  // of the request: 64 hexadecimal digits; another one under the same key is another request
};
inline constexpr std::size_t kSubmissionKeyBytesMax = 255;

// SHA-256 over what distinguishes one request from another, in hexadecimal digits.
[[nodiscard]] std::string request_digest(std::string_view target, std::string_view body);

// The id of the chat that a submission of `create` makes: the same one for the same user, route and key, so that the
// chat's own primary key lets it be made only once. UUID version 8 of a SHA-256.
[[nodiscard]] ChatId chat_id_of(const Submission& submission);

// The answer that was given when the submission was carried out.
struct KeptAnswer {
  std::string digest;  // of the request that was carried out
  int status = 0;
  std::string body;
};

// A submission and how its answer is put: `render` runs while the chat's row is locked and must be quick.
struct Once {
  Submission submission;
  int status = 0;
  std::function<std::string(const Committed&)> render;
};

}  // namespace assay::store
