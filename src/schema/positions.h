#pragma once
// Which parts of a keyword's value are schemas: the one place that tells schema positions from literal data.
#include "json/document.h"
#include "schema/keyword.h"
#include "schema/place.h"

namespace assay::schema {

// What can be a schema at all. Anything else at a schema position is for meta-validation to refuse.
[[nodiscard]] inline bool is_schema_kind(json::Value value) {
  return value.is(json::Kind::Object) || value.is(json::Kind::Boolean);
}

// Branches apply to the same instance as the schema that holds them.
[[nodiscard]] constexpr bool is_branch(Keyword keyword) {
  switch (keyword) {
    case Keyword::AllOf:
    case Keyword::AnyOf:
    case Keyword::OneOf:
    case Keyword::Not:
    case Keyword::If:
    case Keyword::Then:
    case Keyword::Else:
    case Keyword::Dependencies:
      return true;
    default:
      return false;
  }
}

// Calls visit(child, place) for each schema position directly under a keyword's value, in document order, whatever
// stands there; visit returns false to stop. Returns false if stopped.
template <class Visit>
bool for_each_position(const KeywordInfo& info, json::Value value, const Place& place, Visit&& visit) {
  switch (info.shape) {
    case Shape::Schema:
      return visit(value, place);
    case Shape::SchemaOrSchemas:
    case Shape::Schemas: {
      if (!value.is(json::Kind::Array)) return info.shape == Shape::Schemas || visit(value, place);
      std::size_t index = 0;
      for (const json::Value element : value.elements()) {
        if (!visit(element, place.element(index++))) return false;
      }
      return true;
    }
    case Shape::SchemaMap:
    case Shape::Dependencies:
      if (!value.is(json::Kind::Object)) return true;
      for (const json::Member& member : value.members()) {
        if (info.shape == Shape::Dependencies && member.value.is(json::Kind::Array)) continue;
        if (!visit(member.value, place.member(member.key))) return false;
      }
      return true;
    default:
      return true;
  }
}

}  // namespace assay::schema
