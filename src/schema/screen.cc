#include <fmt/format.h>

#include "schema/admission.h"
#include "schema/excerpt.h"
#include "schema/formats.h"
#include "schema/limits.h"
#include "schema/positions.h"

namespace assay::schema {
namespace {

constexpr std::size_t kNameBytesMax = 80;

// One walk finds both kinds of fault; a vocabulary fault anywhere goes before a limit that was exceeded earlier.
class Screen {
 public:
  std::optional<Refusal> run(json::Value schema) {
    walk(schema, Place::root(), 0);
    return vocabulary_ ? std::move(vocabulary_) : std::move(limit_);
  }

 private:
  bool refuse(RefusalCode code, const Place& place, std::string_view detail) {
    vocabulary_ = make_refusal(code, refusal_pointer(place), detail);
    return false;
  }

  void exceed(RefusalCode code, const Place& place, std::string_view detail) {
    if (!limit_) limit_ = make_refusal(code, refusal_pointer(place), detail);
  }

  // Returns false at the first vocabulary fault.
  bool walk(json::Value schema, const Place& place, std::size_t nesting) {
    if (!is_schema_kind(schema)) return true;
    if (++nodes_ == kNodesMax + 1) {
      exceed(RefusalCode::TooManyNodes, place, fmt::format("the schema has more than {} subschemas", kNodesMax));
    }
    if (!schema.is(json::Kind::Object)) return true;
    for (const json::Member& member : schema.members()) {
      const Place here = place.member(member.key);
      const KeywordInfo* info = find_keyword(member.key);
      if (info == nullptr) return refuse_keyword(member.key, here);
      if (!check_value(*info, member.value, here)) return false;
      const std::size_t inner = nesting + (is_branch(info->keyword) ? 1 : 0);
      const bool go_on = for_each_position(*info, member.value, here, [&](json::Value child, const Place& at) {
        if (inner > nesting && is_schema_kind(child)) count_branch(at, inner);
        return walk(child, at, inner);
      });
      if (!go_on) return false;
    }
    return true;
  }

  bool refuse_keyword(std::string_view name, const Place& place) {
    const std::string shown = quoted(name, kNameBytesMax);
    if (const RefusedKeyword* refused = find_refused_keyword(name)) {
      return refuse(refused->code, place, fmt::format("the keyword {} is refused: {}", shown, refused->advice));
    }
    return refuse(RefusalCode::UnknownKeyword, place,
                  fmt::format("{} is no Draft-07 keyword: nothing would check it, so leave it out (a property of that "
                              "name belongs under properties)",
                              shown));
  }

  bool check_value(const KeywordInfo& info, json::Value value, const Place& place) {
    switch (info.keyword) {
      case Keyword::Dialect:
        return check_dialect(value, place);
      case Keyword::Format:
        if (value.is(json::Kind::String) && find_format(value.string()) == nullptr) {
          return refuse(RefusalCode::UnsupportedFormat, place,
                        fmt::format("format {} is not supported; use one of {}, or a pattern",
                                    quoted(value.string(), kNameBytesMax), format_names()));
        }
        return true;
      case Keyword::Pattern:
        if (value.is(json::Kind::String)) measure_pattern(value.string(), place);
        return true;
      case Keyword::PatternProperties:
        if (value.is(json::Kind::Object)) measure_pattern_properties(value, place);
        return true;
      default:
        return true;
    }
  }

  bool check_dialect(json::Value value, const Place& place) {
    if (place.parent->parent != nullptr) {
      return refuse(RefusalCode::UnsupportedKeyword, place, "$schema may stand at the root of the schema only");
    }
    const std::string_view without_fragment = kDialect.substr(0, kDialect.size() - 1);
    if (value.is(json::Kind::String) && (value.string() == kDialect || value.string() == without_fragment)) return true;
    return refuse(RefusalCode::UnsupportedDialect, place,
                  fmt::format("only Draft-07 is supported: $schema must be \"{}\" or absent", kDialect));
  }

  void measure_pattern(std::string_view pattern, const Place& place) {
    if (pattern.size() <= kPatternBytesMax) return;
    exceed(RefusalCode::PatternTooLong, place,
           fmt::format("a pattern of {} bytes is over the limit of {}", pattern.size(), kPatternBytesMax));
  }

  void measure_pattern_properties(json::Value value, const Place& place) {
    for (const json::Member& member : value.members()) {
      measure_pattern(member.key, place.member(member.key));
      if (++pattern_properties_ == kPatternPropertiesMax + 1) {
        exceed(RefusalCode::TooManyPatternProperties, place,
               fmt::format("the schema has more than {} names under patternProperties", kPatternPropertiesMax));
      }
    }
  }

  void count_branch(const Place& place, std::size_t nesting) {
    if (++branches_ == kBranchesMax + 1) {
      exceed(
          RefusalCode::TooManyBranches, place,
          fmt::format("the schema has more than {} branches (allOf, anyOf, oneOf, not, if, then, else, dependencies)",
                      kBranchesMax));
    }
    if (nesting > kBranchNestingMax) {
      exceed(
          RefusalCode::BranchesTooDeep, place,
          fmt::format("branches (allOf, anyOf, oneOf, not, if, then, else, dependencies) are nested more than {} deep",
                      kBranchNestingMax));
    }
  }

  std::size_t nodes_ = 0;
  std::size_t branches_ = 0;
  std::size_t pattern_properties_ = 0;
  std::optional<Refusal> vocabulary_;
  std::optional<Refusal> limit_;
};

}  // namespace

std::string refusal_pointer(const Place& place) { return pointer_to(place, kRefusalPointerBytesMax); }

Refusal make_refusal(RefusalCode code, std::string pointer, std::string_view detail) {
  return Refusal{.code = code,
                 .code_name = std::string(code_name(code)),
                 .detail = excerpt(detail, kDetailBytesMax),
                 .pointer = std::move(pointer)};
}

std::optional<Refusal> screen(json::Value schema) { return Screen{}.run(schema); }

}  // namespace assay::schema
