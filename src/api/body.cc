#include "api/body.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "json/error.h"
#include "structured/response_format.h"

namespace assay::api {

namespace {

struct RawMember {
  std::string_view key;    // as written
  std::string_view value;  // as written; empty where it does not end
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Finds the top-level member around a byte of a text that is no valid JSON, so that the refusal can name it. Reads
// brackets and strings alone.
class MemberFinder {
 public:
  explicit MemberFinder(std::string_view text) : text_(text) {}

  std::optional<RawMember> around(std::size_t offset) {
    skip_space();
    if (!take('{')) return std::nullopt;
    while (true) {
      skip_space();
      const auto key = take_string();
      if (!key) return std::nullopt;
      skip_space();
      if (!take(':')) return std::nullopt;
      skip_space();
      const std::size_t begin = at_;
      const bool ended = skip_value();
      if (offset < at_ || !ended) {
        return RawMember{.key = *key, .value = ended ? text_.substr(begin, at_ - begin) : std::string_view()};
      }
      if (!take(',')) return std::nullopt;
    }
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  // Between the quotes; nothing where no string begins here or it does not end.
  std::optional<std::string_view> take_string() {
    if (!take('"')) return std::nullopt;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) {
      at_ = text_.size();
      return std::nullopt;
    }
    return text_.substr(begin, at_++ - begin);
  }
  // To the comma or bracket that follows; false where the text ends before.
  bool skip_value() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!take_string()) return false;
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) return true;
      if (c == '}' || c == ']') --depth;
      ++at_;
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

ApiError syntax_error(std::string_view text, const json::Error& error) {
  const auto place = json::line_and_column(text, error.offset);
  ApiError refused = refusal(400, "The request body is not valid JSON.",
                             fmt::format("{} (line {}, column {})", json::describe(error), place.line, place.column));
  const auto member = MemberFinder(text).around(error.offset);
  if (!member) return refused;
  if (member->key == "response_format" && !member->value.empty()) {
    if (auto format = structured::parse_response_format(member->value); !format) {
      for (auto& fault : format.error()) {
        refused.validations.push_back(Validation{.field = std::move(fault.field), .detail = std::move(fault.detail)});
      }
      return refused;
    }
  }
  // Keys longer than any that we know, or with escapes, are not worth an echo.
  constexpr std::size_t kKeyBytesMax = 64;
  if (member->key.size() <= kKeyBytesMax &&
      member->key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == member->key.npos) {
    refused.validations.push_back(Validation{.field = std::string(member->key), .detail = json::describe(error)});
  }
  return refused;
}

}  // namespace

Result<Body, ApiError> Body::parse(std::string text) {
  if (text.size() > kBodyBytesMax) {
    return fail(
        refusal(413, "The request body is too large.", fmt::format("At most {} bytes are accepted.", kBodyBytesMax)));
  }
  auto document = json::Document::parse(text, json::kBodyCaps, json::Dialect::Lenient);
  if (!document) return fail(syntax_error(text, document.error()));
  if (!document->root().is(json::Kind::Object)) {
    return fail(refusal(400, "The request body must be a JSON object."));
  }
  return Body(std::move(*document));
}

std::optional<json::Value> Body::find(std::string_view name) const {
  const auto value = document_.root().find(name);
  if (!value || value->is(json::Kind::Null)) return std::nullopt;
  return value;
}

void Body::fault(std::string_view name, std::string detail) {
  faults_.push_back(Validation{.field = std::string(name), .detail = std::move(detail)});
}

std::optional<std::string> Body::string(std::string_view name) {
  const auto value = find(name);
  if (!value) return std::nullopt;
  const bool is_string = value->is(json::Kind::String);
  const char* why = is_string ? unstorable(*value) : "must be a string";
  if (why == nullptr) return std::string(value->string());
  fault(name, why);
  return std::nullopt;
}

std::optional<bool> Body::boolean(std::string_view name) {
  const auto value = find(name);
  if (!value) return std::nullopt;
  if (value->is(json::Kind::Boolean)) return value->boolean();
  fault(name, "must be true or false");
  return std::nullopt;
}

std::optional<std::int64_t> Body::integer(std::string_view name) {
  const auto value = find(name);
  if (!value) return std::nullopt;
  if (value->is(json::Kind::Number)) {
    if (const auto number = parse_integer(value->number())) return number;
  }
  fault(name, "must be an integer");
  return std::nullopt;
}

std::optional<Uuid> Body::uuid(std::string_view name) {
  const auto value = find(name);
  if (!value) return std::nullopt;
  if (value->is(json::Kind::String)) {
    if (const auto id = Uuid::parse(value->string())) return id;
  }
  fault(name, "must be a UUID");
  return std::nullopt;
}

std::vector<Uuid> Body::uuids(std::string_view name) {
  std::vector<Uuid> ids;
  const auto list = array(name);
  if (!list) return ids;
  for (const auto element : list->elements()) {
    const auto id = element.is(json::Kind::String) ? Uuid::parse(element.string()) : std::nullopt;
    if (!id) {
      fault(name, "must be an array of UUIDs");
      return {};
    }
    ids.push_back(*id);
  }
  return ids;
}

std::optional<std::map<std::string, std::string>> Body::string_map(std::string_view name) {
  const auto value = find(name);
  if (!value) return std::nullopt;
  if (!value->is(json::Kind::Object)) {
    fault(name, "must be an object of strings");
    return std::nullopt;
  }
  std::map<std::string, std::string> map;
  for (const auto member : value->members()) {
    if (!member.value.is(json::Kind::String)) {
      fault(name, "must be an object of strings");
      return std::nullopt;
    }
    if (const char* why = unstorable(member.value)) {
      fault(name, why);
      return std::nullopt;
    }
    map.insert_or_assign(std::string(member.key), std::string(member.value.string()));
  }
  return map;
}

std::optional<json::Value> Body::array(std::string_view name) {
  const auto value = find(name);
  if (!value) return std::nullopt;
  if (value->is(json::Kind::Array)) return value;
  fault(name, "must be an array");
  return std::nullopt;
}

std::string_view Body::raw_once(std::string_view name) {
  std::string_view raw;
  for (const auto member : document_.root().members()) {
    if (member.key != name) continue;
    if (!raw.empty()) {
      fault(name, "must not be given twice");
      return {};
    }
    raw = member.value.raw();
  }
  return raw;
}

std::optional<ApiError> Body::faults() const {
  if (faults_.empty()) return std::nullopt;
  ApiError error = refusal(400, "The request body has members of the wrong type.");
  error.validations = faults_;
  return error;
}

// The document reads either of them as U+FFFD, so the literal is asked.
const char* unstorable(json::Value string) {
  if (string.string().find("\xEF\xBF\xBD") == std::string_view::npos) return nullptr;
  if (json::Document::parse(std::string(string.raw()), json::kBodyCaps)) return nullptr;
  return "holds U+0000 or half a surrogate pair, which cannot be stored";
}

std::optional<std::int64_t> parse_integer(std::string_view literal) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(literal.data(), literal.data() + literal.size(), number);
  if (failure != std::errc() || end != literal.data() + literal.size()) return std::nullopt;
  return number;
}

std::string_view trimmed(std::string_view text) {
  // U+0009 to U+000D and U+0020, U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
  constexpr std::array<std::string_view, 25> kSpaces{
      " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\u0085", "\u00a0", "\u1680",
      "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",
      "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
  const auto trim_once = [&text, &kSpaces] {
    for (const auto space : kSpaces) {
      if (text.starts_with(space)) {
        text.remove_prefix(space.size());
        return true;
      }
      if (text.ends_with(space)) {
        text.remove_suffix(space.size());
        return true;
      }
    }
    return false;
  };
  while (trim_once()) {
  }
  return text;
}

}  // namespace assay::api
