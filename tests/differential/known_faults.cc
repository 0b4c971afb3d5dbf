#include "tests/differential/known_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "json/decimal.h"
#include "tests/reference/number.h"

namespace assay::differential {
namespace {

using json::Kind;
using json::Value;

// Whether `holds` is true of the value or of one inside it.
bool any_inside(Value value, const std::function<bool(Value)>& holds) {
  if (holds(value)) return true;
  if (value.is(Kind::Array)) {
    return std::ranges::any_of(value.elements(), [&](Value element) { return any_inside(element, holds); });
  }
  if (!value.is(Kind::Object)) return false;
  return std::ranges::any_of(value.members(),
                             [&](const json::Member& member) { return any_inside(member.value, holds); });
}

bool any_key(Value value, const std::function<bool(std::string_view)>& holds) {
  return any_inside(value, [&](Value part) {
    return part.is(Kind::Object) &&
           std::ranges::any_of(part.members(), [&](const json::Member& member) { return holds(member.key); });
  });
}

bool any_text(Value value, const std::function<bool(std::string_view)>& holds) {
  return any_key(value, holds) ||
         any_inside(value, [&](Value part) { return part.is(Kind::String) && holds(part.string()); });
}

bool mentions(Value schema, std::string_view keyword) {
  return any_key(schema, [&](std::string_view key) { return key == keyword; });
}

bool is_no_double(Value value) {
  if (!value.is(Kind::Number)) return false;
  const double nearest = *json::to_double(value);
  if (!std::isfinite(nearest)) return true;
  return reference::compare(reference::read_number(value.number()),
                            reference::read_number(fmt::format("{:.800e}", nearest))) != 0;
}

bool has_no_double(Value schema, Value instance) {
  return any_inside(schema, is_no_double) || any_inside(instance, is_no_double);
}

// Where the operands are small integers, doubles do.
bool divides_doubles(Value schema, Value instance) {
  const auto is_risky = [](Value part) {
    constexpr double kExact = 9007199254740992;
    const double number = part.is(Kind::Number) ? *json::to_double(part) : 0;
    return std::trunc(number) != number || std::abs(number) >= kExact;
  };
  return mentions(schema, "multipleOf") && (any_inside(schema, is_risky) || any_inside(instance, is_risky));
}

bool is_inherited_name(std::string_view text) {
  constexpr auto kInherited = std::to_array<std::string_view>({"toString", "__proto__", "constructor"});
  return std::ranges::find(kInherited, text) != kInherited.end();
}

bool names_what_objects_inherit(Value schema, Value instance) {
  return any_text(schema, is_inherited_name) || any_text(instance, is_inherited_name);
}

bool lists_an_empty_name(Value value) {
  return value.is(Kind::Array) && std::ranges::any_of(value.elements(), [](Value name) {
           return name.is(Kind::String) && name.string().empty();
         });
}

// In `required`, or in a list of `dependencies`.
bool requires_an_empty_name(Value schema, Value) {
  return any_inside(schema, [](Value part) {
    if (!part.is(Kind::Object)) return false;
    const auto required = part.find("required");
    const auto dependencies = part.find("dependencies");
    return (required && lists_an_empty_name(*required)) ||
           (dependencies && dependencies->is(Kind::Object) &&
            std::ranges::any_of(dependencies->members(),
                                [](const json::Member& member) { return lists_an_empty_name(member.value); }));
  });
}

bool refuses_more_elements(Value schema, Value) { return mentions(schema, "additionalItems"); }

bool matches_beyond_ascii(Value schema, Value instance) {
  const auto is_special = [](std::string_view text) {
    return text.find_first_of("\n\r") != std::string_view::npos ||
           std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  };
  return (mentions(schema, "pattern") || mentions(schema, "patternProperties")) && any_text(instance, is_special);
}

bool compares_booleans(Value schema, Value instance) {
  const auto is_boolean = [](Value part) { return part.is(Kind::Boolean); };
  return (mentions(schema, "enum") || mentions(schema, "uniqueItems")) &&
         (any_inside(instance, is_boolean) || any_inside(schema, is_boolean));
}

constexpr std::string_view kNumbers = "Core 4.2.1: a number is an arbitrary-precision, base-10 decimal value";
constexpr std::string_view kEquality = "Core 4.2.3: equal values have the same type";
constexpr std::string_view kPatternDialect =
    "Validation 4.3: only a common subset of regular expressions is portable; the contract names RE2";

constexpr std::string_view kRequired = "Validation 6.5.3: every name of `required` is a property of the instance";

constexpr auto kFaults = std::to_array<KnownFault>({
    {Peer::Ajv, "multipleOf divides doubles",
     "Validation 6.2.1: the division by the keyword's value results in an integer", divides_doubles,
     R"({"multipleOf":0.1})", "0.3"},
    {Peer::Ajv, "numbers become doubles", kNumbers, has_no_double, R"({"const":9007199254740993})", "9007199254740992"},
    {Peer::Ajv, "names that every object inherits", kRequired, names_what_objects_inherit,
     R"({"required":["toString"]})", "{}"},
    {Peer::Ajv, "the empty name in `required` and `dependencies`", kRequired, requires_an_empty_name,
     R"({"required":[""]})", "{}"},
    {Peer::Ajv, "white space and line ends of the language", kPatternDialect, matches_beyond_ascii,
     R"({"pattern":"^a.b$"})", R"("a\rb")"},
    {Peer::Python, "white space, digits and line ends of the language", kPatternDialect, matches_beyond_ascii,
     R"({"pattern":"b$"})", R"("b\n")"},
    {Peer::Python, "sorts what additionalItems refuses, and fails where that has no order",
     "Validation 6.4.2: elements beyond those of `items` are judged by `additionalItems`", refuses_more_elements,
     R"({"items":[true],"additionalItems":false})", "[1,{},2]"},
    {Peer::Python, "true equals 1 inside containers", kEquality, compares_booleans, R"({"enum":[[1]]})", "[true]"},
});

}  // namespace

std::string_view name_of(Peer peer) { return peer == Peer::Ajv ? "ajv" : "python3-jsonschema"; }

std::span<const KnownFault> known_faults() { return kFaults; }

}  // namespace assay::differential
