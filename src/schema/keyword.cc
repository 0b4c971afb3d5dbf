#include "schema/keyword.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace assay::schema {
namespace {

constexpr std::array kKeywords = {
    KeywordInfo{"$schema", Keyword::Dialect, Role::Dialect, Shape::String},
    KeywordInfo{"type", Keyword::Type, Role::Assertion, Shape::TypeNames},
    KeywordInfo{"enum", Keyword::Enum, Role::Assertion, Shape::Array},
    KeywordInfo{"const", Keyword::Const, Role::Assertion, Shape::Anything},
    KeywordInfo{"multipleOf", Keyword::MultipleOf, Role::Assertion, Shape::PositiveNumber},
    KeywordInfo{"maximum", Keyword::Maximum, Role::Assertion, Shape::Number},
    KeywordInfo{"exclusiveMaximum", Keyword::ExclusiveMaximum, Role::Assertion, Shape::Number},
    KeywordInfo{"minimum", Keyword::Minimum, Role::Assertion, Shape::Number},
    KeywordInfo{"exclusiveMinimum", Keyword::ExclusiveMinimum, Role::Assertion, Shape::Number},
    KeywordInfo{"maxLength", Keyword::MaxLength, Role::Assertion, Shape::Count},
    KeywordInfo{"minLength", Keyword::MinLength, Role::Assertion, Shape::Count},
    KeywordInfo{"pattern", Keyword::Pattern, Role::Assertion, Shape::String},
    KeywordInfo{"format", Keyword::Format, Role::Assertion, Shape::String},
    KeywordInfo{"items", Keyword::Items, Role::Applicator, Shape::SchemaOrSchemas},
    KeywordInfo{"additionalItems", Keyword::AdditionalItems, Role::Applicator, Shape::Schema},
    KeywordInfo{"maxItems", Keyword::MaxItems, Role::Assertion, Shape::Count},
    KeywordInfo{"minItems", Keyword::MinItems, Role::Assertion, Shape::Count},
    KeywordInfo{"uniqueItems", Keyword::UniqueItems, Role::Assertion, Shape::Boolean},
    KeywordInfo{"contains", Keyword::Contains, Role::Applicator, Shape::Schema},
    KeywordInfo{"maxProperties", Keyword::MaxProperties, Role::Assertion, Shape::Count},
    KeywordInfo{"minProperties", Keyword::MinProperties, Role::Assertion, Shape::Count},
    KeywordInfo{"required", Keyword::Required, Role::Assertion, Shape::Strings},
    KeywordInfo{"properties", Keyword::Properties, Role::Applicator, Shape::SchemaMap},
    KeywordInfo{"patternProperties", Keyword::PatternProperties, Role::Applicator, Shape::SchemaMap},
    KeywordInfo{"additionalProperties", Keyword::AdditionalProperties, Role::Applicator, Shape::Schema},
    KeywordInfo{"dependencies", Keyword::Dependencies, Role::Applicator, Shape::Dependencies},
    KeywordInfo{"propertyNames", Keyword::PropertyNames, Role::Applicator, Shape::Schema},
    KeywordInfo{"if", Keyword::If, Role::Applicator, Shape::Schema},
    KeywordInfo{"then", Keyword::Then, Role::Applicator, Shape::Schema},
    KeywordInfo{"else", Keyword::Else, Role::Applicator, Shape::Schema},
    KeywordInfo{"allOf", Keyword::AllOf, Role::Applicator, Shape::Schemas},
    KeywordInfo{"anyOf", Keyword::AnyOf, Role::Applicator, Shape::Schemas},
    KeywordInfo{"oneOf", Keyword::OneOf, Role::Applicator, Shape::Schemas},
    KeywordInfo{"not", Keyword::Not, Role::Applicator, Shape::Schema},
    KeywordInfo{"title", Keyword::Title, Role::Annotation, Shape::String},
    KeywordInfo{"description", Keyword::Description, Role::Annotation, Shape::String},
    KeywordInfo{"default", Keyword::Default, Role::Annotation, Shape::Anything},
    KeywordInfo{"examples", Keyword::Examples, Role::Annotation, Shape::Array},
    KeywordInfo{"$comment", Keyword::Comment, Role::Annotation, Shape::String},
    KeywordInfo{"readOnly", Keyword::ReadOnly, Role::Annotation, Shape::Boolean},
    KeywordInfo{"writeOnly", Keyword::WriteOnly, Role::Annotation, Shape::Boolean},
    KeywordInfo{"contentMediaType", Keyword::ContentMediaType, Role::Annotation, Shape::String},
    KeywordInfo{"contentEncoding", Keyword::ContentEncoding, Role::Annotation, Shape::String},
};

constexpr std::string_view kInline = "references are not supported: write the schema inline at the place of use";
constexpr std::string_view kNoId = "identifiers are not supported: leave it out, nothing can refer to it";
constexpr std::string_view kNewer = "it belongs to a newer dialect than Draft-07";

constexpr std::array kRefused = {
    RefusedKeyword{"$ref", RefusalCode::UnsupportedKeyword, kInline},
    RefusedKeyword{"$defs", RefusalCode::UnsupportedKeyword, kInline},
    RefusedKeyword{"definitions", RefusalCode::UnsupportedKeyword, kInline},
    RefusedKeyword{"$dynamicRef", RefusalCode::UnsupportedKeyword, kInline},
    RefusedKeyword{"$recursiveRef", RefusalCode::UnsupportedKeyword, kInline},
    RefusedKeyword{"$id", RefusalCode::UnsupportedKeyword, kNoId},
    RefusedKeyword{"id", RefusalCode::UnsupportedKeyword, kNoId},
    RefusedKeyword{"$anchor", RefusalCode::UnsupportedKeyword, kNoId},
    RefusedKeyword{"$dynamicAnchor", RefusalCode::UnsupportedKeyword, kNoId},
    RefusedKeyword{"$recursiveAnchor", RefusalCode::UnsupportedKeyword, kNoId},
    RefusedKeyword{"$vocabulary", RefusalCode::UnsupportedKeyword, "the vocabulary is fixed: leave it out"},
    RefusedKeyword{"prefixItems", RefusalCode::UnknownKeyword, "Draft-07 writes it as an array under items"},
    RefusedKeyword{"dependentRequired", RefusalCode::UnknownKeyword, "Draft-07 writes it as dependencies"},
    RefusedKeyword{"dependentSchemas", RefusalCode::UnknownKeyword, "Draft-07 writes it as dependencies"},
    RefusedKeyword{"unevaluatedProperties", RefusalCode::UnknownKeyword, kNewer},
    RefusedKeyword{"unevaluatedItems", RefusalCode::UnknownKeyword, kNewer},
    RefusedKeyword{"minContains", RefusalCode::UnknownKeyword, kNewer},
    RefusedKeyword{"maxContains", RefusalCode::UnknownKeyword, kNewer},
    RefusedKeyword{"deprecated", RefusalCode::UnknownKeyword, kNewer},
    RefusedKeyword{"contentSchema", RefusalCode::UnknownKeyword, kNewer},
    RefusedKeyword{"nullable", RefusalCode::UnknownKeyword, "Draft-07 lists \"null\" among the names under type"},
    RefusedKeyword{"discriminator", RefusalCode::UnknownKeyword, "Draft-07 tells alternatives apart by const"},
    RefusedKeyword{"example", RefusalCode::UnknownKeyword, "Draft-07 writes it as examples, an array"},
    RefusedKeyword{"optional", RefusalCode::UnknownKeyword, "a property is optional unless required names it"},
};

// Open addressing over the length and three bytes of a name.
constexpr std::size_t kSlots = 256;
constexpr std::uint8_t kFree = 0xFF;

constexpr std::size_t slot_of(std::string_view name) {
  const auto at = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(name[i])); };
  return (name.size() * 7 + at(0) * 31 + at(name.size() / 2) * 17 + at(name.size() - 1) * 5) % kSlots;
}

constexpr auto kTable = [] {
  std::array<std::uint8_t, kSlots> table{};
  table.fill(kFree);
  for (std::size_t i = 0; i < kKeywords.size(); ++i) {
    std::size_t slot = slot_of(kKeywords[i].name);
    while (table[slot] != kFree) slot = (slot + 1) % kSlots;
    table[slot] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

}  // namespace

std::span<const KeywordInfo> keywords() { return kKeywords; }

const KeywordInfo* find_keyword(std::string_view name) {
  if (name.empty()) return nullptr;
  for (std::size_t slot = slot_of(name); kTable[slot] != kFree; slot = (slot + 1) % kSlots) {
    const KeywordInfo& info = kKeywords[kTable[slot]];
    if (info.name == name) return &info;
  }
  return nullptr;
}

std::span<const RefusedKeyword> refused_keywords() { return kRefused; }

const RefusedKeyword* find_refused_keyword(std::string_view name) {
  const auto found = std::ranges::find(kRefused, name, &RefusedKeyword::name);
  return found == kRefused.end() ? nullptr : &*found;
}

}  // namespace assay::schema
