// Query strings of the listings.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "api/request.h"

namespace assay::api {

namespace {

std::optional<std::string_view> find_parameter(const QueryParameters& query, std::string_view name) {
  for (const auto& [key, value] : query) {
    if (key == name) return std::string_view(value);
  }
  return std::nullopt;
}

ApiError invalid_parameter(std::string_view name, std::string detail) {
  ApiError error = invalid_field(std::string(name), std::move(detail));
  error.message = "The query parameters are not valid.";
  return error;
}

// Absent or empty: nothing.
Result<std::optional<std::int64_t>, ApiError> integer_parameter(const QueryParameters& query, std::string_view name,
                                                                std::int64_t least, std::int64_t most) {
  const auto text = find_parameter(query, name);
  if (!text || text->empty()) return std::nullopt;
  const auto number = parse_integer(*text);
  if (!number) return fail(invalid_parameter(name, "must be an integer"));
  if (*number < least) return fail(invalid_parameter(name, fmt::format("must be at least {}", least)));
  if (*number > most) return fail(invalid_parameter(name, fmt::format("must be at most {}", most)));
  return number;
}

struct SearchTerm {
  std::string key;
  std::string value;
};

// `key:value` and `key:"several words"`, separated by spaces.
Result<std::vector<SearchTerm>, ApiError> parse_search(std::string_view text) {
  std::vector<SearchTerm> terms;
  while (true) {
    text = trimmed(text);
    if (text.empty()) return terms;
    const auto colon = text.find_first_of(": ");
    if (colon == text.npos || colon == 0 || text[colon] != ':') {
      return fail(invalid_parameter("q", "is a list of key:value terms; for words use title:\"...\""));
    }
    SearchTerm term;
    term.key = std::string(text.substr(0, colon));
    text.remove_prefix(colon + 1);
    const bool quoted = text.starts_with('"');
    if (quoted) text.remove_prefix(1);
    const auto end = text.find(quoted ? '"' : ' ');
    if (quoted && end == text.npos) return fail(invalid_parameter("q", "has a quotation mark that is not closed"));
    term.value = std::string(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (term.value.empty()) return fail(invalid_parameter("q", "has a term without a value"));
    terms.push_back(std::move(term));
  }
}

std::optional<ApiError> apply_search(ListRequest& request, const SearchTerm& term) {
  if (term.key == "title") {
    request.title_contains = term.value;
    return std::nullopt;
  }
  if (term.key == "archived") {
    if (term.value != "true" && term.value != "false") return invalid_parameter("q", "archived must be true or false");
    request.archived = term.value == "true";
    return std::nullopt;
  }
  if (term.key == "has_unread") {
    if (term.value != "true" && term.value != "false")
      return invalid_parameter("q", "has_unread must be true or false");
    request.has_unread = term.value == "true";
    return std::nullopt;
  }
  if (term.key == "source" && term.value == "created_by_me") return std::nullopt;  // all that anybody can list
  return invalid_parameter("q",
                           "has a term that this release does not know; title:, archived:, has_unread: and "
                           "source:created_by_me work");
}

}  // namespace

Result<ListRequest, ApiError> decode_list(const QueryParameters& query) {
  ListRequest request;
  request.archived = false;
  if (const auto search = find_parameter(query, "q")) {
    const auto terms = parse_search(*search);
    if (!terms) return fail(terms.error());
    for (const auto& term : *terms) {
      if (auto error = apply_search(request, term)) return fail(std::move(*error));
    }
  }
  for (const auto& [name, value] : query) {
    if (name != "label") continue;
    const auto colon = value.find(':');
    if (colon == value.npos || colon == 0 || colon + 1 == value.size()) {
      return fail(invalid_parameter("label", "must be key:value, neither of them empty"));
    }
    request.labels.emplace_back(value.substr(0, colon), value.substr(colon + 1));
  }
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  const auto limit = integer_parameter(query, "limit", 0, kNoLimit);
  if (!limit) return fail(limit.error());
  if (limit->value_or(0) > 0) request.limit = std::min(**limit, kListChatsMax);
  const auto offset = integer_parameter(query, "offset", 0, kNoLimit);
  if (!offset) return fail(offset.error());
  request.offset = offset->value_or(0);
  if (const auto after = find_parameter(query, "after_id"); after && !after->empty()) {
    request.after_id = ChatId::parse(*after);
    if (!request.after_id) return fail(invalid_parameter("after_id", "must be a UUID"));
  }
  return request;
}

Result<PageRequest, ApiError> decode_page(const QueryParameters& query) {
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  PageRequest request;
  const auto before = integer_parameter(query, "before_id", 1, kNoLimit);
  if (!before) return fail(before.error());
  request.before_id = *before;
  const auto after = integer_parameter(query, "after_id", 1, kNoLimit);
  if (!after) return fail(after.error());
  request.after_id = *after;
  if (request.before_id && request.after_id && *request.after_id >= *request.before_id) {
    return fail(invalid_parameter("after_id", "must be less than before_id"));
  }
  const auto limit = integer_parameter(query, "limit", 1, kPageMessagesMax);
  if (!limit) return fail(limit.error());
  request.limit = limit->value_or(kPageMessagesDefault);
  return request;
}

}  // namespace assay::api
