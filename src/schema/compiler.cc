#include "schema/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_set>

#include "json/equality.h"
#include "json/hash.h"
#include "schema/admission.h"
#include "schema/keyword.h"
#include "schema/limits.h"
#include "schema/place.h"

namespace assay::schema {
namespace {

constexpr Node kAnything{};
constexpr Node kNothing{.types = 0};

TypeMask bits_of_name(std::string_view name) {
  const auto position = std::ranges::find(kTypeNames, name) - std::begin(kTypeNames);
  const auto bit = static_cast<TypeMask>(1U << static_cast<unsigned>(position));
  return bit == kFractionBit ? kNumberBits : bit;
}

TypeMask type_mask(json::Value type) {
  if (type.is(json::Kind::String)) return bits_of_name(type.string());
  TypeMask mask = 0;
  for (const json::Value name : type.elements()) mask |= bits_of_name(name.string());
  return mask;
}

// More than fits is as good as no value could ever reach.
std::size_t count_of(json::Value number) { return json::to_uint64(number).value_or(kNoLimit); }

// Gathers the names of one object schema before its table is made.
class Names {
 public:
  std::uint32_t intern(std::string_view key) {
    const auto [found, is_new] = positions_.try_emplace(key, static_cast<std::uint32_t>(entries_.size()));
    if (is_new) entries_.push_back({.key = key});
    return found->second;
  }
  PropertyTable::Entry& at(std::uint32_t position) { return entries_[position]; }
  PropertyTable table() { return PropertyTable(std::move(entries_)); }

 private:
  std::unordered_map<std::string_view, std::uint32_t> positions_;
  std::vector<PropertyTable::Entry> entries_;
};

class Compiler {
 public:
  explicit Compiler(Program& program) : program_(program) {}

  const Node* compile(json::Value schema, const Place& place) {
    if (schema.is(json::Kind::Boolean)) return schema.boolean() ? &kAnything : &kNothing;
    Draft draft(program_.nodes.emplace_back());
    for (const json::Member& member : schema.members()) {
      const KeywordInfo& info = *find_keyword(member.key);
      add(draft, info.keyword, member.value, place.member(member.key));
    }
    finish(draft);
    return &draft.node;
  }

  // What searching for the patterns needs. RE2's share their memory.
  std::optional<Refusal> build_patterns() {
    std::uint64_t positions = 0;
    for (const Unbuilt& unbuilt : unbuilt_) {
      program_.re2_patterns += unbuilt.pattern->needs_re2() ? 1 : 0;
      positions += std::min<std::uint64_t>(unbuilt.pattern->positions(), kPatternPositionsMax);
      if (positions > kPatternsPositionsMax) return too_many_positions(unbuilt);
    }
    const auto share =
        kPatternsMemoryBytesMax / static_cast<std::int64_t>(std::max<std::size_t>(program_.re2_patterns, 1));
    for (const Unbuilt& unbuilt : unbuilt_) {
      const auto built = unbuilt.pattern->build(std::min(share, kPatternMemoryBytesMax));
      if (!built) return refusal_of(unbuilt.pointer, built.error());
    }
    return std::nullopt;
  }

 private:
  struct Draft {
    explicit Draft(Node& made) : node(made) {}
    Node& node;
    NumberRules* number = nullptr;
    StringRules* string = nullptr;
    ArrayRules* array = nullptr;
    ObjectRules* object = nullptr;
    Branches* branches = nullptr;
    Names names;
    const Node* items = nullptr;
    bool items_are_tuple = false;
    const Node* additional_items = nullptr;
    const Node* condition = nullptr;
  };

  struct Unbuilt {
    Pattern* pattern;
    std::string pointer;
  };

  static Refusal refusal_of(std::string pointer, const PatternError& error) {
    if (error.too_complex) {
      return make_refusal(RefusalCode::PatternTooComplex, std::move(pointer),
                          "the pattern is too complex: " + error.reason);
    }
    return make_refusal(RefusalCode::UnsupportedPattern, std::move(pointer),
                        "the pattern is no RE2 expression (no look-around, no back-references): " + error.reason);
  }

  static Refusal too_many_positions(const Unbuilt& unbuilt) {
    return refusal_of(unbuilt.pointer,
                      {.too_complex = true,
                       .reason = fmt::format("all patterns together have more than {} characters and classes",
                                             kPatternsPositionsMax)});
  }

  template <class Rules>
  static Rules& made(Rules*& rules, std::deque<Rules>& store) {
    if (rules == nullptr) rules = &store.emplace_back();
    return *rules;
  }
  NumberRules& number(Draft& draft) { return made(draft.number, program_.numbers); }
  StringRules& string(Draft& draft) { return made(draft.string, program_.strings); }
  ArrayRules& array(Draft& draft) { return made(draft.array, program_.arrays); }
  ObjectRules& object(Draft& draft) { return made(draft.object, program_.objects); }
  Branches& branches(Draft& draft) { return made(draft.branches, program_.branches); }

  void add(Draft& draft, Keyword keyword, json::Value value, const Place& place) {
    switch (keyword) {
      case Keyword::Type:
        draft.node.types = type_mask(value);
        return;
      case Keyword::Enum:
        draft.node.enumeration = &value_set(value, false);
        return;
      case Keyword::Const:
        draft.node.constant = &value_set(value, true);
        return;
      case Keyword::MultipleOf:
        number(draft).multiple_of.emplace(value.number());
        return;
      case Keyword::Maximum:
        number(draft).maximum.emplace(value.number());
        return;
      case Keyword::ExclusiveMaximum:
        number(draft).exclusive_maximum.emplace(value.number());
        return;
      case Keyword::Minimum:
        number(draft).minimum.emplace(value.number());
        return;
      case Keyword::ExclusiveMinimum:
        number(draft).exclusive_minimum.emplace(value.number());
        return;
      case Keyword::MaxLength:
        string(draft).code_points.max = count_of(value);
        return;
      case Keyword::MinLength:
        string(draft).code_points.min = count_of(value);
        return;
      case Keyword::Pattern:
        string(draft).pattern = pattern(value.string(), place);
        return;
      case Keyword::Format:
        string(draft).format = find_format(value.string());
        return;
      case Keyword::MaxItems:
        array(draft).count.max = count_of(value);
        return;
      case Keyword::MinItems:
        array(draft).count.min = count_of(value);
        return;
      case Keyword::UniqueItems:
        array(draft).unique = value.boolean();
        return;
      case Keyword::MaxProperties:
        object(draft).count.max = count_of(value);
        return;
      case Keyword::MinProperties:
        object(draft).count.min = count_of(value);
        return;
      case Keyword::Required:
        add_required(draft, value);
        return;
      default:
        return add_applicator(draft, keyword, value, place);
    }
  }

  void add_applicator(Draft& draft, Keyword keyword, json::Value value, const Place& place) {
    switch (keyword) {
      case Keyword::Items:
        return add_items(draft, value, place);
      case Keyword::AdditionalItems:
        draft.additional_items = compile(value, place);
        return;
      case Keyword::Contains:
        array(draft).contains_source = value;
        array(draft).contains = compile(value, place);
        return;
      case Keyword::Properties:
        return add_properties(draft, value, place);
      case Keyword::PatternProperties:
        return add_pattern_properties(draft, value, place);
      case Keyword::AdditionalProperties:
        object(draft).additional = compile(value, place);
        return;
      case Keyword::Dependencies:
        return add_dependencies(draft, value, place);
      case Keyword::PropertyNames:
        object(draft).names = compile(value, place);
        return;
      case Keyword::If:
        draft.condition = compile(value, place);
        return;
      case Keyword::Then:
        branches(draft).consequence = compile(value, place);
        return;
      case Keyword::Else:
        branches(draft).alternative = compile(value, place);
        return;
      case Keyword::AllOf:
        return compile_all(value, place, branches(draft).all_of);
      case Keyword::AnyOf:
        return compile_all(value, place, branches(draft).any_of);
      case Keyword::OneOf:
        return compile_all(value, place, branches(draft).one_of);
      case Keyword::Not:
        branches(draft).negated_source = value;
        branches(draft).negated = compile(value, place);
        return;
      default:
        return;  // annotations
    }
  }

  void compile_all(json::Value schemas, const Place& place, std::vector<const Node*>& nodes) {
    std::size_t index = 0;
    nodes.reserve(schemas.size());
    for (const json::Value schema : schemas.elements()) {
      nodes.push_back(compile(schema, place.element(index++)));
    }
  }

  const Pattern* pattern(std::string_view expression, const Place& place) {
    const auto [known, is_new] = program_.patterns.try_emplace(expression, expression);
    Pattern& pattern = known->second;
    if (is_new && !pattern.is_simple()) unbuilt_.push_back({&pattern, refusal_pointer(place)});
    return &pattern;
  }

  void add_items(Draft& draft, json::Value value, const Place& place) {
    draft.items_are_tuple = value.is(json::Kind::Array);
    if (draft.items_are_tuple) {
      compile_all(value, place, array(draft).tuple);
    } else {
      draft.items = compile(value, place);
    }
  }

  void add_required(Draft& draft, json::Value names) {
    for (const json::Value name : names.elements()) {
      draft.names.at(draft.names.intern(name.string())).required = true;
    }
    object(draft).required_count = names.size();
  }

  void add_properties(Draft& draft, json::Value properties, const Place& place) {
    object(draft);
    for (const json::Member& member : properties.members()) {
      const Node* child = compile(member.value, place.member(member.key));
      draft.names.at(draft.names.intern(member.key)).child = child;
    }
  }

  void add_pattern_properties(Draft& draft, json::Value properties, const Place& place) {
    for (const json::Member& member : properties.members()) {
      const Place here = place.member(member.key);
      const Node* child = compile(member.value, here);
      object(draft).patterns.push_back({pattern(member.key, here), child});
    }
  }

  void add_dependencies(Draft& draft, json::Value dependencies, const Place& place) {
    for (const json::Member& member : dependencies.members()) {
      Dependency dependency{.trigger = draft.names.intern(member.key), .required = {}};
      if (member.value.is(json::Kind::Array)) {
        for (const json::Value name : member.value.elements()) {
          dependency.required.push_back(draft.names.intern(name.string()));
        }
      } else {
        dependency.node = compile(member.value, place.member(member.key));
      }
      object(draft).dependencies.push_back(std::move(dependency));
    }
  }

  const ValueSet& value_set(json::Value source, bool is_const) {
    ValueSet& set = program_.value_sets.emplace_back();
    set.is_const = is_const;
    set.source = source;
    std::unordered_set<std::string_view> strings;
    if (is_const) {
      add_value(set, strings, source);
    } else {
      for (const json::Value value : source.elements()) add_value(set, strings, value);
    }
    std::vector<PropertyTable::Entry> entries;
    for (const std::string_view text : strings) entries.push_back({.key = text});
    set.strings = PropertyTable(std::move(entries));
    std::ranges::sort(set.numbers);
    std::ranges::sort(set.containers, {}, &ValueSet::Container::hash);
    return set;
  }

  static void add_value(ValueSet& set, std::unordered_set<std::string_view>& strings, json::Value value) {
    set.kinds |= bits_of(value.kind());
    switch (value.kind()) {
      case json::Kind::Null:
        set.has_null = true;
        return;
      case json::Kind::Boolean:
        (value.boolean() ? set.has_true : set.has_false) = true;
        return;
      case json::Kind::Number:
        set.numbers.push_back(exact(value.number()));
        return;
      case json::Kind::String:
        strings.insert(value.string());
        return;
      case json::Kind::Array:
      case json::Kind::Object:
        set.containers.push_back({json::hash(value, json::process_seed()), value});
        return;
    }
  }

  static void add_name(NameBits& bits, std::size_t position) {
    bits[position / 64] |= std::uint64_t{1} << (position % 64);
  }

  // What depends on several keywords of one schema.
  void finish(Draft& draft) {
    if (draft.items != nullptr || draft.items_are_tuple) {
      array(draft).rest = draft.items_are_tuple ? draft.additional_items : draft.items;
    }
    if (draft.object != nullptr) {
      ObjectRules& rules = *draft.object;
      if (rules.additional != nullptr && rules.additional->allows_all()) rules.additional = nullptr;
      rules.properties = draft.names.table();
      const std::size_t names = rules.properties.entries().size();
      rules.required.resize((names + 63) / 64);
      for (std::size_t i = 0; i < names; ++i) {
        if (rules.properties.entries()[i].required) add_name(rules.required, i);
      }
      rules.triggers.resize(rules.required.size());
      for (const Dependency& dependency : rules.dependencies) add_name(rules.triggers, dependency.trigger);
      std::ranges::sort(rules.dependencies, {}, &Dependency::trigger);
      rules.says_more_of_properties = !rules.patterns.empty() || rules.names != nullptr;
      rules.has_more_than_properties = rules.says_more_of_properties || rules.additional != nullptr;
      rules.has_additional_alone =
          rules.properties.entries().empty() && !rules.says_more_of_properties && rules.additional != nullptr;
    }
    if (draft.branches != nullptr) draft.branches->condition = draft.condition;
    if (draft.number != nullptr) {
      NumberRules& rules = *draft.number;
      const auto is_long = [](const auto& bound) { return bound && bound->is_long(); };
      rules.is_long = is_long(rules.minimum) || is_long(rules.exclusive_minimum) || is_long(rules.maximum) ||
                      is_long(rules.exclusive_maximum) || is_long(rules.multiple_of);
    }
    Node& node = draft.node;
    node.number = draft.number;
    node.string = draft.string;
    node.array = draft.array;
    node.object = draft.object;
    node.branches = draft.branches;
    node.types_only = node.constant == nullptr && node.enumeration == nullptr && node.number == nullptr &&
                      node.string == nullptr && node.array == nullptr && node.object == nullptr &&
                      node.branches == nullptr;
  }

  Program& program_;
  std::vector<Unbuilt> unbuilt_;
};

}  // namespace

Result<std::shared_ptr<const Program>, Refusal> compile_program(json::Document document) {
  auto program = std::make_shared<Program>(std::move(document));
  Compiler compiler(*program);
  program->root = compiler.compile(program->document.root(), Place::root());
  if (auto refusal = compiler.build_patterns()) return fail(std::move(*refusal));
  return program;
}

}  // namespace assay::schema
