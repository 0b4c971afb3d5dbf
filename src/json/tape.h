#pragma once
// The flat form of a parsed document, behind Value's handles: nodes in document order, 16 bytes each, keys before
// their values. Only this room looks inside.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace assay::json {

enum class Kind : std::uint8_t { Null, Boolean, Number, String, Array, Object };

struct Node {
  static constexpr std::uint32_t kKindBits = 7;
  static constexpr std::uint32_t kFlag = 8;  // a boolean that is true; a string whose content was unescaped
  static constexpr std::uint32_t kSizeShift = 4;

  std::uint32_t offset;  // of the value's first byte in the text
  std::uint32_t tag;  // Kind, flag; above them: bytes of a literal or of the unescaped content, or elements, or members
  std::uint32_t step;   // nodes from this value to the next one: 1 but for containers
  std::uint32_t extra;  // container: bytes in the text; flagged string: where its content begins in Tape::unescaped

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(tag & kKindBits); }
  [[nodiscard]] bool flag() const { return (tag & kFlag) != 0; }
  [[nodiscard]] std::size_t size() const { return tag >> kSizeShift; }
};
static_assert(sizeof(Node) == 16);

struct Tape {
  std::string_view text;
  std::string owned;               // the text of a Document
  std::unique_ptr<char[]> copied;  // the text of a Reader
  std::size_t copied_capacity = 0;
  std::unique_ptr<Node[]> nodes;
  std::size_t node_capacity = 0;
  std::unique_ptr<char[]> unescaped;
  std::size_t unescaped_capacity = 0;
  bool keys_are_unique = false;
};

}  // namespace assay::json
