#pragma once
// A compiled schema: nodes that point at one another and at the rules they hold. Immutable after compiling. Nodes can
// be shared: nothing in them depends on who points at them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "json/document.h"
#include "schema/formats.h"
#include "schema/number.h"
#include "schema/pattern.h"
#include "schema/property_table.h"

namespace assay::schema {

// Which kinds of values may pass; the order of kTypeNames (keyword.h). A number with a zero fraction is an Integer,
// any other one a Fraction: `number` is both bits.
using TypeMask = std::uint8_t;
inline constexpr TypeMask kNullBit = 1;
inline constexpr TypeMask kBooleanBit = 2;
inline constexpr TypeMask kIntegerBit = 4;
inline constexpr TypeMask kFractionBit = 8;
inline constexpr TypeMask kNumberBits = kIntegerBit | kFractionBit;
inline constexpr TypeMask kStringBit = 16;
inline constexpr TypeMask kArrayBit = 32;
inline constexpr TypeMask kObjectBit = 64;
inline constexpr TypeMask kAnyType = 127;
inline constexpr TypeMask kBitsOfKind[] = {kNullBit, kBooleanBit, kNumberBits, kStringBit, kArrayBit, kObjectBit};

[[nodiscard]] constexpr TypeMask bits_of(json::Kind kind) { return kBitsOfKind[static_cast<std::size_t>(kind)]; }

struct Node;

inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

struct CountRange {
  std::size_t min = 0;
  std::size_t max = kNoLimit;
};

// The values of `enum` or `const`, sorted by what tells them apart fastest.
struct ValueSet {
  struct Container {
    std::uint64_t hash;
    json::Value value;
  };

  bool is_const = false;
  json::Value source;  // the keyword's value, for messages
  bool has_null = false;
  bool has_false = false;
  bool has_true = false;
  PropertyTable strings;
  std::vector<json::Decimal> numbers;  // ascending
  std::vector<Container> containers;   // by hash
  TypeMask kinds = 0;
};

struct NumberRules {
  std::optional<Bound> minimum;
  std::optional<Bound> exclusive_minimum;
  std::optional<Bound> maximum;
  std::optional<Bound> exclusive_maximum;
  std::optional<Factor> multiple_of;
  bool is_long = false;  // whether comparing with any of them takes the detour
};

struct StringRules {
  CountRange code_points;
  const Pattern* pattern = nullptr;
  const FormatInfo* format = nullptr;
};

struct ArrayRules {
  CountRange count;
  bool unique = false;
  std::vector<const Node*> tuple;  // `items` as an array
  const Node* rest = nullptr;      // what follows the tuple: `items` or `additionalItems`
  const Node* contains = nullptr;
  json::Value contains_source;  // for messages
};

struct PatternProperty {
  const Pattern* pattern;
  const Node* node;
};

// Bits for the entries of a property table.
using NameBits = std::vector<std::uint64_t>;

// Positions are those of ObjectRules::properties, which knows every name here.
struct Dependency {
  std::uint32_t trigger;
  std::vector<std::uint32_t> required;
  const Node* node = nullptr;
};

struct ObjectRules {
  CountRange count;
  PropertyTable properties;
  std::size_t required_count = 0;
  NameBits required;
  std::vector<PatternProperty> patterns;
  const Node* additional = nullptr;
  const Node* names = nullptr;
  bool has_more_than_properties = false;  // patterns, additional or names
  bool says_more_of_properties = false;   // patterns or names
  bool has_additional_alone = false;      // no name is known, and only additional applies
  std::vector<Dependency> dependencies;   // by trigger
  NameBits triggers;

  // Requires: one of the triggers.
  [[nodiscard]] const Dependency* find_dependency(std::uint32_t trigger) const {
    return &*std::ranges::lower_bound(dependencies, trigger, {}, &Dependency::trigger);
  }
};

struct Branches {
  std::vector<const Node*> all_of;
  std::vector<const Node*> any_of;
  std::vector<const Node*> one_of;
  const Node* negated = nullptr;
  json::Value negated_source;       // for messages
  const Node* condition = nullptr;  // null where neither then nor else depends on it
  const Node* consequence = nullptr;
  const Node* alternative = nullptr;
};

struct Node {
  TypeMask types = kAnyType;
  bool types_only = true;  // no rules besides
  const ValueSet* constant = nullptr;
  const ValueSet* enumeration = nullptr;
  const NumberRules* number = nullptr;
  const StringRules* string = nullptr;
  const ArrayRules* array = nullptr;
  const ObjectRules* object = nullptr;
  const Branches* branches = nullptr;

  [[nodiscard]] bool allows_all() const { return types_only && types == kAnyType; }
  [[nodiscard]] bool allows_nothing() const { return types == 0; }
};

struct Program {
  explicit Program(json::Document schema) : document(std::move(schema)) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  json::Document document;
  std::deque<Node> nodes;
  std::deque<ValueSet> value_sets;
  std::deque<NumberRules> numbers;
  std::deque<StringRules> strings;
  std::deque<ArrayRules> arrays;
  std::deque<ObjectRules> objects;
  std::deque<Branches> branches;
  std::unordered_map<std::string_view, Pattern> patterns;  // by expression, each compiled once
  std::size_t re2_patterns = 0;
  const Node* root = nullptr;
};

}  // namespace assay::schema
