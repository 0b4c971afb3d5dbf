#include "tests/reference/evaluator.h"

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "tests/reference/number.h"

namespace assay::reference {
namespace {

using json::Kind;
using json::Value;

struct Unsupported {};

// An instance that may be a property name, which is no value of a document.
struct Instance {
  std::optional<Value> value;
  std::string_view name;

  [[nodiscard]] Kind kind() const { return value ? value->kind() : Kind::String; }
  [[nodiscard]] std::string_view string() const { return value ? value->string() : name; }
};

Instance of(Value value) { return {.value = value, .name = {}}; }

std::vector<Value> elements(Value array) {
  std::vector<Value> all;
  for (const Value element : array.elements()) all.push_back(element);
  return all;
}

std::optional<Value> member(Value object, std::string_view key) {
  for (const json::Member& each : object.members()) {
    if (each.key == key) return each.value;
  }
  return std::nullopt;
}

bool is_in_set(Value known, const Instance& instance) {
  if (instance.value) return is_equal(known, *instance.value);
  return known.is(Kind::String) && known.string() == instance.name;
}

bool has_type(std::string_view name, const Instance& instance) {
  switch (instance.kind()) {
    case Kind::Null:
      return name == "null";
    case Kind::Boolean:
      return name == "boolean";
    case Kind::Number:
      return name == "number" || (name == "integer" && is_integer(read_number(instance.value->number())));
    case Kind::String:
      return name == "string";
    case Kind::Array:
      return name == "array";
    case Kind::Object:
      return name == "object";
  }
  return false;
}

std::string count_literal(std::size_t count) { return std::to_string(count); }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

// std::regex matches bytes and has its own idea of lines.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

bool found(std::string_view pattern, std::string_view text) {
  if (!is_plain(pattern) || !is_plain(text)) throw Unsupported{};
  try {
    return std::regex_search(std::string(text), std::regex(std::string(pattern), std::regex::ECMAScript));
  } catch (const std::regex_error&) {
    throw Unsupported{};
  }
}

bool judge(Value schema, const Instance& instance);

bool all_hold(Value schemas, const Instance& instance) {
  return std::ranges::all_of(elements(schemas), [&](Value schema) { return judge(schema, instance); });
}

std::ptrdiff_t holding(Value schemas, const Instance& instance) {
  return std::ranges::count_if(elements(schemas), [&](Value schema) { return judge(schema, instance); });
}

bool judge_number(std::string_view keyword, Value argument, const Instance& instance) {
  if (instance.kind() != Kind::Number) return true;
  const Number number = read_number(instance.value->number());
  const Number bound = read_number(argument.number());
  if (keyword == "multipleOf") return is_multiple(number, bound);
  const int order = compare(number, bound);
  if (keyword == "minimum") return order >= 0;
  if (keyword == "exclusiveMinimum") return order > 0;
  if (keyword == "maximum") return order <= 0;
  return order < 0;
}

bool judge_count(std::string_view keyword, Value argument, const Instance& instance) {
  std::size_t count = 0;
  if (keyword.ends_with("Length")) {
    if (instance.kind() != Kind::String) return true;
    count = characters(instance.string());
  } else {
    if (instance.kind() != (keyword.ends_with("Items") ? Kind::Array : Kind::Object)) return true;
    count = instance.value->size();
  }
  const int order = compare(read_number(count_literal(count)), read_number(argument.number()));
  return keyword.starts_with("min") ? order >= 0 : order <= 0;
}

bool judge_array(Value schema, std::string_view keyword, Value argument, const Instance& instance) {
  if (instance.kind() != Kind::Array) return true;
  const std::vector<Value> values = elements(*instance.value);
  if (keyword == "uniqueItems") {
    for (std::size_t i = 0; argument.boolean() && i < values.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (is_equal(values[i], values[j])) return false;
      }
    }
    return true;
  }
  if (keyword == "contains")
    return std::ranges::any_of(values, [&](Value value) { return judge(argument, of(value)); });
  if (keyword == "items" && !argument.is(Kind::Array)) {
    return std::ranges::all_of(values, [&](Value value) { return judge(argument, of(value)); });
  }
  if (keyword == "items") {
    const std::vector<Value> schemas = elements(argument);
    for (std::size_t i = 0; i < std::min(schemas.size(), values.size()); ++i) {
      if (!judge(schemas[i], of(values[i]))) return false;
    }
    return true;
  }
  const std::optional<Value> items = member(schema, "items");  // additionalItems
  if (!items || !items->is(Kind::Array)) return true;
  return std::ranges::all_of(values.begin() + static_cast<std::ptrdiff_t>(std::min(items->size(), values.size())),
                             values.end(), [&](Value value) { return judge(argument, of(value)); });
}

bool is_covered(Value schema, std::string_view key) {
  if (const auto properties = member(schema, "properties"); properties && member(*properties, key)) return true;
  const auto patterns = member(schema, "patternProperties");
  if (!patterns) return false;
  bool covered = false;
  for (const json::Member& pattern : patterns->members()) covered = found(pattern.key, key) || covered;
  return covered;
}

bool judge_dependency(Value dependency, const Instance& instance) {
  if (!dependency.is(Kind::Array)) return judge(dependency, instance);
  return std::ranges::all_of(elements(dependency),
                             [&](Value name) { return member(*instance.value, name.string()).has_value(); });
}

bool judge_object(Value schema, std::string_view keyword, Value argument, const Instance& instance) {
  if (instance.kind() != Kind::Object) return true;
  const Value object = *instance.value;
  if (keyword == "required") {
    return std::ranges::all_of(elements(argument),
                               [&](Value name) { return member(object, name.string()).has_value(); });
  }
  if (keyword == "dependencies") {
    bool ok = true;
    for (const json::Member& each : argument.members()) {
      ok = ok && (!member(object, each.key) || judge_dependency(each.value, instance));
    }
    return ok;
  }
  bool ok = true;
  for (const json::Member& each : object.members()) {
    if (keyword == "properties") {
      const auto child = member(argument, each.key);
      ok = ok && (!child || judge(*child, of(each.value)));
    } else if (keyword == "patternProperties") {
      for (const json::Member& pattern : argument.members()) {
        ok = ok && (!found(pattern.key, each.key) || judge(pattern.value, of(each.value)));
      }
    } else if (keyword == "additionalProperties") {
      ok = ok && (is_covered(schema, each.key) || judge(argument, of(each.value)));
    } else {
      ok = ok && judge(argument, Instance{.value = {}, .name = each.key});  // propertyNames
    }
  }
  return ok;
}

bool judge_type(Value argument, const Instance& instance) {
  if (argument.is(Kind::String)) return has_type(argument.string(), instance);
  return std::ranges::any_of(elements(argument), [&](Value name) { return has_type(name.string(), instance); });
}

bool is_one_of(std::string_view keyword, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, keyword) != names.end();
}

bool judge_keyword(Value schema, std::string_view keyword, Value argument, const Instance& instance) {
  if (keyword == "type") return judge_type(argument, instance);
  if (keyword == "const") return is_in_set(argument, instance);
  if (keyword == "enum") {
    return std::ranges::any_of(elements(argument), [&](Value known) { return is_in_set(known, instance); });
  }
  if (keyword == "allOf") return all_hold(argument, instance);
  if (keyword == "anyOf") return holding(argument, instance) > 0;
  if (keyword == "oneOf") return holding(argument, instance) == 1;
  if (keyword == "not") return !judge(argument, instance);
  if (keyword == "if") {
    const auto chosen = member(schema, judge(argument, instance) ? "then" : "else");
    return !chosen || judge(*chosen, instance);
  }
  if (keyword == "pattern") return instance.kind() != Kind::String || found(argument.string(), instance.string());
  if (keyword == "format") throw Unsupported{};
  if (is_one_of(keyword, {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})) {
    return judge_number(keyword, argument, instance);
  }
  if (is_one_of(keyword, {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})) {
    return judge_count(keyword, argument, instance);
  }
  if (is_one_of(keyword, {"items", "additionalItems", "contains", "uniqueItems"})) {
    return judge_array(schema, keyword, argument, instance);
  }
  if (is_one_of(keyword, {"required", "properties", "patternProperties", "additionalProperties", "propertyNames",
                          "dependencies"})) {
    return judge_object(schema, keyword, argument, instance);
  }
  return true;  // annotations; then and else, which `if` has judged
}

bool judge(Value schema, const Instance& instance) {
  if (schema.is(Kind::Boolean)) return schema.boolean();
  bool ok = true;
  for (const json::Member& each : schema.members()) ok = judge_keyword(schema, each.key, each.value, instance) && ok;
  return ok;
}

}  // namespace

bool is_equal(Value left, Value right) {
  if (left.kind() != right.kind()) return false;
  switch (left.kind()) {
    case Kind::Null:
      return true;
    case Kind::Boolean:
      return left.boolean() == right.boolean();
    case Kind::Number:
      return compare(read_number(left.number()), read_number(right.number())) == 0;
    case Kind::String:
      return left.string() == right.string();
    case Kind::Array:
      return std::ranges::equal(elements(left), elements(right), is_equal);
    case Kind::Object:
      break;
  }
  if (left.size() != right.size()) return false;
  bool same = true;
  for (const json::Member& each : left.members()) {
    const auto other = member(right, each.key);
    same = same && other && is_equal(each.value, *other);
  }
  return same;
}

std::optional<bool> is_valid(Value schema, Value instance) {
  try {
    return judge(schema, of(instance));
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

}  // namespace assay::reference
