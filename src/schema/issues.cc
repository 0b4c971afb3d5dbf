#include "schema/issues.h"

#include <fmt/format.h>

#include <algorithm>

#include "schema/excerpt.h"
#include "schema/keyword.h"
#include "schema/limits.h"

namespace assay::schema {
namespace {

constexpr std::size_t kNameBytesMax = 60;
constexpr std::string_view kEllipsis = "\u2026";

std::uint64_t distance_of(Weight weight, bool is_at_base) {
  switch (weight) {
    case Weight::Kind:
      return is_at_base ? 1000 : 10;
    case Weight::Constant:
      return 20;
    case Weight::Missing:
      return 3;
    case Weight::Ordinary:
      return 1;
  }
  return 1;
}

// Items joined by commas for as long as they fit.
class Listing {
 public:
  explicit Listing(std::string intro) : text_(std::move(intro)) {}

  // Returns false once full.
  bool add(std::string_view item) {
    const std::string_view separator = empty_ ? " " : ", ";
    if (text_.size() + separator.size() + item.size() + kEllipsis.size() + 2 > kIssueRuleBytesMax) {
      text_.append(separator).append(kEllipsis);
      return false;
    }
    text_.append(separator).append(item);
    empty_ = false;
    return true;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  bool empty_ = true;
};

// One line, whatever the schema's own texts hold.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return text;
}

std::string_view name_of_found(TypeMask expected, TypeMask found) {
  if ((found & kNumberBits) != 0) return (expected & kIntegerBit) != 0 ? "a number with a fraction" : "a number";
  switch (found) {
    case kNullBit:
      return "null";
    case kBooleanBit:
      return "a boolean";
    case kStringBit:
      return "a string";
    case kArrayBit:
      return "an array";
    default:
      return "an object";
  }
}

bool add_value(Listing& listing, json::Value value) {
  if (value.is(json::Kind::String)) return listing.add(quoted(value.string(), kNameBytesMax));
  return listing.add(excerpt(value.raw(), kNameBytesMax));
}

}  // namespace

bool IssueSet::begin_issue(const Place& place, Weight weight, std::string& path) {
  distance_ += distance_of(weight, &place == base_ || place.parent == base_->parent);
  path = pointer_to(place, kIssuePathBytesMax);
  return issues_.size() < kIssuesMax || path <= issues_.back().path;
}

std::string IssueSet::shown_rule(const std::string& rule) { return on_one_line(excerpt(rule, kIssueRuleBytesMax)); }

void IssueSet::merge(const IssueSet& inner) {
  distance_ += inner.distance_;
  for (const Issue& issue : inner.issues_) insert(issue);
}

void IssueSet::insert(Issue issue) {
  const auto position = std::ranges::lower_bound(issues_, issue);
  if (position != issues_.end() && *position == issue) return;
  if (issues_.size() == kIssuesMax && position == issues_.end()) return;
  issues_.insert(position, std::move(issue));
  if (issues_.size() > kIssuesMax) issues_.pop_back();
}

namespace rule {

std::string type(TypeMask expected, TypeMask found, std::string_view keyword) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < std::size(kTypeNames); ++i) {
    const bool in_number = kTypeNames[i] == "integer" && (expected & kFractionBit) != 0;
    if ((expected & (1U << i)) != 0 && !in_number) names.push_back(kTypeNames[i]);
  }
  if (names.empty()) return fmt::format("{}: no value is allowed here", keyword == "type" ? "false schema" : keyword);
  std::string text = fmt::format("{}: expected {}", keyword, names.front());
  for (std::size_t i = 1; i < names.size(); ++i) {
    text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text.append(", not ").append(name_of_found(expected, found));
}

std::string values(std::span<const ValueSet* const> sets, std::string_view keyword) {
  const bool single = sets.size() == 1 && sets.front()->is_const;
  Listing listing(fmt::format("{}: expected{}", keyword, single ? "" : " one of"));
  for (const ValueSet* set : sets) {
    if (set->is_const) {
      if (!add_value(listing, set->source)) return listing.take();
      continue;
    }
    if (set->source.size() == 0) return fmt::format("{}: no value is allowed here", keyword);
    for (const json::Value value : set->source.elements()) {
      if (!add_value(listing, value)) return listing.take();
    }
  }
  return listing.take();
}

std::string values(const ValueSet& set) {
  const ValueSet* only = &set;
  return values(std::span(&only, 1), set.is_const ? "const" : "enum");
}

std::string missing(std::string_view name) { return "required: missing " + quoted(name, kNameBytesMax); }

std::string dependency(std::string_view trigger, std::string_view name) {
  return fmt::format("dependencies: {} must come with {}", quoted(trigger, kNameBytesMax), quoted(name, kNameBytesMax));
}

std::string unknown_property(const ObjectRules& rules) {
  Listing listing("additionalProperties: this property is not allowed; known are");
  bool any = false;
  const auto entries = rules.properties.entries();
  for (const PropertyTable::Entry& entry : entries.first(std::min(entries.size(), kNodesMax))) {
    if (entry.child == nullptr || entry.child->allows_nothing()) continue;
    any = true;
    if (!listing.add(quoted(entry.key, kNameBytesMax))) return listing.take();
  }
  for (const PatternProperty& property : rules.patterns) {
    any = true;
    const std::string shown = "names matching " + excerpt(property.pattern->expression(), kNameBytesMax);
    if (!listing.add(shown)) return listing.take();
  }
  return any ? listing.take() : "additionalProperties: no property is allowed here";
}

std::string too_many_elements(const ArrayRules& rules) {
  if (rules.tuple.empty()) return "items: no element is allowed here";
  return fmt::format("additionalItems: at most {} elements", rules.tuple.size());
}

std::string nearest(std::string_view keyword, std::size_t alternatives, std::size_t nearest) {
  return fmt::format("{}: fits none of {} alternatives; the nearest is number {}", keyword, alternatives, nearest + 1);
}

}  // namespace rule

std::string feedback(std::span<const Issue> issues) {
  std::string text = "The value does not fit the schema:";
  for (const Issue& issue : issues) {
    const std::string path = quoted(issue.path, kIssuePathBytesMax + 2);
    const std::string_view shown_path = issue.path.empty() ? "the root" : std::string_view(path);
    const std::string line = fmt::format("\n- at {}: {}", shown_path, issue.rule);
    if (text.size() + line.size() + kEllipsis.size() + 1 > kFeedbackBytesMax) {
      text.append("\n").append(kEllipsis);
      break;
    }
    text += line;
  }
  return text;
}

}  // namespace assay::schema
