#pragma once
// Puts a text back together that a server sent as JSON strings, one per delta.
//
// Reading each delta's string on its own would lose what the boundary of tool arguments must see: a server may cut a
// surrogate pair in two, and a NUL or half a pair must reach that boundary (which refuses it) instead of turning into
// U+FFFD on the way.
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::providers {

enum class Unencodable {
  Replace,  // NUL and a lone half of a pair become U+FFFD: for texts that are shown and stored
  Keep,     // NUL stays, a lone half becomes its three bytes, which are no valid UTF-8: for bytes that are judged later
};

class StringJoiner {
 public:
  explicit StringJoiner(Unencodable policy) : policy_(policy) {}

  // The text that this piece adds; half of a pair at its end waits for the next piece.
  // Requires: `literal` is a JSON string with its quotes (json::Value::raw) that the lenient dialect accepted.
  [[nodiscard]] std::string append(std::string_view literal);
  // What still waits. Nothing more is appended after this.
  [[nodiscard]] std::string finish();

 private:
  void append_code_unit(std::uint32_t unit, std::string& text);
  void flush_half(std::string& text);

  Unencodable policy_;
  std::uint32_t high_half_ = 0;  // 0: none
};

}  // namespace assay::providers
