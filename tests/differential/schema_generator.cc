#include "tests/differential/schema_generator.h"

#include <array>
#include <set>
#include <span>
#include <string_view>

#include "tests/differential/pools.h"

namespace assay::differential {
namespace {

constexpr auto kCounts = std::to_array<std::string_view>({"0", "1", "2", "3.0", "20e-1", "1e1"});
constexpr auto kDivisors = std::to_array<std::string_view>(
    {"1", "2", "3", "0.1", "0.01", "1e-7", "1.5", "0.3", "1e2", "1e-300", "7e20", "0.0000000000000000000000000001"});
// The part of the language in which ECMA 262, RE2 and Python agree, but for the newline and beyond ASCII.
constexpr auto kPatterns = std::to_array<std::string_view>(
    {R"("a")",     R"("^a")",         R"("b$")",         R"("^[a-z]+$")", R"("^.$")",    R"("^.{2}$")",
     R"("^a.b$")", R"("[0-9]{2,3}")", R"("^(ab|cd)*$")", R"("\\d")",      R"("^\\w+$")", R"("^\\S*$")",
     R"("^é$")",   R"("^[^a]*$")",    R"("^[😀-😎]+$")", R"("^$")",       R"("a|^b")",   R"("(?:a|b)c?$")",
     R"("\\.")",   R"("^[\\w-]+$")",  R"("^.*o.*$")"});
constexpr auto kTypes = std::to_array<std::string_view>(
    {R"("null")", R"("boolean")", R"("integer")", R"("number")", R"("string")", R"("array")", R"("object")",
     R"(["string","null"])", R"(["integer","string","object"])", R"(["array","number"])"});

class SchemaWriter {
 public:
  explicit SchemaWriter(SeededRandom& random) : random_(random) {}

  std::string schema(int depth) {
    if (chance(10)) return chance(3) ? "false" : "true";
    std::set<std::string, std::less<>> seen;
    std::string text;
    const std::uint64_t count = 1 + random_.below(3);
    for (std::uint64_t i = 0; i < count; ++i) {
      // A group of members that belong together: name, value, name, value...
      for (const auto& [name, value] : depth > 0 && chance(2) ? applicator(depth) : assertion()) {
        if (!seen.insert(name).second) continue;
        text += (text.empty() ? "\"" : ",\"") + name + "\":" + value;
      }
    }
    return "{" + text + "}";
  }

 private:
  using Group = std::vector<std::pair<std::string, std::string>>;

  bool chance(std::uint64_t of) { return random_.below(of) == 0; }
  std::string pick(std::span<const std::string_view> pool) { return std::string(pool[random_.below(pool.size())]); }

  std::string list(std::uint64_t least, const auto& make) {
    std::string text;
    const std::uint64_t count = least + random_.below(3);
    for (std::uint64_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + make();
    return "[" + text + "]";
  }

  // One of `pool_share` keys gets a member.
  std::string map(std::span<const std::string_view> keys, std::uint64_t pool_share, const auto& make) {
    std::string text;
    for (const std::string_view key : keys) {
      if (!chance(pool_share)) continue;
      text += (text.empty() ? "" : ",") + std::string(key) + ":" + make();
    }
    return "{" + text + "}";
  }

  // Distinct, as `required` wants them.
  std::string names() {
    std::string text;
    for (const std::string_view key : kKeys) {
      if (chance(6)) text += (text.empty() ? "" : ",") + std::string(key);
    }
    return "[" + text + "]";
  }

  Group assertion() {
    switch (random_.below(13)) {
      case 0:
        return {{"minimum", pick(kNumbers)}, {"type", R"("number")"}};
      case 1:
        return {{"maximum", pick(kNumbers)}};
      case 2:
        return {{"exclusiveMinimum", pick(kNumbers)}};
      case 3:
        return {{"exclusiveMaximum", pick(kNumbers)}, {"minimum", pick(kNumbers)}};
      case 4:
        return {{"multipleOf", pick(kDivisors)}};
      case 5:
        return {{"minLength", pick(kCounts)}, {"type", R"("string")"}};
      case 6:
        return {{"maxLength", pick(kCounts)}, {"type", R"("string")"}};
      case 7:
        return {{"pattern", pick(kPatterns)}};
      case 8:
        return {{"type", pick(kTypes)}};
      case 9:
        return {{"const", value(random_, 2)}};
      case 10:
        return {{"enum", enumeration()}};
      case 11:
        return {{"required", names()}, {"type", R"("object")"}};
      default:
        return {{chance(2) ? "minProperties" : "maxProperties", pick(kCounts)}};
    }
  }

  // Draft-07 wants the values distinct: told apart by their text here, by their value where a schema is refused for it.
  std::string enumeration() {
    std::set<std::string> values;
    const std::uint64_t count = 1 + random_.below(4);
    while (values.size() < count) values.insert(value(random_, 2));
    std::string text;
    for (const std::string& each : values) text += (text.empty() ? "" : ",") + each;
    return "[" + text + "]";
  }

  Group applicator(int depth) {
    const auto inner = [&] { return schema(depth - 1); };
    switch (random_.below(14)) {
      case 0:
        return {{"items", inner()}, {"uniqueItems", chance(2) ? "true" : "false"}};
      case 1:
        return {{"items", list(1, inner)}, {"additionalItems", inner()}};
      case 2:
        return {{"contains", inner()}, {"type", R"("array")"}};
      case 3:
        return {{"uniqueItems", "true"}, {chance(2) ? "minItems" : "maxItems", pick(kCounts)}};
      case 4:
      case 5:
        return {{"properties", map(kKeys, 4, inner)}, {"required", names()}, {"type", R"("object")"}};
      case 6:
        return {{"properties", map(kKeys, 4, inner)}, {"additionalProperties", inner()}};
      case 7:
        return {{"patternProperties", map(kPatterns, 12, inner)}, {"additionalProperties", inner()}};
      case 8:
        return {{"propertyNames", inner()}};
      case 9:
        return {{"dependencies", map(kKeys, 4, [&] { return chance(2) ? names() : inner(); })}};
      case 10:
        return {{"if", inner()}, {"then", inner()}, {"else", inner()}};
      case 11:
        return {{chance(2) ? "anyOf" : "allOf", list(1, inner)}};
      case 12:
        return {{"oneOf", list(1, inner)}};
      default:
        return {{"not", inner()}};
    }
  }

  SeededRandom& random_;
};

}  // namespace

std::string nasty_schema(SeededRandom& random, int depth) { return SchemaWriter(random).schema(depth); }

}  // namespace assay::differential
