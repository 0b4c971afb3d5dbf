#include "json/pointer.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "json/characters.h"

namespace assay::json {
namespace {

void append_escaped(std::string& out, std::string_view token) {
  for (const char c : token) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
}

// Nothing where a ~ is followed by neither 0 nor 1.
std::optional<std::string> unescape_token(std::string_view token) {
  std::string plain;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      plain += token[i];
      continue;
    }
    if (++i == token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
    plain += token[i] == '0' ? '~' : '/';
  }
  return plain;
}

// Digits without leading zeros (section 4).
std::optional<std::size_t> parse_index(std::string_view token) {
  if (token.empty() || (token.size() > 1 && token[0] == '0')) return std::nullopt;
  std::size_t index = 0;
  const auto read = std::from_chars(token.data(), token.data() + token.size(), index);
  if (read.ec != std::errc() || read.ptr != token.data() + token.size()) return std::nullopt;
  return index;
}

std::optional<Value> child(const Value& value, std::string_view escaped_token) {
  if (value.is(Kind::Object)) {
    const auto key = unescape_token(escaped_token);
    return key ? value.find(*key) : std::nullopt;
  }
  if (!value.is(Kind::Array)) return std::nullopt;
  const auto index = parse_index(escaped_token);
  if (!index || *index >= value.size()) return std::nullopt;
  return *std::next(value.elements().begin(), static_cast<std::ptrdiff_t>(*index));
}

bool ends_scalar(char c) { return is_space(c) || std::string_view(",:[]{}\"").contains(c); }

// Follows the brackets, commas and strings of a text up to an offset.
class Locator {
 public:
  explicit Locator(std::string_view text) : text_(text) {}

  std::string run(std::size_t offset) {
    std::size_t at = 0;
    while (at < text_.size()) {
      const std::size_t end = token_end(at);
      begin_token(at, end);
      if (offset < end) break;
      end_token(text_[at]);
      at = end;
    }
    return pointer();
  }

 private:
  struct Level {
    bool is_object;
    bool inside = false;  // of an element or member
    bool has_key = false;
    std::size_t index = 0;
    std::string_view key = {};  // as written, with its quotes
  };

  [[nodiscard]] std::size_t token_end(std::size_t at) const {
    const char first = text_[at];
    std::size_t end = at + 1;
    if (first == '"') {
      while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
      return std::min(end + 1, text_.size());
    }
    if (ends_scalar(first)) return end;
    while (end < text_.size() && !ends_scalar(text_[end])) ++end;
    return end;
  }

  void begin_token(std::size_t at, std::size_t end) {
    const char first = text_[at];
    if (levels_.empty() || is_space(first) || std::string_view(",:]}").contains(first)) return;
    Level& level = levels_.back();
    if (!level.is_object) {
      level.inside = true;
    } else if (!level.has_key && first == '"') {
      level.key = text_.substr(at, end - at);
      level.inside = level.key.size() >= 2 && level.key.ends_with('"');
    }
  }

  void end_token(char first) {
    switch (first) {
      case '{':
      case '[':
        levels_.push_back({.is_object = first == '{'});
        return;
      case '}':
      case ']':
        if (!levels_.empty()) levels_.pop_back();
        end_value();
        return;
      case ',':
        if (levels_.empty()) return;
        ++levels_.back().index;
        levels_.back().has_key = false;
        levels_.back().inside = false;
        return;
      case ':':
        if (!levels_.empty()) levels_.back().has_key = true;
        return;
      default:
        if (!is_space(first) && !levels_.empty() && (levels_.back().has_key || !levels_.back().is_object)) end_value();
    }
  }

  void end_value() {
    if (!levels_.empty()) levels_.back().inside = false;
  }

  [[nodiscard]] std::string pointer() const {
    Pointer path;
    for (const Level& level : levels_) {
      if (!level.inside) break;
      if (!level.is_object) {
        path.push(level.index);
        continue;
      }
      const auto key = Document::parse(std::string(level.key), {}, Dialect::Lenient);
      path.push(key ? key->root().string() : level.key.substr(1, level.key.size() - 2));
    }
    return path.text();
  }

  std::string_view text_;
  std::vector<Level> levels_;
};

}  // namespace

void Pointer::push(std::string_view token) {
  begins_.push_back(text_.size());
  text_ += '/';
  append_escaped(text_, token);
}

void Pointer::push(std::size_t index) {
  begins_.push_back(text_.size());
  text_ += '/';
  text_ += std::to_string(index);
}

void Pointer::pop() {
  ASSAY_CHECK(!begins_.empty(), "the pointer has no token");
  text_.resize(begins_.back());
  begins_.pop_back();
}

std::string escape_token(std::string_view token) {
  std::string escaped;
  append_escaped(escaped, token);
  return escaped;
}

std::optional<Value> resolve(const Value& root, std::string_view pointer) {
  std::optional<Value> value = root;
  while (value && !pointer.empty()) {
    if (pointer[0] != '/') return std::nullopt;
    pointer.remove_prefix(1);
    const std::string_view token = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(token.size());
    value = child(*value, token);
  }
  return value;
}

std::string locate(std::string_view text, std::size_t offset) { return Locator(text).run(offset); }

}  // namespace assay::json
