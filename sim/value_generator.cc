#include "sim/value_generator.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "json/compact.h"
#include "json/decimal.h"
#include "json/document.h"
#include "json/limits.h"
#include "json/writer.h"
#include "schema/schema.h"
#include "sim/number_candidates.h"
#include "sim/pattern_sample.h"

namespace assay::sim {
namespace {

using json::Kind;
using json::Value;
using Schemas = std::vector<Value>;  // all of them hold for one and the same value

constexpr std::uint64_t kVariantsMax = 400;
constexpr std::uint64_t kShapes = 3;
// Values that one variant may make: a schema may ask for more than an output value can hold.
constexpr std::size_t kValuesMax = 6'000;
constexpr std::size_t kValuesOfAllVariantsMax = 60'000;
constexpr std::size_t kCountCredible = 100'000;
constexpr std::size_t kUniqueTries = 64;
// The n-th scalar costs about as much as so many values.
constexpr std::size_t kUniquenessPerValue = 8;
constexpr std::size_t kScalarChoices = 4;

std::optional<Value> keyword(Value schema, std::string_view name) {
  if (!schema.is(Kind::Object)) return std::nullopt;
  return schema.find(name);
}

std::optional<Value> keyword(Value schema, std::string_view name, Kind kind) {
  const auto value = keyword(schema, name);
  return value && value->is(kind) ? value : std::nullopt;
}

std::size_t count_keyword(Value schema, std::string_view name, std::size_t otherwise) {
  const auto value = keyword(schema, name, Kind::Number);
  if (!value) return otherwise;
  const auto count = json::to_uint64(*value);
  return count ? static_cast<std::size_t>(std::min<std::uint64_t>(*count, kCountCredible)) : kCountCredible;
}

bool is_false(Value schema) { return schema.is(Kind::Boolean) && !schema.boolean(); }

bool matches_pattern(std::string_view pattern, std::string_view text) {
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 expression(re2::StringPiece(pattern.data(), pattern.size()), options);
  return expression.ok() && RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), expression);
}

std::string quoted(std::string_view text) {
  json::Writer writer;
  writer.string(text);
  return writer.take();
}

// Makes one variant: each choice takes a digit of the variant's number, so that counting through the numbers goes
// through the combinations.
class Variant {
 public:
  explicit Variant(std::uint64_t number) : choices_(number / kShapes), shape_(number % kShapes) {}

  std::optional<std::string> make(Value schema) { return value(Schemas{schema}); }
  [[nodiscard]] std::size_t values() const { return values_; }
  // It made all its choices and its number still has digits: variants of higher numbers repeat lower ones.
  [[nodiscard]] bool is_repetition() const { return choices_ > 0; }

 private:
  std::size_t choose(std::size_t options) {
    if (options < 2) return 0;
    const std::uint64_t digit = choices_ % options;
    choices_ /= options;
    return static_cast<std::size_t>(digit);
  }

  // Adds what a schema's branches demand of the same value.
  void expand(Value schema, Schemas& all) {
    all.push_back(schema);
    if (const auto branches = keyword(schema, "allOf", Kind::Array)) {
      for (const Value branch : branches->elements()) expand(branch, all);
    }
    for (const std::string_view name : {"anyOf", "oneOf"}) {
      const auto branches = keyword(schema, name, Kind::Array);
      if (!branches || branches->size() == 0) continue;
      auto branch = branches->elements().begin();
      for (std::size_t skip = choose(branches->size()); skip > 0; --skip) ++branch;
      expand(*branch, all);
    }
    const auto condition = keyword(schema, "if");
    if (!condition) return;
    const bool takes_then = choose(2) == 0;
    if (takes_then) expand(*condition, all);
    if (const auto branch = keyword(schema, takes_then ? "then" : "else")) expand(*branch, all);
  }

  std::optional<std::string> value(const Schemas& given) {
    if (++values_ > kValuesMax) return std::nullopt;
    Schemas all;
    for (const Value schema : given) expand(schema, all);
    if (std::any_of(all.begin(), all.end(), is_false)) return std::nullopt;
    for (const Value schema : all) {
      if (const auto constant = keyword(schema, "const")) return json::compact(*constant);
      const auto choices = keyword(schema, "enum", Kind::Array);
      if (!choices || choices->size() == 0) continue;
      auto choice = choices->elements().begin();
      for (std::size_t skip = choose(choices->size()); skip > 0; --skip) ++choice;
      return json::compact(*choice);
    }
    const std::string type = type_of(all);
    if (type == "object") return object(all);
    if (type == "array") return array(all);
    if (type == "string") return string(all);
    if (type == "boolean") return choose(2) == 0 ? "true" : "false";
    if (type == "null") return "null";
    if (type.empty()) return std::nullopt;
    return number(all, type == "integer");
  }

  // A type that all schemas allow; without any, the one that their keywords speak of.
  std::string type_of(const Schemas& all) {
    std::vector<std::string> allowed;
    bool is_open = true;
    for (const Value schema : all) {
      const auto type = keyword(schema, "type");
      if (!type) continue;
      std::vector<std::string> here;
      if (type->is(Kind::String)) here.emplace_back(type->string());
      if (type->is(Kind::Array)) {
        for (const Value name : type->elements()) here.emplace_back(name.is(Kind::String) ? name.string() : "");
      }
      allowed = is_open ? here : intersection(allowed, here);
      is_open = false;
    }
    if (!is_open) return allowed.empty() ? std::string() : allowed[choose(allowed.size())];
    // Where nothing says a type, every third variant tries one that most keywords say nothing about.
    if (shape_ == 2 && choose(2) == 1) return "null";
    return implied_type(all);
  }

  static std::vector<std::string> intersection(const std::vector<std::string>& left,
                                               const std::vector<std::string>& right) {
    std::vector<std::string> both;
    const auto has = [](const std::vector<std::string>& types, const std::string& type) {
      return std::find(types.begin(), types.end(), type) != types.end();
    };
    for (const std::string& type : left) {
      if (has(right, type)) both.push_back(type);
      if (type == "number" && has(right, "integer") && !has(left, "integer")) both.emplace_back("integer");
      if (type == "integer" && has(right, "number") && !has(right, "integer")) both.emplace_back("integer");
    }
    return both;
  }

  static std::string implied_type(const Schemas& all) {
    struct Hint {
      std::string_view keyword;
      std::string_view type;
    };
    constexpr std::array kHints = {Hint{"properties", "object"},
                                   Hint{"required", "object"},
                                   Hint{"minProperties", "object"},
                                   Hint{"patternProperties", "object"},
                                   Hint{"additionalProperties", "object"},
                                   Hint{"propertyNames", "object"},
                                   Hint{"items", "array"},
                                   Hint{"minItems", "array"},
                                   Hint{"contains", "array"},
                                   Hint{"uniqueItems", "array"},
                                   Hint{"minimum", "number"},
                                   Hint{"maximum", "number"},
                                   Hint{"exclusiveMinimum", "number"},
                                   Hint{"exclusiveMaximum", "number"},
                                   Hint{"multipleOf", "number"}};
    for (const Hint& hint : kHints) {
      for (const Value schema : all) {
        if (keyword(schema, hint.keyword)) return std::string(hint.type);
      }
    }
    return "string";
  }

  // --- Objects.

  // Every schema that judges the member `name`.
  static Schemas member_schemas(const Schemas& all, std::string_view name) {
    Schemas result;
    for (const Value schema : all) {
      bool is_covered = false;
      if (const auto properties = keyword(schema, "properties", Kind::Object)) {
        if (const auto property = properties->find(name)) {
          result.push_back(*property);
          is_covered = true;
        }
      }
      if (const auto patterns = keyword(schema, "patternProperties", Kind::Object)) {
        for (const json::Member pattern : patterns->members()) {
          if (!matches_pattern(pattern.key, name)) continue;
          result.push_back(pattern.value);
          is_covered = true;
        }
      }
      const auto additional = keyword(schema, "additionalProperties");
      if (!is_covered && additional) result.push_back(*additional);
    }
    return result;
  }

  static void add_unique(std::vector<std::string>& names, std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  }

  // What `dependencies` demand of the names that are there; schemas they add judge the object as well.
  void follow_dependencies(Schemas& all, std::vector<std::string>& names) {
    std::set<std::string> followed;
    for (std::size_t at = 0; at < names.size(); ++at) {
      const std::string name = names[at];
      if (!followed.insert(name).second) continue;
      const Schemas before = all;
      for (const Value schema : before) {
        const auto dependencies = keyword(schema, "dependencies", Kind::Object);
        const auto dependency = dependencies ? dependencies->find(name) : std::nullopt;
        if (!dependency) continue;
        if (dependency->is(Kind::Array)) {
          for (const Value needed : dependency->elements()) add_unique(names, needed.string());
          continue;
        }
        expand(*dependency, all);
        for (const std::string& required : required_names(all)) add_unique(names, required);
      }
    }
  }

  static std::vector<std::string> required_names(const Schemas& all) {
    std::vector<std::string> names;
    for (const Value schema : all) {
      const auto required = keyword(schema, "required", Kind::Array);
      if (!required) continue;
      for (const Value name : required->elements()) add_unique(names, name.string());
    }
    return names;
  }

  std::optional<std::string> object(Schemas all) {
    std::size_t least = 0;
    std::size_t most = kCountCredible;
    for (const Value schema : all) {
      least = std::max(least, count_keyword(schema, "minProperties", 0));
      most = std::min(most, count_keyword(schema, "maxProperties", kCountCredible));
    }
    std::vector<std::string> names = required_names(all);
    follow_dependencies(all, names);
    const std::vector<std::string> needed = names;
    // Every third variant leaves the optional members out, which often is the way around `not` and `oneOf`.
    const bool takes_optional = shape_ != 1 || names.size() < least;
    if (takes_optional) {
      for (const Value schema : all) {
        const auto properties = keyword(schema, "properties", Kind::Object);
        if (!properties) continue;
        for (const json::Member property : properties->members()) {
          if (names.size() < most) add_unique(names, property.key);
        }
      }
      follow_dependencies(all, names);
    }
    std::vector<std::pair<std::string, std::string>> members;
    for (const std::string& name : names) {
      auto made = value(member_schemas(all, name));
      const bool is_needed = std::find(needed.begin(), needed.end(), name) != needed.end();
      if (!made && is_needed) return std::nullopt;
      if (made && (is_needed || members.size() < most)) members.emplace_back(name, std::move(*made));
    }
    if (!add_fillers(all, least, members)) return std::nullopt;
    json::Writer writer;
    writer.begin_object();
    for (const auto& [name, made] : members) writer.raw_member(name, made);
    writer.end_object();
    return writer.take();
  }

  // The `number`-th invented name: of a pattern where names must match one, else of what names must be, else plain.
  std::optional<std::string> invented_name(const Schemas& all, std::size_t number) {
    std::vector<std::string_view> patterns;
    Schemas name_schemas;
    for (const Value schema : all) {
      if (const auto names = keyword(schema, "propertyNames")) name_schemas.push_back(*names);
      const auto properties = keyword(schema, "patternProperties", Kind::Object);
      if (!properties) continue;
      for (const json::Member pattern : properties->members()) patterns.push_back(pattern.key);
    }
    if (!name_schemas.empty()) {
      uniqueness_ = number;
      const auto made = value(name_schemas);
      uniqueness_ = 0;
      if (!made) return std::nullopt;
      const auto document = json::Document::parse(*made, json::kOutputCaps);
      if (!document || !document->root().is(Kind::String)) return std::nullopt;
      return std::string(document->root().string());
    }
    const std::size_t turn = number % (patterns.size() + 1);
    if (turn < patterns.size()) return pattern_sample(patterns[turn], number / (patterns.size() + 1));
    return fmt::format("member{}", number);
  }

  bool add_fillers(const Schemas& all, std::size_t least, std::vector<std::pair<std::string, std::string>>& members) {
    if (least > json::kOutputCaps.values_max) return false;
    for (std::size_t number = 0; members.size() < least; ++number) {
      if (number > 2 * least + kUniqueTries) return false;
      auto name = invented_name(all, number);
      const auto same = [&](const auto& member) { return member.first == name; };
      if (!name || std::any_of(members.begin(), members.end(), same)) continue;
      auto made = value(member_schemas(all, *name));
      if (made) members.emplace_back(std::move(*name), std::move(*made));
    }
    return true;
  }

  // --- Arrays.

  static Schemas element_schemas(const Schemas& all, std::size_t position) {
    Schemas result;
    for (const Value schema : all) {
      const auto items = keyword(schema, "items");
      if (!items) continue;
      if (!items->is(Kind::Array)) {
        result.push_back(*items);
        continue;
      }
      if (position < items->size()) {
        auto item = items->elements().begin();
        for (std::size_t skip = position; skip > 0; --skip) ++item;
        result.push_back(*item);
      } else if (const auto additional = keyword(schema, "additionalItems")) {
        result.push_back(*additional);
      }
    }
    return result;
  }

  std::optional<std::string> array(const Schemas& all) {
    std::size_t least = 0;
    std::size_t most = kCountCredible;
    std::size_t tuple = 0;
    bool is_unique = false;
    std::vector<Value> contained;
    for (const Value schema : all) {
      least = std::max(least, count_keyword(schema, "minItems", 0));
      most = std::min(most, count_keyword(schema, "maxItems", kCountCredible));
      if (const auto items = keyword(schema, "items", Kind::Array)) tuple = std::max(tuple, items->size());
      if (const auto unique = keyword(schema, "uniqueItems", Kind::Boolean)) is_unique = is_unique || unique->boolean();
      if (const auto item = keyword(schema, "contains")) contained.push_back(*item);
    }
    std::size_t count = std::max({least, tuple, contained.size(), shape_ == 1 ? std::size_t{0} : std::size_t{1}});
    count = std::min(count, most);
    if (count < least || count > json::kOutputCaps.elements_max) return std::nullopt;
    // The elements that are contained stand at the end, where a tuple says least.
    std::vector<std::string> elements;
    for (std::size_t position = 0; position < count; ++position) {
      Schemas schemas = element_schemas(all, position);
      const std::size_t from_end = count - position;
      if (from_end <= contained.size()) schemas.push_back(contained[from_end - 1]);
      auto made = element(schemas, elements, is_unique);
      if (!made && position >= least && contained.empty()) break;
      if (!made) return std::nullopt;
      elements.push_back(std::move(*made));
    }
    json::Writer writer;
    writer.begin_array();
    for (const std::string& made : elements) writer.raw(made);
    writer.end_array();
    return writer.take();
  }

  std::optional<std::string> element(const Schemas& schemas, const std::vector<std::string>& others, bool is_unique) {
    if (!is_unique) return value(schemas);
    const std::uint64_t choices = choices_;
    const std::size_t uniqueness = uniqueness_;
    std::optional<std::string> found;
    for (std::size_t attempt = 0; !found && attempt < others.size() + kUniqueTries; ++attempt) {
      // The position itself most likely is a number that no other element had.
      uniqueness_ = (others.size() + attempt) % (others.size() + kUniqueTries);
      choices_ = choices + uniqueness_;
      auto made = value(schemas);
      if (made && std::find(others.begin(), others.end(), *made) == others.end()) found = std::move(made);
    }
    uniqueness_ = uniqueness;
    return found;
  }

  // --- Scalars.

  // Which of the fitting scalars: others for others' uniqueness and, in every third variant, for the sake of `not`.
  std::size_t scalar_number() {
    values_ += uniqueness_ / kUniquenessPerValue;
    return uniqueness_ + (shape_ == 2 ? choose(kScalarChoices) : 0);
  }

  std::optional<std::string> string(const Schemas& all) {
    std::size_t least = 0;
    std::size_t most = kCountCredible;
    std::string_view format;
    std::string_view pattern;
    for (const Value schema : all) {
      least = std::max(least, count_keyword(schema, "minLength", 0));
      most = std::min(most, count_keyword(schema, "maxLength", kCountCredible));
      if (const auto name = keyword(schema, "format", Kind::String)) format = name->string();
      if (const auto expression = keyword(schema, "pattern", Kind::String)) pattern = expression->string();
    }
    if (least > json::kOutputCaps.bytes_max) return std::nullopt;
    const std::size_t number = scalar_number();
    if (!format.empty()) return quoted(format_sample(format, number));
    if (!pattern.empty()) {
      // Longer samples first by what the length asks for, then by the variant.
      for (std::size_t extra = 0; extra <= least + 8; ++extra) {
        const auto sample = pattern_sample(pattern, extra + number);
        if (!sample) return std::nullopt;
        if (sample->size() >= least && sample->size() <= most) return quoted(*sample);
      }
      return std::nullopt;
    }
    std::string text = number > 0 ? fmt::format("{} example", number) : "example";
    if (text.size() > most) text.resize(most);
    for (std::size_t at = 0; text.size() < least; ++at) text += static_cast<char>('a' + at % 26);
    return quoted(text);
  }

  static std::string format_sample(std::string_view format, std::size_t number) {
    const std::size_t n = number % 200;
    if (format == "date") return fmt::format("2026-01-{:02}", n % 28 + 1);
    if (format == "time") return fmt::format("12:{:02}:00Z", n % 60);
    if (format == "date-time") return fmt::format("2026-01-31T12:{:02}:{:02}Z", n / 60, n % 60);
    if (format == "email" || format == "idn-email") return fmt::format("user{}@example.com", n);
    if (format == "hostname") return fmt::format("host{}.example.com", n);
    if (format == "ipv4") return fmt::format("192.0.2.{}", n + 1);
    if (format == "ipv6") return fmt::format("2001:db8::{:x}", n + 1);
    if (format == "uuid") return fmt::format("11111111-1111-4111-8111-{:012}", n);
    if (format == "json-pointer") return fmt::format("/member/{}", n);
    if (format == "relative-json-pointer") return fmt::format("{}/member", n);
    if (format == "uri-template") return fmt::format("https://example.com/{}/{{id}}", n);
    return fmt::format("https://example.com/{}", n);
  }

  std::optional<std::string> number(const Schemas& all, bool is_integer) {
    NumberRules rules;
    rules.is_integer = is_integer;
    for (const Value schema : all) {
      const auto add = [&](std::string_view name, std::vector<std::string>& target) {
        if (const auto bound = keyword(schema, name, Kind::Number)) target.emplace_back(bound->number());
      };
      add("minimum", rules.minimums);
      add("maximum", rules.maximums);
      add("exclusiveMinimum", rules.exclusive_minimums);
      add("exclusiveMaximum", rules.exclusive_maximums);
      add("multipleOf", rules.divisors);
    }
    return fitting_number(rules, scalar_number());
  }

  std::uint64_t choices_;
  std::uint64_t shape_;
  std::size_t uniqueness_ = 0;  // asks scalars to differ from those of lower numbers
  std::size_t values_ = 0;
};

}  // namespace

std::optional<std::string> generate_value(std::string_view schema_text) {
  const auto schema = schema::Schema::compile(schema_text);
  if (!schema) return std::nullopt;
  const auto document = json::Document::parse(std::string(schema_text), json::kSchemaCaps);
  if (!document) return std::nullopt;
  std::size_t values = 0;
  std::uint64_t repetitions = 0;
  for (std::uint64_t number = 0; number < kVariantsMax && values < kValuesOfAllVariantsMax; ++number) {
    if (repetitions == kShapes) break;
    Variant variant(number);
    const auto made = variant.make(document->root());
    values += variant.values();
    repetitions = variant.is_repetition() ? repetitions + 1 : 0;
    if (!made) continue;
    const auto value = json::Document::parse(*made, json::kOutputCaps);
    if (value && schema->is_valid(value->root())) return made;
  }
  return std::nullopt;
}

}  // namespace assay::sim
