#include "tests/reference/tree.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "json/writer.h"

namespace assay::reference {
namespace {

constexpr std::array<std::string_view, 24> kScalars = {"null",
                                                       "true",
                                                       "false",
                                                       "0",
                                                       "-0.0",
                                                       "1",
                                                       "1.0",
                                                       "10e-1",
                                                       "2",
                                                       "-1",
                                                       "0.1",
                                                       "0.3",
                                                       "1e2",
                                                       "100",
                                                       "1.5",
                                                       "9007199254740993",
                                                       "9007199254740992",
                                                       "\"\"",
                                                       "\"a\"",
                                                       "\"\\u0061\"",
                                                       "\"ab\"",
                                                       "\"abc\"",
                                                       "\"\\ud83d\\udc32\"",
                                                       "\"1\""};
constexpr std::array<std::string_view, 6> kKeys = {"\"a\"", "\"b\"", "\"c\"", "\"ab\"", "\"x1\"", "\"\""};
constexpr std::array<std::string_view, 8> kPatterns = {"\"a\"",       "\"^a\"", "\"b$\"", "\"^[a-c]+$\"",
                                                       "\"^x[0-9]\"", "\"\"",   "\"^$\"", "\"(a|b)c?$\""};
constexpr std::array<std::string_view, 9> kTypes = {"\"null\"",
                                                    "\"boolean\"",
                                                    "\"integer\"",
                                                    "\"number\"",
                                                    "\"string\"",
                                                    "\"array\"",
                                                    "\"object\"",
                                                    "[\"string\",\"null\"]",
                                                    "[\"integer\",\"array\",\"object\"]"};
constexpr std::array<std::string_view, 8> kBounds = {"0", "1", "1.0", "1.5", "-1", "1e2", "9007199254740992", "0.2"};
constexpr std::array<std::string_view, 5> kDivisors = {"1", "0.1", "2", "1.5", "1e-3"};
constexpr std::array<std::string_view, 4> kCounts = {"0", "1", "2", "3.0"};

template <std::size_t Size>
std::string pick(SeededRandom& random, const std::array<std::string_view, Size>& pool) {
  return std::string(pool[random.below(Size)]);
}

std::string quoted_key(std::string_view key) {
  json::Writer writer;
  writer.string(key);
  return writer.take();
}

Tree scalar(std::string literal) {
  Tree tree;
  const char first = literal.front();
  tree.kind = first == 'n'                   ? json::Kind::Null
              : first == 't' || first == 'f' ? json::Kind::Boolean
              : first == '"'                 ? json::Kind::String
                                             : json::Kind::Number;
  tree.literal = std::move(literal);
  return tree;
}

void add_child(SeededRandom& random, Tree& container, Tree child) {
  if (container.kind == json::Kind::Object) {
    std::string key = pick(random, kKeys);
    if (std::ranges::find(container.keys, key) != container.keys.end()) return;
    container.keys.push_back(std::move(key));
  }
  container.children.push_back(std::move(child));
}

void remove_child(Tree& container, std::uint64_t position) {
  const auto offset = static_cast<std::ptrdiff_t>(position);
  container.children.erase(container.children.begin() + offset);
  if (container.kind == json::Kind::Object) container.keys.erase(container.keys.begin() + offset);
}

std::string joined(SeededRandom& random, const auto& make) {
  std::string text;
  const std::uint64_t count = 1 + random.below(3);
  for (std::uint64_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + make();
  return text;
}

// Members with distinct keys from the pool.
template <std::size_t Size>
std::string map_of(SeededRandom& random, const std::array<std::string_view, Size>& keys, const auto& make) {
  std::string text;
  for (const std::string_view key : keys) {
    if (random.below(3) != 0) continue;
    text += (text.empty() ? "" : ",") + std::string(key) + ":" + make();
  }
  return "{" + text + "}";
}

std::string names(SeededRandom& random) {
  std::string text;
  for (const std::string_view key : kKeys) {
    if (random.below(4) == 0) text += (text.empty() ? "" : ",") + std::string(key);
  }
  return "[" + text + "]";
}

std::string random_assertion(SeededRandom& random) {
  switch (random.below(17)) {
    case 0:
      return "\"minimum\":" + pick(random, kBounds);
    case 1:
      return "\"maximum\":" + pick(random, kBounds);
    case 2:
      return "\"exclusiveMinimum\":" + pick(random, kBounds);
    case 3:
      return "\"exclusiveMaximum\":" + pick(random, kBounds);
    case 4:
      return "\"multipleOf\":" + pick(random, kDivisors);
    case 5:
      return "\"minLength\":" + pick(random, kCounts);
    case 6:
      return "\"maxLength\":" + pick(random, kCounts);
    case 7:
      return "\"minItems\":" + pick(random, kCounts);
    case 8:
      return "\"maxItems\":" + pick(random, kCounts);
    case 9:
      return "\"minProperties\":" + pick(random, kCounts);
    case 10:
      return "\"maxProperties\":" + pick(random, kCounts);
    case 11:
      return "\"pattern\":" + pick(random, kPatterns);
    case 12:
      return "\"uniqueItems\":true";
    case 13:
      return "\"required\":" + names(random);
    case 14:
      return "\"const\":" + print(random_value(random, 2));
    case 15:
      return "\"enum\":[" + joined(random, [&] { return print(random_value(random, 2)); }) + "]";
    default:
      return "\"type\":" + pick(random, kTypes);
  }
}

std::string random_applicator(SeededRandom& random, int depth) {
  const auto schema = [&] { return random_schema(random, depth - 1); };
  switch (random.below(15)) {
    case 0:
      return "\"items\":" + schema();
    case 1:
      return "\"items\":[" + joined(random, schema) + "],\"additionalItems\":" + schema();
    case 2:
      return "\"additionalItems\":" + schema();
    case 3:
      return "\"contains\":" + schema();
    case 4:
      return "\"properties\":" + map_of(random, kKeys, schema) + ",\"additionalProperties\":" + schema();
    case 5:
      return "\"properties\":" + map_of(random, kKeys, schema);
    case 6:
      return "\"patternProperties\":" + map_of(random, kPatterns, schema) + ",\"additionalProperties\":" + schema();
    case 7:
      return "\"additionalProperties\":" + schema();
    case 8:
      return "\"propertyNames\":" + schema();
    case 9:
      return "\"dependencies\":" +
             map_of(random, kKeys, [&] { return random.below(2) == 0 ? names(random) : schema(); });
    case 10:
      return "\"if\":" + schema() + ",\"then\":" + schema() + (random.below(2) == 0 ? ",\"else\":" + schema() : "");
    case 11:
      return "\"allOf\":[" + joined(random, schema) + "]";
    case 12:
      return "\"anyOf\":[" + joined(random, schema) + "]";
    case 13:
      return "\"oneOf\":[" + joined(random, schema) + "]";
    default:
      return "\"not\":" + schema();
  }
}

std::string name_of(const std::string& member) { return member.substr(0, member.find(':')); }

}  // namespace

Tree read_tree(json::Value value) {
  Tree tree;
  tree.kind = value.kind();
  if (value.is(json::Kind::Array)) {
    for (const json::Value element : value.elements()) tree.children.push_back(read_tree(element));
  } else if (value.is(json::Kind::Object)) {
    for (const json::Member& member : value.members()) {
      tree.keys.push_back(quoted_key(member.key));
      tree.children.push_back(read_tree(member.value));
    }
  } else {
    tree.literal = value.raw();
  }
  return tree;
}

std::string print(const Tree& tree) {
  if (tree.kind < json::Kind::Array) return tree.literal;
  const bool is_object = tree.kind == json::Kind::Object;
  std::string text(1, is_object ? '{' : '[');
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    if (i > 0) text += ',';
    if (is_object) text += tree.keys[i] + ':';
    text += print(tree.children[i]);
  }
  return text += is_object ? '}' : ']';
}

Tree random_value(SeededRandom& random, int depth) {
  if (depth == 0 || random.below(3) == 0) return scalar(pick(random, kScalars));
  Tree tree;
  tree.kind = random.below(2) == 0 ? json::Kind::Array : json::Kind::Object;
  const std::uint64_t count = random.below(4);
  for (std::uint64_t i = 0; i < count; ++i) add_child(random, tree, random_value(random, depth - 1));
  return tree;
}

void mutate(SeededRandom& random, Tree& tree) {
  if (!tree.children.empty() && random.below(4) != 0) {
    mutate(random, tree.children[random.below(tree.children.size())]);
    return;
  }
  const bool is_container = tree.kind >= json::Kind::Array;
  const std::uint64_t choice = random.below(4);
  if (is_container && choice == 0) {
    add_child(random, tree, random_value(random, 1));
  } else if (is_container && choice == 1 && !tree.children.empty()) {
    remove_child(tree, random.below(tree.children.size()));
  } else if (tree.kind == json::Kind::Number && choice < 2 && tree.literal.find_first_of(".eE") == std::string::npos) {
    tree.literal += choice == 0 || tree.literal == "0" ? ".0" : "0e-1";
  } else {
    tree = random_value(random, 1);
  }
}

std::string random_schema(SeededRandom& random, int depth) {
  if (random.below(8) == 0) return random.below(3) == 0 ? "false" : "true";
  std::vector<std::string> members;
  const std::uint64_t assertions = random.below(3);
  for (std::uint64_t i = 0; i < assertions; ++i) members.push_back(random_assertion(random));
  const std::uint64_t applicators = depth > 0 ? random.below(3) : 0;
  for (std::uint64_t i = 0; i < applicators; ++i) members.push_back(random_applicator(random, depth));
  std::string text;
  std::string seen;
  for (const std::string& member : members) {
    if (seen.find(name_of(member)) != std::string::npos) continue;
    seen += member;  // names of later members must not stand in earlier ones, nested ones included: simple and enough
    text += (text.empty() ? "" : ",") + member;
  }
  return "{" + text + "}";
}

}  // namespace assay::reference
