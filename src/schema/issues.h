#pragma once
// What is told about a value that does not fit: bounded, deterministic, from the schema alone.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/place.h"
#include "schema/program.h"
#include "schema/schema.h"

namespace assay::schema {

// How far a broken rule moves an alternative away from the one that was meant: the nearest has the least in all.
enum class Weight : std::uint8_t { Kind, Constant, Missing, Ordinary };

// The kIssuesMax smallest distinct issues of any number.
class IssueSet {
 public:
  // `base` is where the schema that is explained applies.
  explicit IssueSet(const Place& base) : base_(&base) {}

  // `text()` spells the rule; not asked where the place alone shows that nobody will read it.
  template <class Text>
  void add(const Place& place, const Text& text, Weight weight = Weight::Ordinary) {
    if (std::string path; begin_issue(place, weight, path)) insert({std::move(path), shown_rule(text())});
  }
  // Takes over what an inner set kept.
  void merge(const IssueSet& inner);

  [[nodiscard]] std::uint64_t distance() const { return distance_; }
  [[nodiscard]] std::span<const Issue> issues() const { return issues_; }
  [[nodiscard]] std::vector<Issue> take() { return std::move(issues_); }

 private:
  bool begin_issue(const Place& place, Weight weight, std::string& path);
  static std::string shown_rule(const std::string& rule);
  void insert(Issue issue);

  const Place* base_;
  std::vector<Issue> issues_;  // sorted
  std::uint64_t distance_ = 0;
};

// The texts of rules: the keyword, a colon, what it asks for. Cut to kIssueRuleBytesMax by IssueSet.
namespace rule {
// `found`: the kind of what stands there.
[[nodiscard]] std::string type(TypeMask expected, TypeMask found, std::string_view keyword = "type");
[[nodiscard]] std::string values(std::span<const ValueSet* const> sets, std::string_view keyword);
[[nodiscard]] std::string values(const ValueSet& set);
[[nodiscard]] std::string missing(std::string_view name);
[[nodiscard]] std::string dependency(std::string_view trigger, std::string_view name);
[[nodiscard]] std::string unknown_property(const ObjectRules& rules);
[[nodiscard]] std::string too_many_elements(const ArrayRules& rules);
[[nodiscard]] std::string nearest(std::string_view keyword, std::size_t alternatives, std::size_t nearest);
}  // namespace rule

}  // namespace assay::schema
