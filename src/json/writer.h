#pragma once
// Builds JSON text. The caller states the structure; commas, quotes and escapes are the writer's.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::json {

class Writer {
 public:
  Writer& begin_object();
  Writer& end_object();
  Writer& begin_array();
  Writer& end_array();
  Writer& key(std::string_view name);
  // Bytes that are no valid UTF-8 are written as U+FFFD, and so is U+0000, which no strict reader of ours accepts and
  // PostgreSQL cannot store. The same holds for keys.
  Writer& string(std::string_view text);
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Writer& number(Integer value) {
    if constexpr (std::signed_integral<Integer>)
      return signed_number(value);
    else
      return unsigned_number(value);
  }
  Writer& boolean(bool value);
  Writer& null();
  // Requires: `json` is one JSON value that some boundary has already checked.
  Writer& raw(std::string_view json);

  // Shorthands for members: `w.member("id", 7)`.
  Writer& member(std::string_view name, std::string_view text) { return key(name).string(text); }
  Writer& member(std::string_view name, const char* text) { return key(name).string(text); }
  Writer& member(std::string_view name, bool value) { return key(name).boolean(value); }
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Writer& member(std::string_view name, Integer value) {
    return key(name).number(value);
  }
  Writer& raw_member(std::string_view name, std::string_view json) { return key(name).raw(json); }

  // Requires: every container is closed and one value was written. Leaves the writer empty.
  [[nodiscard]] std::string take();

 private:
  Writer& signed_number(std::int64_t value);
  Writer& unsigned_number(std::uint64_t value);
  Writer& begin(char bracket);
  Writer& end(char bracket);
  void separate();

  std::string text_;
  std::size_t depth_ = 0;
  bool needs_comma_ = false;
};

}  // namespace assay::json
