#include "schema/respelling.h"

#include "json/compact.h"
#include "json/document.h"
#include "json/limits.h"
#include "json/writer.h"
#include "schema/keyword.h"

namespace assay::schema {

namespace {

class Respeller {
 public:
  void write_schema(json::Value schema) {
    if (!schema.is(json::Kind::Object)) return write_literal(schema);
    const auto items = schema.find("items");
    const bool has_tuple = items && items->is(json::Kind::Array);
    writer_.begin_object();
    for (const json::Member& member : schema.members()) {
      const KeywordInfo* info = find_keyword(member.key);
      if (info == nullptr) {
        writer_.key(member.key);
        write_literal(member.value);
      } else {
        write_keyword(*info, member.value, has_tuple);
      }
    }
    writer_.end_object();
  }

  std::string take() { return writer_.take(); }

 private:
  void write_keyword(const KeywordInfo& info, json::Value value, bool has_tuple) {
    switch (info.keyword) {
      case Keyword::Dialect:
        return;
      case Keyword::Items:
        writer_.key(has_tuple ? "prefixItems" : "items");
        return write_value(info.shape, value);
      case Keyword::AdditionalItems:
        if (!has_tuple) return;
        writer_.key("items");
        return write_schema(value);
      case Keyword::Dependencies:
        write_dependencies("dependentRequired", true, value);
        return write_dependencies("dependentSchemas", false, value);
      default:
        writer_.key(info.name);
        return write_value(info.shape, value);
    }
  }

  void write_value(Shape shape, json::Value value) {
    const bool may_be_list = shape == Shape::Schemas || shape == Shape::SchemaOrSchemas;
    if (may_be_list && value.is(json::Kind::Array)) {
      writer_.begin_array();
      for (const json::Value element : value.elements()) write_schema(element);
      writer_.end_array();
    } else if (shape == Shape::Schema || shape == Shape::SchemaOrSchemas) {
      write_schema(value);
    } else if (shape == Shape::SchemaMap) {
      writer_.begin_object();
      for (const json::Member& member : value.members()) {
        writer_.key(member.key);
        write_schema(member.value);
      }
      writer_.end_object();
    } else {
      write_literal(value);
    }
  }

  // Of the two kinds of dependencies the lists of names, or the schemas.
  void write_dependencies(std::string_view name, bool of_names, json::Value dependencies) {
    bool has_begun = false;
    for (const json::Member& member : dependencies.members()) {
      if (member.value.is(json::Kind::Array) != of_names) continue;
      if (!has_begun) writer_.key(name).begin_object();
      has_begun = true;
      writer_.key(member.key);
      write_schema(member.value);
    }
    if (has_begun) writer_.end_object();
  }

  void write_literal(json::Value value) { writer_.raw(json::compact(value)); }

  json::Writer writer_;
};

}  // namespace

std::string respelled_2020_12(std::string_view schema_text) {
  const auto document = json::Document::parse(std::string(schema_text), json::kSchemaCaps);
  if (!document) return std::string(schema_text);
  Respeller respeller;
  respeller.write_schema(document->root());
  return respeller.take();
}

}  // namespace assay::schema
