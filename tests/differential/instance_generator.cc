#include <algorithm>
#include <set>

#include "sim/value_generator.h"
#include "tests/differential/pools.h"
#include "tests/differential/schema_generator.h"
#include "tests/reference/tree.h"

namespace assay::differential {
namespace {

using json::Kind;
using reference::Tree;

std::string_view pick(SeededRandom& random, auto& pool) { return pool[random.below(std::size(pool))]; }

Tree parsed(const std::string& text) {
  const auto document = json::Document::parse(text, json::Caps{});
  return reference::read_tree(document->root());
}

bool is_plain_integer(std::string_view literal) { return literal.find_first_of(".eE") == std::string_view::npos; }

// The same number, spelled in another way, or its next neighbour beyond what a double tells apart.
std::string respelled(SeededRandom& random, const std::string& literal) {
  const bool has_exponent = literal.find_first_of("eE") != std::string::npos;
  switch (random.below(4)) {
    case 0:
      return is_plain_integer(literal) ? literal + ".0" : has_exponent ? literal : literal + "0";
    case 1:
      return has_exponent ? literal : literal + "e0";
    case 2:
      return is_plain_integer(literal) ? literal + ".00000000000000000000000001"
             : has_exponent            ? literal
                                       : literal + "0000000000000001";
    default:
      return is_plain_integer(literal) ? literal + "0e-1" : literal;
  }
}

class InstanceWriter {
 public:
  InstanceWriter(SeededRandom& random, json::Value schema) : random_(random) { collect(schema); }

  std::string fresh() {
    if (has_pattern_ && random_.below(2) == 0) return std::string(pick(random_, kStrings));
    if (!mentioned_.empty() && random_.below(2) == 0) return mentioned();
    return value(random_, 2);
  }

  // One small change somewhere.
  void change(Tree& tree) {
    if (!tree.children.empty() && random_.below(3) != 0)
      return change(tree.children[random_.below(tree.children.size())]);
    const std::uint64_t choice = random_.below(4);
    if (tree.kind == Kind::Number && choice < 2) {
      tree.literal = respelled(random_, tree.literal);
    } else if (tree.kind == Kind::Array && choice == 0) {
      tree.children.push_back(parsed(fresh()));
    } else if (tree.kind == Kind::Array && choice == 1 && !tree.children.empty()) {
      Tree again = tree.children[random_.below(tree.children.size())];  // nearly, or wholly, the same element twice
      if (random_.below(2) == 0) change(again);
      tree.children.push_back(std::move(again));
    } else if (tree.kind == Kind::Object && choice == 0) {
      add_member(tree, std::string(pick(random_, kKeys)));
    } else if (tree.kind == Kind::Object && choice == 1 && !tree.children.empty()) {
      const auto position = static_cast<std::ptrdiff_t>(random_.below(tree.children.size()));
      tree.children.erase(tree.children.begin() + position);
      tree.keys.erase(tree.keys.begin() + position);
    } else if (tree.kind == Kind::Object && choice == 2) {
      std::ranges::reverse(tree.children);
      std::ranges::reverse(tree.keys);
    } else {
      tree = parsed(fresh());
    }
  }

 private:
  std::string mentioned() { return mentioned_[random_.below(mentioned_.size())]; }

  void add_member(Tree& object, std::string key) {
    const auto text_of = [](const std::string& name) { return std::string(parsed(name).literal); };
    if (std::ranges::any_of(object.keys, [&](const std::string& other) { return text_of(other) == text_of(key); }))
      return;
    object.keys.push_back(std::move(key));
    object.children.push_back(parsed(fresh()));
  }

  // Whatever a schema says literally may be what an instance should be.
  void collect(json::Value part) {
    if (!part.is(Kind::Boolean)) mentioned_.emplace_back(part.raw());
    if (part.is(Kind::Array)) {
      for (const json::Value element : part.elements()) collect(element);
    } else if (part.is(Kind::Object)) {
      for (const json::Member& member : part.members()) {
        has_pattern_ = has_pattern_ || member.key == "pattern";
        if (member.key != "type" && member.key != "pattern") collect(member.value);
      }
    }
  }

  SeededRandom& random_;
  std::vector<std::string> mentioned_;
  bool has_pattern_ = false;
};

}  // namespace

std::string value(SeededRandom& random, int depth) {
  if (depth == 0 || random.below(3) == 0) {
    switch (random.below(8)) {
      case 0:
        return "null";
      case 1:
        return random.below(2) == 0 ? "true" : "false";
      case 2:
      case 3:
      case 4:
        return std::string(pick(random, kNumbers));
      default:
        return std::string(pick(random, kStrings));
    }
  }
  const bool is_object = random.below(2) == 0;
  std::set<std::string_view> keys;
  std::string text;
  for (std::uint64_t left = random.below(4); left > 0; --left) {
    std::string member;
    if (is_object) {
      const std::string_view key = pick(random, kKeys);
      if (!keys.insert(key).second) continue;
      member = std::string(key) + ":";
    }
    text += (text.empty() ? "" : ",") + member + value(random, depth - 1);
  }
  return is_object ? "{" + text + "}" : "[" + text + "]";
}

std::vector<std::string> nasty_instances(SeededRandom& random, json::Value schema, std::size_t count) {
  InstanceWriter writer(random, schema);
  std::vector<std::string> instances;
  const auto add = [&](std::string text) {
    if (json::Document::parse(text, json::kOutputCaps)) instances.push_back(std::move(text));
  };
  if (auto fitting = sim::generate_value(schema.raw())) add(std::move(*fitting));
  Tree tree = parsed(instances.empty() ? writer.fresh() : instances.front());
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 4 == 3) tree = parsed(i % 8 == 3 || instances.empty() ? writer.fresh() : instances.front());
    writer.change(tree);
    add(reference::print(tree));
  }
  return instances;
}

}  // namespace assay::differential
