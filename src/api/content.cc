// The content of a client's message: its input parts.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/request.h"

namespace assay::api {

namespace {

// Part faults carry no `validations`: the path is in the detail, as on the public API.
ApiError part_error(std::size_t index, std::string_view field, std::string_view what) {
  return refusal(400, "The content is not valid.", fmt::format("content[{}].{} {}.", index, field, what));
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

// One input part: an object whose members are read by name.
class PartReader {
 public:
  PartReader(std::size_t index, json::Value part) : index_(index), part_(part) {}

  Result<chat::Part, ApiError> read() const {
    if (!part_.is(json::Kind::Object)) {
      return fail(refusal(400, "The content is not valid.", fmt::format("content[{}] must be an object.", index_)));
    }
    const auto type = string("type");
    if (!type) return fail(type.error());
    const std::string name = lower_case(trimmed(*type));
    if (name == "text") return text();
    if (name == "file-reference") return file_reference();
    if (name == "file") {
      return fail(error("file_id", "names a file, and this release stores no files: send the text itself"));
    }
    if (name.empty()) return fail(error("type", "is required"));
    return fail(error("type", "is not a type that clients may send: text or file-reference"));
  }

 private:
  ApiError error(std::string_view field, std::string_view what) const { return part_error(index_, field, what); }

  Result<std::string, ApiError> string(std::string_view name) const {
    const auto value = part_.find(name);
    if (!value || value->is(json::Kind::Null)) return std::string();
    if (!value->is(json::Kind::String)) return fail(error(name, "must be a string"));
    if (const char* why = unstorable(*value)) return fail(error(name, why));
    return std::string(value->string());
  }
  Result<std::int64_t, ApiError> integer(std::string_view name) const {
    const auto value = part_.find(name);
    if (!value || value->is(json::Kind::Null)) return 0;
    const auto number = value->is(json::Kind::Number) ? parse_integer(value->number()) : std::nullopt;
    if (!number) return fail(error(name, "must be an integer"));
    return *number;
  }

  Result<chat::Part, ApiError> text() const {
    const auto written = string("text");
    if (!written) return fail(written.error());
    const std::string_view kept = trimmed(*written);
    if (kept.empty()) return fail(error("text", "must not be empty"));
    return chat::TextPart{.text = std::string(kept)};
  }

  Result<chat::Part, ApiError> file_reference() const {
    const auto file_name = string("file_name");
    if (!file_name) return fail(file_name.error());
    if (trimmed(*file_name).empty()) return fail(error("file_name", "must not be empty"));
    const auto start_line = integer("start_line");
    if (!start_line) return fail(start_line.error());
    const auto end_line = integer("end_line");
    if (!end_line) return fail(end_line.error());
    auto content = string("content");
    if (!content) return fail(content.error());
    return chat::FileReferencePart{
        .file_name = *file_name, .start_line = *start_line, .end_line = *end_line, .content = std::move(*content)};
  }

  std::size_t index_;
  json::Value part_;
};

}  // namespace

Result<chat::Content, ApiError> decode_content(const std::optional<json::Value>& content) {
  if (!content || content->size() == 0) {
    return fail(refusal(400, "The message has no content.", "content must be an array of at least one part."));
  }
  chat::Content parts;
  for (const auto element : content->elements()) {
    auto part = PartReader(parts.size(), element).read();
    if (!part) return fail(std::move(part.error()));
    parts.push_back(std::move(*part));
  }
  return parts;
}

}  // namespace assay::api
