#pragma once
// JSON pointers (RFC 6901).
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"

namespace assay::json {

// A pointer that grows and shrinks with a walk.
class Pointer {
 public:
  void push(std::string_view token);
  void push(std::size_t index);
  // Takes the last token away. Requires: there is one.
  void pop();

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::size_t depth() const { return begins_.size(); }

 private:
  std::string text_;
  std::vector<std::size_t> begins_;  // of each token's slash
};

// The token with ~ and / escaped (section 3).
[[nodiscard]] std::string escape_token(std::string_view token);

// The value that `pointer` names below `root`. Nothing where there is none, or the pointer is malformed.
[[nodiscard]] std::optional<Value> resolve(const Value& root, std::string_view pointer);

// The pointer of the innermost element, or member with its key, in which the byte at `offset` lies: tells where the
// fault of a refused document is. Exact for well-formed text up to there, a best effort otherwise.
[[nodiscard]] std::string locate(std::string_view text, std::size_t offset);

}  // namespace assay::json
