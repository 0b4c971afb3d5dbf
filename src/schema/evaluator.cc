#include "schema/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "json/equality.h"
#include "json/hash.h"
#include "schema/budget.h"
#include "schema/excerpt.h"
#include "schema/issues.h"
#include "schema/limits.h"
#include "schema/place.h"

namespace assay::schema {
namespace {

constexpr std::uint64_t text_units(std::size_t bytes) { return bytes / 16; }

// Reading a literal that is no short integer as a decimal, and comparing it some times.
constexpr std::uint64_t decimal_units(std::size_t bytes) { return 10 + bytes / 8; }
// Dividing one by a multipleOf; and where both are short.
constexpr std::uint64_t kShortDivisionUnits = 3;
constexpr std::uint64_t division_units(std::size_t bytes) { return 4 + bytes; }
// Hashing a value for equality.
std::uint64_t hash_units(json::Value value) { return value.node_count() * 5 + value.raw().size() / 16; }
// Spelling out an issue, but for the longest ones.
constexpr std::uint64_t kIssueUnits = 80;

// Stands in for Place where nobody asks where a fault lies.
struct Nowhere {
  [[nodiscard]] Nowhere member(std::string_view) const { return {}; }
  [[nodiscard]] Nowhere element(std::size_t) const { return {}; }
};

// A property name as an instance: what propertyNames applies to.
struct Name {
  std::string_view text;
  [[nodiscard]] static json::Kind kind() { return json::Kind::String; }
  [[nodiscard]] std::string_view string() const { return text; }
};

// Which entries of a property table an object has.
class Presence {
 public:
  explicit Presence(std::size_t entries) {
    if (entries > inline_.size() * 64) overflow_.resize((entries + 63) / 64);
    words_ = overflow_.empty() ? inline_.data() : overflow_.data();
  }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  void set(std::uint32_t position) { words_[position / 64] |= std::uint64_t{1} << (position % 64); }
  [[nodiscard]] bool has(std::uint32_t position) const { return (words_[position / 64] >> (position % 64) & 1U) != 0; }

  // Calls visit(position) for each of the names that is present, or is not; visit returns false to stop.
  template <class Visit>
  void for_each_of(const NameBits& names, bool present, const Visit& visit) const {
    for (std::size_t word = 0; word < names.size(); ++word) {
      for (std::uint64_t bits = names[word] & (present ? words_[word] : ~words_[word]); bits != 0; bits &= bits - 1) {
        if (!visit(static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))))) return;
      }
    }
  }

 private:
  std::array<std::uint64_t, 4> inline_{};
  std::vector<std::uint64_t> overflow_;
  std::uint64_t* words_;
};

bool is_within(std::size_t count, const CountRange& range) { return count >= range.min && count <= range.max; }

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

// Counts only where the number of bytes leaves it open.
bool has_length_within(std::string_view text, const CountRange& range) {
  if (text.size() < range.min) return false;
  const bool surely_long_enough = text.size() / 4 >= range.min;
  const bool surely_short_enough = text.size() <= range.max;
  return (surely_long_enough && surely_short_enough) || is_within(code_points(text), range);
}

// Where is Nowhere: answers at the first fault. Where is Place: goes on and puts every fault into the sink.
template <class Where>
class Evaluator {
 public:
  static constexpr bool kExplains = std::is_same_v<Where, Place>;

  explicit Evaluator(Budget& budget, IssueSet* sink = nullptr) : budget_(budget), sink_(sink) {}

  // Costs no work unit of its own: whoever walks over members or elements has paid for each, and branches are few.
  template <class Instance>
  [[gnu::always_inline]] bool apply(const Node& node, Instance instance, const Where& where) {
    if (!has_type(node, instance)) [[unlikely]] {
      note(where, [&] { return rule::type(node.types, bits_of(instance.kind())); }, Weight::Kind);
      return false;
    }
    return node.types_only || apply_rules(node, instance, where);
  }

 private:
  // Returns whether to go on looking for faults.
  template <class Text>
  bool note(const Where& where, const Text& text, Weight weight = Weight::Ordinary) {
    if constexpr (kExplains) {
      if (!budget_.spend(kIssueUnits)) return false;
      sink_->add(where, text, weight);
    }
    return kExplains;
  }

  // The same without a word.
  template <class Instance>
  bool fits(const Node& node, Instance instance) {
    return Evaluator<Nowhere>(budget_).apply(node, instance, Nowhere{});
  }

  template <class Instance>
  bool has_type(const Node& node, Instance instance) {
    const TypeMask bits = bits_of(instance.kind());
    const TypeMask allowed = node.types & bits;
    if (allowed == bits) [[likely]]
      return true;
    if constexpr (std::is_same_v<Instance, json::Value>) {
      if (allowed != 0) {
        NumberView number(instance.number());
        if (number.is_long() && !budget_.spend(decimal_units(instance.number().size()))) return false;
        return number.is_integer() == (allowed == kIntegerBit);
      }
    }
    return false;
  }

  template <class Instance>
  [[gnu::noinline]] bool apply_rules(const Node& node, Instance instance, const Where& where) {
    if (!budget_.spend(1)) return false;
    bool ok = (node.constant == nullptr || apply_values(*node.constant, instance, where));
    if (!ok && !kExplains) return false;
    if (node.enumeration != nullptr && !apply_values(*node.enumeration, instance, where)) {
      ok = false;
      if (!kExplains) return false;
    }
    if (!apply_kind_rules(node, instance, where)) {
      ok = false;
      if (!kExplains) return false;
    }
    if (node.branches != nullptr && !apply_branches(*node.branches, instance, where)) ok = false;
    return ok;
  }

  template <class Instance>
  bool apply_values(const ValueSet& set, Instance instance, const Where& where) {
    if (contains(set, instance)) return true;
    note(where, [&] { return rule::values(set); }, Weight::Constant);
    return false;
  }

  template <class Instance>
  bool apply_kind_rules(const Node& node, Instance instance, const Where& where) {
    if constexpr (std::is_same_v<Instance, json::Value>) {
      switch (instance.kind()) {
        case json::Kind::Number:
          return node.number == nullptr || apply_number(*node.number, instance, where);
        case json::Kind::Array:
          return node.array == nullptr || apply_array(*node.array, instance, where);
        case json::Kind::Object:
          return node.object == nullptr || apply_object(*node.object, instance, where);
        case json::Kind::String:
          break;
        default:
          return true;
      }
    }
    return node.string == nullptr || apply_string(*node.string, instance.string(), where);
  }

  template <class Instance>
  bool contains(const ValueSet& set, Instance instance) {
    if ((set.kinds & bits_of(instance.kind())) == 0) return false;
    if constexpr (std::is_same_v<Instance, json::Value>) {
      switch (instance.kind()) {
        case json::Kind::Null:
          return set.has_null;
        case json::Kind::Boolean:
          return instance.boolean() ? set.has_true : set.has_false;
        case json::Kind::Number:
          return contains_number(set, instance.number());
        case json::Kind::String:
          break;
        default:
          return contains_container(set, instance);
      }
    }
    return budget_.spend(text_units(instance.string().size())) && set.strings.find(instance.string()) != nullptr;
  }

  bool contains_number(const ValueSet& set, std::string_view literal) {
    return budget_.spend(decimal_units(literal.size())) && std::ranges::binary_search(set.numbers, exact(literal));
  }

  bool contains_container(const ValueSet& set, json::Value value) {
    if (!budget_.spend(hash_units(value))) return false;
    const std::uint64_t hash = json::hash(value, json::process_seed());
    const auto range = std::ranges::equal_range(set.containers, hash, {}, &ValueSet::Container::hash);
    if (range.empty() || !budget_.spend(hash_units(value))) return false;  // Comparing costs as much again.
    return std::ranges::any_of(range,
                               [&](const ValueSet::Container& known) { return json::equal(known.value, value); });
  }

  bool apply_number(const NumberRules& rules, json::Value value, const Where& where) {
    NumberView number(value.number());
    const std::size_t bytes = value.number().size();
    const bool is_long = number.is_long() || rules.is_long;
    if (is_long && !budget_.spend(decimal_units(bytes))) return false;
    if (rules.multiple_of && !budget_.spend(is_long ? division_units(bytes) : kShortDivisionUnits)) return false;
    bool ok = true;
    const auto demand = [&](const auto& bound, auto holds, const char* text) {
      if (!bound || holds(*bound)) return true;
      ok = false;
      return note(where, [&] { return fmt::format(fmt::runtime(text), excerpt(bound->literal(), 60)); });
    };
    return demand(
               rules.minimum, [&](const Bound& bound) { return bound.compare(number) >= 0; }, "minimum: at least {}") &&
           demand(
               rules.exclusive_minimum, [&](const Bound& bound) { return bound.compare(number) > 0; },
               "exclusiveMinimum: more than {}") &&
           demand(
               rules.maximum, [&](const Bound& bound) { return bound.compare(number) <= 0; }, "maximum: at most {}") &&
           demand(
               rules.exclusive_maximum, [&](const Bound& bound) { return bound.compare(number) < 0; },
               "exclusiveMaximum: less than {}") &&
           demand(
               rules.multiple_of, [&](const Factor& factor) { return factor.divides(number); },
               "multipleOf: a multiple of {}") &&
           ok;
  }

  bool note_count(const Where& where, std::size_t count, const CountRange& range, std::string_view what,
                  std::string_view unit) {
    return note(where, [&] {
      const bool too_few = count < range.min;
      return fmt::format("{}{}: at {} {} {}", too_few ? "min" : "max", what, too_few ? "least" : "most",
                         too_few ? range.min : range.max, unit);
    });
  }

  bool apply_string(const StringRules& rules, std::string_view text, const Where& where) {
    if (!budget_.spend(text_units(text.size()))) return false;
    bool ok = true;
    if (!has_length_within(text, rules.code_points)) {
      ok = false;
      if (!note_count(where, code_points(text), rules.code_points, "Length", "characters")) return false;
    }
    if (rules.pattern != nullptr && !is_found(*rules.pattern, text)) {
      ok = false;
      if (!note(where, [&] { return "pattern: must match " + std::string(rules.pattern->expression()); })) return false;
    }
    if (rules.format != nullptr && !is_of(*rules.format, text)) {
      ok = false;
      note(where, [&] {
        return fmt::format("format: expected {}, such as {}", rules.format->name, quoted(rules.format->example, 80));
      });
    }
    return ok;
  }

  bool is_of(const FormatInfo& format, std::string_view text) {
    return budget_.spend(format.cost(text.size())) && format.matches(text);
  }

  bool is_found(const Pattern& pattern, std::string_view text) {
    return budget_.spend(pattern.cost(text.size())) && pattern.found_in(text);
  }

  bool apply_array(const ArrayRules& rules, json::Value array, const Where& where) {
    bool ok = true;
    if (!is_within(array.size(), rules.count)) {
      ok = false;
      if (!note_count(where, array.size(), rules.count, "Items", "elements")) return false;
    }
    if (!apply_items(rules, array, where)) {
      ok = false;
      if (!kExplains) return false;
    }
    if (rules.contains != nullptr && !has_element(*rules.contains, array)) {
      ok = false;
      if (!note(where, [&] { return "contains: no element fits " + excerpt(rules.contains_source.raw(), 80); }))
        return false;
    }
    return (!rules.unique || apply_unique(array, where)) && ok;
  }

  bool apply_items(const ArrayRules& rules, json::Value array, const Where& where) {
    if (rules.rest == nullptr && rules.tuple.empty()) return true;
    if (!budget_.spend(array.size())) return false;
    if (!kExplains && rules.tuple.empty() && rules.rest->types_only) {
      return rules.rest->allows_all() ||
             std::ranges::all_of(array.elements(), [&](json::Value element) { return has_type(*rules.rest, element); });
    }
    bool ok = true;
    std::size_t index = 0;
    for (const json::Value element : array.elements()) {
      const std::size_t position = index++;
      const Node* node = position < rules.tuple.size() ? rules.tuple[position] : rules.rest;
      if (node == nullptr) break;
      if (node->allows_nothing() && position >= rules.tuple.size()) {
        note(where, [&] { return rule::too_many_elements(rules); });
        return false;
      }
      if (apply(*node, element, where.element(position))) continue;
      ok = false;
      if (!kExplains) return false;
    }
    return ok;
  }

  bool has_element(const Node& node, json::Value array) {
    return budget_.spend(array.size()) &&
           std::ranges::any_of(array.elements(), [&](json::Value element) { return fits(node, element); });
  }

  bool apply_unique(json::Value array, const Where& where) {
    if (array.size() < 2) return true;
    if (!budget_.spend(hash_units(array))) return false;
    if (!kExplains && has_few_distinct_strings(array)) return true;
    struct Element {
      std::uint64_t hash;
      std::size_t index;
      json::Value value;
    };
    std::vector<Element> elements;
    elements.reserve(array.size());
    for (const json::Value value : array.elements())
      elements.push_back({json::hash(value, json::process_seed()), elements.size(), value});
    std::ranges::sort(elements, [](const Element& left, const Element& right) {
      return std::pair(left.hash, left.index) < std::pair(right.hash, right.index);
    });
    // Hashes differ from process to process; what is said and what it costs must not. The first pair in the array is
    // named, and whichever elements are compared, all are paid for.
    std::optional<std::pair<std::size_t, std::size_t>> first;
    bool is_paid = false;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      for (std::size_t j = i + 1; j < elements.size() && elements[j].hash == elements[i].hash; ++j) {
        if (!is_paid && !budget_.spend(hash_units(array))) return false;
        is_paid = true;
        if (!json::equal(elements[i].value, elements[j].value)) continue;
        if (!kExplains) return false;
        const std::pair found(elements[i].index, elements[j].index);
        first = first ? std::min(*first, found) : found;
        break;
      }
    }
    if (!first) return true;
    note(where, [&] { return fmt::format("uniqueItems: elements {} and {} are equal", first->first, first->second); });
    return false;
  }

  // The usual case, without hashing: each with each costs less than a hash of all.
  static bool has_few_distinct_strings(json::Value array) {
    constexpr std::size_t kFew = 8;
    if (array.size() > kFew) return false;
    std::array<std::string_view, kFew> seen;
    std::size_t count = 0;
    for (const json::Value element : array.elements()) {
      if (!element.is(json::Kind::String)) return false;
      const std::string_view text = element.string();
      for (std::size_t i = 0; i < count; ++i) {
        if (seen[i] == text) return false;
      }
      seen[count++] = text;
    }
    return true;
  }

  bool apply_object(const ObjectRules& rules, json::Value object, const Where& where) {
    bool ok = true;
    if (!is_within(object.size(), rules.count)) {
      ok = false;
      if (!note_count(where, object.size(), rules.count, "Properties", "properties")) return false;
    }
    if (!budget_.spend(object.size())) return false;
    if (kExplains || !rules.dependencies.empty()) return apply_members_with_presence(rules, object, where) && ok;
    if (rules.has_additional_alone && rules.additional->types_only) {
      return rules.additional->allows_all() || std::ranges::all_of(object.members(), [&](const json::Member& member) {
               return has_type(*rules.additional, member.value);
             });
    }
    std::size_t required_found = 0;
    std::size_t key_bytes = 0;
    for (const json::Member& member : object.members()) {
      key_bytes += member.key.size();
      const PropertyTable::Match* known = rules.properties.find(member.key);
      if (known != nullptr) required_found += known->required;
      if (!apply_member(rules, member, known, where)) return false;
    }
    return required_found == rules.required_count && budget_.spend(text_units(key_bytes));
  }

  bool apply_members_with_presence(const ObjectRules& rules, json::Value object, const Where& where) {
    bool ok = true;
    if (!budget_.spend(rules.required.size() / 2)) return false;
    Presence presence(rules.properties.entries().size());
    for (const json::Member& member : object.members()) {
      const PropertyTable::Match* known = rules.properties.find(member.key);
      if (known != nullptr) presence.set(known->position);
      if (apply_member(rules, member, known, where)) continue;
      ok = false;
      if (!kExplains) return false;
    }
    presence.for_each_of(rules.required, false, [&](std::uint32_t position) {
      ok = false;
      return note(where, [&] { return rule::missing(rules.properties.at(position).key); }, Weight::Missing);
    });
    if (!ok && !kExplains) return false;
    presence.for_each_of(rules.triggers, true, [&](std::uint32_t position) {
      ok = apply_dependency(rules, *rules.find_dependency(position), presence, object, where) && ok;
      return ok || kExplains;
    });
    return ok;
  }

  [[gnu::always_inline]] bool apply_member(const ObjectRules& rules, const json::Member& member,
                                           const PropertyTable::Match* known, const Where& where) {
    const Where here = where.member(member.key);
    const bool is_known = known != nullptr && known->child != nullptr;
    const bool ok = !is_known || apply(*known->child, member.value, here);
    const bool is_all = is_known ? !rules.says_more_of_properties : !rules.has_more_than_properties;
    if (is_all || (!ok && !kExplains)) return ok;
    return apply_to_others(rules, member, is_known, here) && ok;
  }

  // What patternProperties, additionalProperties and propertyNames say of a member.
  bool apply_to_others(const ObjectRules& rules, const json::Member& member, bool is_known, const Where& here) {
    bool ok = true;
    for (const PatternProperty& property : rules.patterns) {
      if (!is_found(*property.pattern, member.key)) continue;
      is_known = true;
      if (apply(*property.node, member.value, here)) continue;
      ok = false;
      if (!kExplains) return false;
    }
    if (!is_known && rules.additional != nullptr && !apply_additional(rules, member.value, here)) {
      ok = false;
      if (!kExplains) return false;
    }
    return (rules.names == nullptr || apply_name(*rules.names, member.key, here)) && ok;
  }

  bool apply_additional(const ObjectRules& rules, json::Value value, const Where& here) {
    if (!rules.additional->allows_nothing()) return apply(*rules.additional, value, here);
    note(here, [&] { return rule::unknown_property(rules); });
    return false;
  }

  bool apply_name(const Node& node, std::string_view name, const Where& here) {
    if constexpr (kExplains) {
      IssueSet inner(here);
      if (Evaluator<Place>(budget_, &inner).apply(node, Name{name}, here)) return true;
      for (const Issue& issue : inner.issues()) note(here, [&] { return "propertyNames: " + issue.rule; });
      return false;
    } else {
      return apply(node, Name{name}, here);
    }
  }

  bool apply_dependency(const ObjectRules& rules, const Dependency& dependency, const Presence& presence,
                        json::Value object, const Where& where) {
    if (dependency.node != nullptr) return apply(*dependency.node, object, where);
    bool ok = true;
    if (!budget_.spend(1 + dependency.required.size() / 4)) return false;
    for (const std::uint32_t name : dependency.required) {
      if (presence.has(name)) continue;
      ok = false;
      const auto key_of = [&](std::uint32_t position) { return rules.properties.at(position).key; };
      if (!note(where, [&] { return rule::dependency(key_of(dependency.trigger), key_of(name)); }, Weight::Missing))
        return false;
    }
    return ok;
  }

  template <class Instance>
  bool apply_branches(const Branches& branches, Instance instance, const Where& where) {
    bool ok = true;
    for (const Node* node : branches.all_of) {
      if (apply(*node, instance, where)) continue;
      ok = false;
      if (!kExplains) return false;
    }
    if (!branches.any_of.empty() && !apply_any(branches.any_of, instance, where)) {
      ok = false;
      if (!kExplains) return false;
    }
    if (!branches.one_of.empty() && !apply_one(branches.one_of, instance, where)) {
      ok = false;
      if (!kExplains) return false;
    }
    if (branches.negated != nullptr && fits(*branches.negated, instance)) {
      ok = false;
      if (!note(where, [&] { return "not: must not fit " + excerpt(branches.negated_source.raw(), 80); })) return false;
    }
    if (branches.condition != nullptr) {
      const Node* chosen = fits(*branches.condition, instance) ? branches.consequence : branches.alternative;
      if (chosen != nullptr && !apply(*chosen, instance, where)) ok = false;
    }
    return ok;
  }

  template <class Instance>
  bool apply_any(std::span<const Node* const> nodes, Instance instance, const Where& where) {
    if (std::ranges::any_of(nodes, [&](const Node* node) { return fits(*node, instance); })) return true;
    explain_alternatives(nodes, "anyOf", instance, where);
    return false;
  }

  template <class Instance>
  bool apply_one(std::span<const Node* const> nodes, Instance instance, const Where& where) {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!fits(*nodes[i], instance)) continue;
      if (first) {
        note(where, [&] {
          return fmt::format("oneOf: fits alternatives {} and {}, must fit exactly one", *first + 1, i + 1);
        });
        return false;
      }
      first = i;
    }
    if (!first) explain_alternatives(nodes, "oneOf", instance, where);
    return first.has_value();
  }

  // None fits. Says what would, or what the nearest alternative lacks.
  template <class Instance>
  void explain_alternatives(std::span<const Node* const> nodes, std::string_view keyword, Instance instance,
                            const Where& where) {
    if constexpr (kExplains) {
      TypeMask types = 0;
      std::vector<const ValueSet*> sets;
      std::optional<IssueSet> nearest;
      std::size_t nearest_index = 0;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        types |= nodes[i]->types;
        for (const ValueSet* set : {nodes[i]->constant, nodes[i]->enumeration}) {
          if (set != nullptr && !contains(*set, instance)) {
            sets.push_back(set);
            break;
          }
        }
        IssueSet inner(where);
        Evaluator<Place>(budget_, &inner).apply(*nodes[i], instance, where);
        if (nearest && nearest->distance() <= inner.distance()) continue;
        nearest = std::move(inner);
        nearest_index = i;
      }
      if ((types & bits_of(instance.kind())) == 0) {
        note(where, [&] { return rule::type(types, bits_of(instance.kind()), keyword); }, Weight::Kind);
      } else if (sets.size() == nodes.size()) {
        note(where, [&] { return rule::values(sets, keyword); }, Weight::Constant);
      } else {
        if (nodes.size() > 1) note(where, [&] { return rule::nearest(keyword, nodes.size(), nearest_index); });
        sink_->merge(*nearest);
      }
    }
  }

  Budget& budget_;
  IssueSet* sink_;
};

}  // namespace

namespace {

Outcome judge(const Program& program, json::Value value, Budget& budget) {
  const bool ok = Evaluator<Nowhere>(budget).apply(*program.root, value, Nowhere{});
  if (budget.exceeded()) return Outcome::BudgetExceeded;
  return ok ? Outcome::Valid : Outcome::Invalid;
}

}  // namespace

Outcome check_value(const Program& program, json::Value value) {
  Budget budget(kWorkUnitsMax);
  return judge(program, value, budget);
}

Verdict explain_value(const Program& program, json::Value value) {
  Budget judging(kWorkUnitsMax);
  const Outcome outcome = judge(program, value, judging);
  if (outcome != Outcome::Invalid) return {outcome, {}, judging.spent()};
  // Finding every fault is more work than finding the first; if that ends early, what was found still stands.
  Budget budget(kExplanationUnitsMax);
  const Place root = Place::root();
  IssueSet issues(root);
  Evaluator<Place>(budget, &issues).apply(*program.root, value, root);
  if (issues.issues().empty())
    issues.add(root, [] { return std::string("schema: the value does not fit; too large to say where"); });
  return {Outcome::Invalid, issues.take(), judging.spent()};
}

}  // namespace assay::schema
