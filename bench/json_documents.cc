#include "bench/json_documents.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/random.h"

namespace assay::bench {
namespace {

std::string read_all(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<DocumentSet> real_sets() {
  const char* chosen = std::getenv("ASSAY_BENCH_DIR");
  const std::filesystem::path folder = chosen != nullptr
                                           ? std::filesystem::path(chosen)
                                           : std::filesystem::path(ASSAY_SOURCE_DIR) / "../shared/data/bench";
  std::vector<DocumentSet> sets;
  if (!std::filesystem::is_directory(folder)) {
    std::cerr << "no real documents: " << folder << " is missing\n";
    return sets;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    DocumentSet set{entry.path().filename().string(), read_all(entry.path() / "schema.json"), {}};
    std::ifstream in(entry.path() / "instances.jsonl");
    for (std::string line; std::getline(in, line);) set.documents.push_back(line);
    if (!set.documents.empty()) sets.push_back(std::move(set));
  }
  std::ranges::sort(sets, {}, &DocumentSet::name);
  return sets;
}

std::string word(Random& random) {
  std::string text;
  for (std::uint64_t left = 2 + random.below(9); left > 0; --left) text += static_cast<char>('a' + random.below(26));
  return text;
}

std::string prose(Random& random, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += word(random) + ' ';
  return text;
}

constexpr std::string_view kToolCall =
    R"({"command":"grep","path":"src/json/parser.cc","pattern":"read_long_string","flags":["-n","--color=never"],)"
    R"("context_lines":3,"timeout_ms":30000,"reason":"Find where strings that are not short are read."})";

constexpr std::string_view kToolSchema = R"({
  "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
  "properties": {
    "command": {"enum": ["grep", "find", "sed", "cat"]},
    "path": {"type": "string", "minLength": 1, "maxLength": 256},
    "pattern": {"type": "string", "maxLength": 200},
    "flags": {"type": "array", "items": {"type": "string", "pattern": "^--?[a-z][a-z=-]*$"}, "maxItems": 8},
    "context_lines": {"type": "integer", "minimum": 0, "maximum": 50},
    "timeout_ms": {"type": "integer", "minimum": 1, "maximum": 600000},
    "reason": {"type": "string"}
  },
  "required": ["command", "path"], "additionalProperties": false})";

constexpr std::string_view kRecordsSchema = R"({
  "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
  "properties": {
    "pages": {
      "type": "array",
      "items": {
        "type": "array", "maxItems": 200,
        "items": {
          "type": "object",
          "properties": {
            "id": {"type": "integer", "minimum": 0},
            "name": {"type": "string", "minLength": 1, "maxLength": 64},
            "active": {"type": "boolean"},
            "score": {"type": "number", "minimum": 0, "exclusiveMaximum": 100},
            "note": {"type": ["string", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": true}
          },
          "required": ["id", "name", "active", "score"], "additionalProperties": false
        }
      }
    }
  },
  "required": ["pages"], "additionalProperties": false})";

std::string schema_of_rows(std::string_view item) {
  return R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":{"type":"array","items":)" +
         std::string(item) + "}}";
}

// Arrays of at most so many elements, since an output value may hold no wider one.
constexpr int kRowLength = 120;

// Records as a model would submit them; a faulty text has one wrong type in its last record.
std::string records(Random& random, std::size_t bytes, bool indented, bool faulty) {
  const std::string_view line = indented ? "\n      " : "";
  const std::string_view space = indented ? " " : "";
  std::string text = "{\"pages\":[[";
  bool is_last = false;
  for (int id = 0; !is_last; ++id) {
    is_last = text.size() + 150 >= bytes;
    if (id > 0) text += id % kRowLength == 0 ? "],[" : ",";
    const auto member = [&](std::string_view name, const std::string& value, bool first = false) {
      text += first ? "" : ",";
      text.append(line).append("\"").append(name).append("\":").append(space).append(value);
    };
    text += indented ? "\n    {" : "{";
    member("id", std::to_string(id * 7919), true);
    member("name", '"' + word(random) + ' ' + word(random) + '"');
    member("active", faulty && is_last ? "\"yes\"" : random.below(2) == 0 ? "true" : "false");
    member("score", std::to_string(random.below(100)) + "." + std::to_string(random.below(100)));
    member("note", random.below(4) == 0 ? "null" : '"' + prose(random, 20 + random.below(60)) + '"');
    member("tags", "[\"" + word(random) + "\",\"" + word(random) + "\"]");
    text += indented ? "\n    }" : "}";
  }
  return text + "]]}";
}

std::string rows(std::size_t bytes, auto element) {
  std::string text = "[[";
  for (int count = 0; text.size() < bytes; ++count) {
    if (count > 0) text += count % kRowLength == 0 ? "],[" : ",";
    text += element();
  }
  return text + "]]";
}

std::vector<DocumentSet> made_sets() {
  SeededRandom random(2024);
  std::vector<DocumentSet> sets;
  const auto add = [&](std::string name, std::string schema, std::string text) {
    sets.push_back({std::move(name), std::move(schema), {std::move(text)}});
  };
  const auto add_records = [&](std::string name, std::size_t bytes, bool indented, bool faulty) {
    add(std::move(name), std::string(kRecordsSchema), records(random, bytes, indented, faulty));
  };
  add("made-tool-call", std::string(kToolSchema), std::string(kToolCall));
  add_records("made-1K", 1'000, false, false);
  add_records("made-16K", 16'000, false, false);
  add_records("made-64K", 64'000, false, false);
  add_records("made-1K-invalid", 1'000, false, true);
  add_records("made-16K-invalid", 16'000, false, true);
  add_records("made-64K-invalid", 64'000, false, true);
  add_records("made-64K-indented", 64'000, true, false);
  const std::string strings = schema_of_rows(R"({"type":"string"})");
  add("made-prose", strings, rows(60'000, [&] { return '"' + prose(random, 2000) + '"'; }));
  add("made-cjk", strings, rows(60'000, [&] {
        std::string text = "\"";
        for (int i = 0; i < 200; ++i) {
          text += static_cast<char>(0xE4 + random.below(5));
          text += static_cast<char>(0x80 + random.below(64));
          text += static_cast<char>(0x80 + random.below(64));
        }
        return text + '"';
      }));
  add("made-escapes", strings, rows(56'000, [&] {
        std::string text = "\"";
        for (int i = 0; i < 100; ++i) text += "\\u4e" + std::to_string(10 + random.below(90));
        return text + '"';
      }));
  add("made-numbers", schema_of_rows(R"({"type":"number"})"), rows(31'000, [&] {
        return std::to_string(random.next() >> random.below(64)) +
               (random.below(2) == 0 ? "." + std::to_string(random.below(100'000)) : "");
      }));
  add("made-1900-keys",
      R"({"$schema":"http://json-schema.org/draft-07/schema#","additionalProperties":{"type":"string"}})", [&] {
        std::string text = "{";
        for (int i = 0; i < 1900; ++i)
          text += (i > 0 ? ",\"" : "\"") + word(random) + std::to_string(i) + "\":\"" + word(random) + '"';
        return text + "}";
      }());
  add("made-tiny-tokens", schema_of_rows("{}"), rows(12'000, [&]() -> std::string {
        static constexpr const char* kTokens[] = {"1", "[]", "\"\"", "{}", "[0]", "true", "{\"a\":2}", "null"};
        return kTokens[random.below(std::size(kTokens))];
      }));
  return sets;
}

}  // namespace

std::vector<DocumentSet> document_sets() {
  std::vector<DocumentSet> sets = real_sets();
  for (DocumentSet& set : made_sets()) sets.push_back(std::move(set));
  return sets;
}

}  // namespace assay::bench
