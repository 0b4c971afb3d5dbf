#pragma once
// The raw JSON boundary: every document from outside crosses `Document::parse` before anything else looks at it.
//
// Strict reads exactly one RFC 8259 value and refuses duplicate keys (compared after unescaping), invalid UTF-8,
// unpaired surrogate escapes, U+0000 in strings and keys, and whatever exceeds the caps. Numbers keep their literal.
// Lenient is for the envelopes of other people's servers: the same grammar and caps, but duplicate keys are allowed
// (the last one counts), an unpaired surrogate escape and U+0000 read as U+FFFD, and number literals have no limit of their own.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/limits.h"

namespace assay::json {

enum class ErrorCode : std::uint8_t;  // json/error.h

// What was refused and the byte offset in the input where reading stopped. Never echoes input.
struct Error {
  ErrorCode code;
  std::size_t offset;
};

enum class Kind : std::uint8_t { Null, Boolean, Number, String, Array, Object };
enum class Dialect : std::uint8_t { Strict, Lenient };

class Document;
class Elements;
class Members;

// A cheap handle to one value of a Document. Lifetime: valid while the Document lives and is not moved from; so are the
// views it returns. The accessors of one kind require that kind.
class Value {
 public:
  [[nodiscard]] Kind kind() const;
  [[nodiscard]] bool is(Kind kind) const { return this->kind() == kind; }

  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::string_view number() const;  // the literal as written
  [[nodiscard]] std::string_view string() const;  // unescaped UTF-8
  [[nodiscard]] std::size_t size() const;         // elements of an array, members of an object
  [[nodiscard]] Elements elements() const;        // in document order
  [[nodiscard]] Members members() const;          // in document order
  [[nodiscard]] std::optional<Value> find(std::string_view key) const;

  // The exact bytes of this value in the input, and where they begin.
  [[nodiscard]] std::string_view raw() const;
  [[nodiscard]] std::size_t offset() const;
};

struct Member {
  std::string_view key;  // unescaped
  Value value;
};

class Document {
 public:
  // Owns `text` from here on.
  static Result<Document, Error> parse(std::string text, const Caps& caps, Dialect dialect = Dialect::Strict);
  [[nodiscard]] Value root() const;
  [[nodiscard]] std::string_view text() const;
};

}  // namespace assay::json
