#pragma once
// What holds of a chat whatever has happened to it, and across each single step. Shared by the walks and the search.
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "chat/memory_chat.h"

namespace assay::model {

// A broken invariant; the text says which.
class Violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void require(bool holds, const std::string& otherwise) {
  if (!holds) throw Violation(otherwise);
}

// A schema that admits whole numbers; a success of these models is always kValidValue.
inline constexpr const char* kSchemaText = R"({"type":"integer"})";
inline constexpr const char* kValidValue = "7";

// `accepted` are the requests that the chat owes or has owed a receipt. Throws Violation.
void check_state(const chat::MemoryChat& chat, std::span<const RequestId> accepted);

// What check_step needs of the state before.
struct Mark {
  chat::Chat chat;
  std::vector<std::int64_t> messages;
  std::size_t deleted = 0;
  std::vector<std::int64_t> queue;
};
[[nodiscard]] Mark mark_of(const chat::MemoryChat& chat);

// Between two states of the same chat, one transaction apart. Throws Violation.
void check_step(const Mark& before, const chat::MemoryChat& after);

// Everything that PostgreSQL keeps, as text: equal exactly where the states are the same. Times are left out.
[[nodiscard]] std::string describe(const chat::MemoryChat& chat);

}  // namespace assay::model
