#include "json/equality.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "json/decimal.h"
#include "json/hash.h"

namespace assay::json {
namespace {

struct Pair {
  Value left;
  Value right;
};

bool equal_numbers(std::string_view left, std::string_view right) {
  if (left == right) return true;
  const auto left_decimal = Decimal::parse(left);
  const auto right_decimal = Decimal::parse(right);
  return left_decimal && right_decimal && *left_decimal == *right_decimal;
}

// Whether the two may be equal; what their elements and members say is left in `open`.
class Comparison {
 public:
  bool run(const Value& left, const Value& right) {
    if (!compare(left, right)) return false;
    while (!open_.empty()) {
      const Pair pair = open_.back();
      open_.pop_back();
      if (!(pair.left.is(Kind::Array) ? compare_elements(pair) : compare_members(pair))) return false;
    }
    return true;
  }

 private:
  // Decides scalars, and notes containers of equal size for later.
  bool compare(const Value& left, const Value& right) {
    if (left.kind() != right.kind()) return false;
    switch (left.kind()) {
      case Kind::Null:
        return true;
      case Kind::Boolean:
        return left.boolean() == right.boolean();
      case Kind::Number:
        return equal_numbers(left.number(), right.number());
      case Kind::String:
        return left.string() == right.string();
      case Kind::Array:
      case Kind::Object:
        break;
    }
    if (left.size() != right.size()) return false;
    if (left.size() != 0) open_.push_back({left, right});
    return true;
  }

  bool compare_elements(const Pair& pair) {
    auto right = pair.right.elements().begin();
    return std::ranges::all_of(pair.left.elements(), [&](const Value& left) { return compare(left, *right++); });
  }

  bool compare_members(const Pair& pair) {
    auto right = pair.right.members().begin();
    auto left = pair.left.members().begin();
    const auto end = pair.left.members().end();
    for (; left != end; ++left, ++right) {
      if ((*left).key != (*right).key) return compare_sorted(left, right, pair);
      if (!compare((*left).value, (*right).value)) return false;
    }
    return true;
  }

  bool compare_sorted(Members::Iterator left, Members::Iterator right, const Pair& pair) {
    sort_rest(left, pair.left.members().end(), left_);
    sort_rest(right, pair.right.members().end(), right_);
    for (std::size_t i = 0; i < left_.size(); ++i) {
      if (left_[i].key != right_[i].key || !compare(left_[i].value, right_[i].value)) return false;
    }
    return true;
  }

  static void sort_rest(Members::Iterator from, Members::Iterator end, std::vector<Member>& sorted) {
    sorted.clear();
    for (; from != end; ++from) sorted.push_back(*from);
    std::ranges::sort(sorted, [](const Member& left, const Member& right) {
      const int compared = left.key.compare(right.key);
      return compared != 0 ? compared < 0 : left.value.offset() < right.value.offset();
    });
  }

  std::vector<Pair> open_;
  std::vector<Member> left_;
  std::vector<Member> right_;
};

// Tags that keep values of different kinds apart.
std::uint64_t hash_scalar(const Value& value, std::uint64_t seed) {
  const std::uint64_t kind_seed = seed + static_cast<std::uint64_t>(value.kind());
  switch (value.kind()) {
    case Kind::Boolean:
      return hash_bytes(value.boolean() ? "1" : "0", kind_seed);
    case Kind::Number: {
      const auto decimal = Decimal::parse(value.number());
      return decimal ? decimal->hash(kind_seed) : hash_bytes(value.number(), kind_seed);
    }
    case Kind::String:
      return hash_bytes(value.string(), kind_seed);
    case Kind::Null:
    case Kind::Array:
    case Kind::Object:
      break;
  }
  return hash_bytes({}, kind_seed);
}

// An array or object whose elements or members are being hashed.
struct OpenHash {
  explicit OpenHash(const Value& value, std::uint64_t seed)
      : is_object(value.is(Kind::Object)), left(value.size()), state(hash_scalar(value, seed) + left) {
    if (is_object) {
      member = value.members().begin();
    } else {
      element = value.elements().begin();
    }
  }

  Value next() {
    --left;
    if (!is_object) return *element++;
    key = (*member).key;
    return (*member++).value;
  }

  // Members add up, so that their order does not matter.
  void add(std::uint64_t value_hash, std::uint64_t seed) {
    state = is_object ? state + hash_pair(hash_bytes(key, seed), value_hash, seed) : hash_pair(state, value_hash, seed);
  }

  bool is_object;
  std::size_t left;
  std::uint64_t state;
  Elements::Iterator element;
  Members::Iterator member;
  std::string_view key;
};

}  // namespace

bool equal(const Value& left, const Value& right) { return Comparison().run(left, right); }

std::uint64_t hash(const Value& value, std::uint64_t seed) {
  if (value.kind() < Kind::Array) return hash_scalar(value, seed);
  std::vector<OpenHash> open;
  open.emplace_back(value, seed);
  while (true) {
    if (open.back().left != 0) {
      const Value next = open.back().next();
      if (next.kind() < Kind::Array) {
        open.back().add(hash_scalar(next, seed), seed);
      } else {
        open.emplace_back(next, seed);
      }
      continue;
    }
    const std::uint64_t done = hash_pair(open.back().state, 0, seed);
    open.pop_back();
    if (open.empty()) return done;
    open.back().add(done, seed);
  }
}

}  // namespace assay::json
