// The Draft-07 meta-schema as a checker: its rules are a handful of shapes (keyword.h), applied to every schema
// position. `definitions`, `$ref` and `$id`, which it also describes, never get here: the screen has refused them.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "schema/admission.h"
#include "schema/excerpt.h"
#include "schema/number.h"
#include "schema/positions.h"

namespace assay::schema {
namespace {

constexpr std::size_t kNameBytesMax = 80;

class Checker {
 public:
  std::optional<Refusal> run(json::Value schema) {
    check_schema(schema, Place::root());
    return std::move(refusal_);
  }

 private:
  bool refuse(const Place& place, std::string_view detail) {
    refusal_ = make_refusal(RefusalCode::InvalidSchema, refusal_pointer(place), detail);
    return false;
  }

  bool require(bool condition, const KeywordInfo& info, const Place& place, std::string_view what) {
    return condition || refuse(place, fmt::format("{} must be {}", info.name, what));
  }

  bool check_schema(json::Value schema, const Place& place) {
    if (!is_schema_kind(schema)) return refuse(place, "a schema must be an object or a boolean");
    if (!schema.is(json::Kind::Object)) return true;
    for (const json::Member& member : schema.members()) {
      const KeywordInfo& info = *find_keyword(member.key);
      const Place here = place.member(member.key);
      if (!check_shape(info, member.value, here)) return false;
      const auto visit = [&](json::Value child, const Place& at) { return check_schema(child, at); };
      if (!for_each_position(info, member.value, here, visit)) return false;
    }
    return true;
  }

  bool check_shape(const KeywordInfo& info, json::Value value, const Place& place) {
    switch (info.shape) {
      case Shape::Anything:
      case Shape::Schema:
        return true;
      case Shape::Boolean:
        return require(value.is(json::Kind::Boolean), info, place, "true or false");
      case Shape::String:
        return require(value.is(json::Kind::String), info, place, "a string");
      case Shape::Number:
        return require(value.is(json::Kind::Number), info, place, "a number");
      case Shape::PositiveNumber:
        return require(value.is(json::Kind::Number) && is_positive(value), info, place, "a number above zero");
      case Shape::Count:
        return require(value.is(json::Kind::Number) && is_count(value), info, place, "an integer of zero or more");
      case Shape::Array:
        return require(value.is(json::Kind::Array), info, place, "an array");
      case Shape::Strings:
        return check_strings(info, value, place);
      case Shape::TypeNames:
        return check_type(info, value, place);
      case Shape::Schemas:
        return require(value.is(json::Kind::Array) && value.size() > 0, info, place, "a non-empty array of schemas");
      case Shape::SchemaOrSchemas:
        if (!value.is(json::Kind::Array)) return true;
        return require(value.size() > 0, info, place, "a schema or a non-empty array of schemas");
      case Shape::SchemaMap:
        return require(value.is(json::Kind::Object), info, place, "an object whose members are schemas");
      case Shape::Dependencies:
        return check_dependencies(info, value, place);
    }
    return true;
  }

  static bool is_positive(json::Value number) { return exact(number.number()) > json::Decimal(); }

  static bool is_count(json::Value number) {
    const json::Decimal decimal = exact(number.number());
    return decimal.is_integer() && !decimal.is_negative();
  }

  bool check_strings(const KeywordInfo& info, json::Value value, const Place& place) {
    constexpr std::string_view kWhat = "an array of distinct strings";
    if (!require(value.is(json::Kind::Array), info, place, kWhat)) return false;
    std::unordered_set<std::string_view> seen;
    std::size_t index = 0;
    for (const json::Value element : value.elements()) {
      const Place here = place.element(index++);
      if (!require(element.is(json::Kind::String), info, here, kWhat)) return false;
      if (!seen.insert(element.string()).second) {
        return refuse(here, fmt::format("{} names {} twice", info.name, quoted(element.string(), kNameBytesMax)));
      }
    }
    return true;
  }

  bool check_type(const KeywordInfo& info, json::Value value, const Place& place) {
    unsigned seen = 0;
    if (!value.is(json::Kind::Array)) return check_type_name(info, value, place, seen);
    if (!require(value.size() > 0, info, place, "a type name or a non-empty array of type names")) return false;
    std::size_t index = 0;
    for (const json::Value element : value.elements()) {
      if (!check_type_name(info, element, place.element(index++), seen)) return false;
    }
    return true;
  }

  bool check_type_name(const KeywordInfo& info, json::Value value, const Place& place, unsigned& seen) {
    const auto* const end = std::end(kTypeNames);
    const auto* const found = value.is(json::Kind::String) ? std::find(kTypeNames, end, value.string()) : end;
    if (!require(found != end, info, place, "one of null, boolean, integer, number, string, array, object"))
      return false;
    const unsigned bit = 1U << static_cast<unsigned>(found - kTypeNames);
    if ((seen & bit) != 0) return refuse(place, fmt::format("type names \"{}\" twice", *found));
    seen |= bit;
    return true;
  }

  bool check_dependencies(const KeywordInfo& info, json::Value value, const Place& place) {
    if (!require(value.is(json::Kind::Object), info, place, "an object of schemas or arrays of names")) return false;
    for (const json::Member& member : value.members()) {
      if (!member.value.is(json::Kind::Array)) continue;
      if (!check_strings(info, member.value, place.member(member.key))) return false;
    }
    return true;
  }

  std::optional<Refusal> refusal_;
};

}  // namespace

std::optional<Refusal> check_against_metaschema(json::Value schema) { return Checker{}.run(schema); }

}  // namespace assay::schema
