#pragma once
// The raw JSON boundary: every document from outside crosses `Document::parse` before anything else looks at it.
//
// Strict reads exactly one RFC 8259 value and refuses duplicate keys (compared after unescaping), invalid UTF-8,
// unpaired surrogate escapes, U+0000 in strings and keys, and whatever exceeds the caps. Numbers keep their literal.
// Lenient is for the envelopes of other people's servers: the same grammar and caps, but duplicate keys are allowed
// (members() lists each, find() takes the last), an unpaired surrogate escape and U+0000 read as U+FFFD, and number
// literals have no limit of their own.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/result.h"
#include "json/limits.h"
#include "json/tape.h"

namespace assay::json {

enum class ErrorCode : std::uint8_t;  // json/error.h

// What was refused and the byte offset in the input where reading stopped. Never echoes input.
struct Error {
  ErrorCode code;
  std::size_t offset;

  friend bool operator==(const Error&, const Error&) = default;
};

enum class Dialect : std::uint8_t { Strict, Lenient };

class Elements;
class Members;

// A cheap handle to one value of a Document. Lifetime: valid while the Document lives, also after it was moved; so are
// the views it returns, and kPaddingBytes can be read behind their ends. The accessors of one kind require that kind.
class Value {
 public:
  // Refers to nothing; only assignment is allowed.
  Value() = default;
  Value(const Tape& tape, const Node* node) : tape_(&tape), node_(node) {}

  [[nodiscard]] Kind kind() const { return node_->kind(); }
  [[nodiscard]] bool is(Kind kind) const { return this->kind() == kind; }

  [[nodiscard]] bool boolean() const {
    require(Kind::Boolean);
    return node_->flag();
  }
  // The literal as written.
  [[nodiscard]] std::string_view number() const {
    require(Kind::Number);
    return {tape_->text.data() + node_->offset, node_->size()};
  }
  // Unescaped UTF-8.
  [[nodiscard]] std::string_view string() const {
    require(Kind::String);
    return content();
  }
  // Elements of an array, members of an object.
  [[nodiscard]] std::size_t size() const {
    ASSAY_CHECK(kind() >= Kind::Array, "only arrays and objects have a size");
    return node_->size();
  }
  [[nodiscard]] Elements elements() const;  // in document order
  [[nodiscard]] Members members() const;    // in document order
  // Costs a walk over the members.
  [[nodiscard]] std::optional<Value> find(std::string_view key) const;

  // The exact bytes of this value in the input, and where they begin.
  [[nodiscard]] std::string_view raw() const;
  [[nodiscard]] std::size_t offset() const { return node_->offset; }

  // Values within, itself and the keys of objects counted.
  [[nodiscard]] std::size_t node_count() const { return node_->step; }

  // The same value of the same document, not an equal one (json/equality.h).
  [[nodiscard]] bool same_as(const Value& other) const { return node_ == other.node_; }

 private:
  friend class Elements;
  friend class Members;

  void require(Kind kind) const { ASSAY_CHECK(this->kind() == kind, "the value is of another kind"); }
  [[nodiscard]] std::string_view content() const {
    const char* data = node_->flag() ? tape_->unescaped.get() + node_->extra : tape_->text.data() + node_->offset + 1;
    return {data, node_->size()};
  }

  const Tape* tape_ = nullptr;
  const Node* node_ = nullptr;
};

struct Member {
  std::string_view key;  // unescaped
  Value value;
};

// The elements of an array as a forward range. Lifetime: as Value.
class Elements {
 public:
  class Iterator {
   public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;

    Iterator() = default;
    Iterator(const Tape* tape, const Node* node) : tape_(tape), node_(node) {}
    Value operator*() const { return {*tape_, node_}; }
    Iterator& operator++() {
      node_ += node_->step;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& left, const Iterator& right) { return left.node_ == right.node_; }

   private:
    const Tape* tape_ = nullptr;
    const Node* node_ = nullptr;
  };

  Elements(const Tape* tape, const Node* array) : tape_(tape), array_(array) {}
  [[nodiscard]] Iterator begin() const { return {tape_, array_ + 1}; }
  [[nodiscard]] Iterator end() const { return {tape_, array_ + array_->step}; }
  [[nodiscard]] std::size_t size() const { return array_->size(); }

 private:
  const Tape* tape_;
  const Node* array_;
};

// The members of an object as a forward range. Lifetime: as Value.
class Members {
 public:
  class Iterator {
   public:
    using value_type = Member;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;

    Iterator() = default;
    Iterator(const Tape* tape, const Node* key) : tape_(tape), key_(key) {}
    Member operator*() const { return {Value(*tape_, key_).content(), Value(*tape_, key_ + 1)}; }
    Iterator& operator++() {
      key_ += 1 + key_[1].step;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& left, const Iterator& right) { return left.key_ == right.key_; }

   private:
    const Tape* tape_ = nullptr;
    const Node* key_ = nullptr;
  };

  Members(const Tape* tape, const Node* object) : tape_(tape), object_(object) {}
  [[nodiscard]] Iterator begin() const { return {tape_, object_ + 1}; }
  [[nodiscard]] Iterator end() const { return {tape_, object_ + object_->step}; }
  [[nodiscard]] std::size_t size() const { return object_->size(); }

 private:
  const Tape* tape_;
  const Node* object_;
};

inline Elements Value::elements() const {
  require(Kind::Array);
  return {tape_, node_};
}

inline Members Value::members() const {
  require(Kind::Object);
  return {tape_, node_};
}

class Document {
 public:
  // Owns `text` from here on. A text with kPaddingBytes of spare capacity is not copied.
  static Result<Document, Error> parse(std::string text, const Caps& caps, Dialect dialect = Dialect::Strict);
  [[nodiscard]] Value root() const { return {*tape_, tape_->nodes.get()}; }
  [[nodiscard]] std::string_view text() const { return tape_->text; }

 private:
  explicit Document(std::unique_ptr<Tape> tape) : tape_(std::move(tape)) {}

  std::unique_ptr<Tape> tape_;
};

// Reads one document after another into buffers that it keeps, for loops over many small documents.
class Reader {
 public:
  // Lifetime: the value and its views are valid until the next read and while the Reader lives.
  Result<Value, Error> read(std::string_view text, const Caps& caps, Dialect dialect = Dialect::Strict);
  // The same without a copy: the text must outlive the value. Requires: a NUL follows the text, and kPaddingBytes
  // behind it can be read.
  Result<Value, Error> read_in_place(std::string_view text, const Caps& caps, Dialect dialect = Dialect::Strict);

 private:
  std::unique_ptr<Tape> tape_ = std::make_unique<Tape>();
};

}  // namespace assay::json
