#pragma once
// The vocabulary: every Draft-07 keyword that a schema position may hold, and what its value must look like.
#include <cstdint>
#include <span>
#include <string_view>

#include "schema/schema.h"

namespace assay::schema {

enum class Keyword : std::uint8_t {
  Dialect,  // $schema
  Type,
  Enum,
  Const,
  MultipleOf,
  Maximum,
  ExclusiveMaximum,
  Minimum,
  ExclusiveMinimum,
  MaxLength,
  MinLength,
  Pattern,
  Format,
  Items,
  AdditionalItems,
  MaxItems,
  MinItems,
  UniqueItems,
  Contains,
  MaxProperties,
  MinProperties,
  Required,
  Properties,
  PatternProperties,
  AdditionalProperties,
  Dependencies,
  PropertyNames,
  If,
  Then,
  Else,
  AllOf,
  AnyOf,
  OneOf,
  Not,
  Title,
  Description,
  Default,
  Examples,
  Comment,
  ReadOnly,
  WriteOnly,
  ContentMediaType,
  ContentEncoding,
};

// What the meta-schema asks of a keyword's value.
enum class Shape : std::uint8_t {
  Anything,
  Boolean,
  String,
  Number,
  PositiveNumber,
  Count,      // a non-negative integer
  Array,      // of anything, also empty
  Strings,    // distinct strings, also none
  TypeNames,  // one type name, or a non-empty array of distinct ones
  Schema,
  Schemas,          // a non-empty array of schemas
  SchemaOrSchemas,  // `items`
  SchemaMap,
  Dependencies,  // a map to schemas or Strings
};

enum class Role : std::uint8_t { Dialect, Assertion, Applicator, Annotation };

struct KeywordInfo {
  std::string_view name;
  Keyword keyword;
  Role role;
  Shape shape;
};

[[nodiscard]] std::span<const KeywordInfo> keywords();
[[nodiscard]] const KeywordInfo* find_keyword(std::string_view name);

// Names that authors of schemas do write and that are refused, with what to write instead.
struct RefusedKeyword {
  std::string_view name;
  RefusalCode code;
  std::string_view advice;
};

[[nodiscard]] std::span<const RefusedKeyword> refused_keywords();
[[nodiscard]] const RefusedKeyword* find_refused_keyword(std::string_view name);

// Draft-07's type names, in the order of the bits of TypeMask (program.h).
inline constexpr std::string_view kTypeNames[] = {"null", "boolean", "integer", "number", "string", "array", "object"};

inline constexpr std::string_view kDialect = "http://json-schema.org/draft-07/schema#";

}  // namespace assay::schema
