#pragma once
// The books of a database: what was accepted, what was answered, and that every effect stands there once.
#include <set>
#include <string>
#include <vector>

namespace assay::tests {

struct Books {
  std::size_t chats = 0;
  std::size_t requests = 0;  // structured ones
  std::size_t receipts = 0;
  std::vector<std::string> faults;  // empty: they balance
};

// What a client was told.
struct Accepted {
  std::set<std::string> requests;  // request ids
  std::set<std::string> texts;     // of messages, each unique
};

// Whether every chat is at rest with an empty queue. False too while the database does not answer.
[[nodiscard]] bool is_at_rest(const std::string& database_url);

// The chats that are not at rest, for a failure's text.
[[nodiscard]] std::string unrest(const std::string& database_url);
// Chats whose turn failed while messages wait.
[[nodiscard]] std::vector<std::string> stuck_chats(const std::string& database_url);

// Requires: at rest.
[[nodiscard]] Books balance(const std::string& database_url, const Accepted& accepted);

}  // namespace assay::tests
