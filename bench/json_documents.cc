#include "bench/json_documents.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/random.h"

namespace assay::bench {
namespace {

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
    DocumentSet set{entry.path().filename().string(), {}};
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

// Records as a model would submit them.
std::string records(Random& random, std::size_t bytes, bool indented) {
  const std::string_view line = indented ? "\n      " : "";
  const std::string_view space = indented ? " " : "";
  std::string text = "{\"items\":[";
  for (int id = 0; text.size() < bytes; ++id) {
    if (id > 0) text += ',';
    const auto member = [&](std::string_view name, const std::string& value, bool first = false) {
      text += first ? "" : ",";
      text.append(line).append("\"").append(name).append("\":").append(space).append(value);
    };
    text += indented ? "\n    {" : "{";
    member("id", std::to_string(id * 7919), true);
    member("name", '"' + word(random) + ' ' + word(random) + '"');
    member("active", random.below(2) == 0 ? "true" : "false");
    member("score", std::to_string(random.below(100)) + "." + std::to_string(random.below(100)));
    member("note", random.below(4) == 0 ? "null" : '"' + prose(random, 20 + random.below(60)) + '"');
    member("tags", "[\"" + word(random) + "\",\"" + word(random) + "\"]");
    text += indented ? "\n    }" : "}";
  }
  return text + "]}";
}

std::vector<DocumentSet> made_sets() {
  SeededRandom random(2024);
  std::vector<DocumentSet> sets;
  const auto add = [&](std::string name, std::string text) { sets.push_back({std::move(name), {std::move(text)}}); };
  const auto array_of = [](std::size_t bytes, auto element) {
    std::string text = "[";
    while (text.size() < bytes) text.append(text.size() > 1 ? "," : "").append(element());
    return text + "]";
  };
  add("made-1K", records(random, 1'000, false));
  add("made-16K", records(random, 16'000, false));
  add("made-64K", records(random, 64'000, false));
  add("made-64K-indented", records(random, 64'000, true));
  add("made-prose", array_of(60'000, [&] { return '"' + prose(random, 2000) + '"'; }));
  add("made-cjk", array_of(60'000, [&] {
        std::string text = "\"";
        for (int i = 0; i < 200; ++i) {
          text += static_cast<char>(0xE4 + random.below(5));
          text += static_cast<char>(0x80 + random.below(64));
          text += static_cast<char>(0x80 + random.below(64));
        }
        return text + '"';
      }));
  add("made-escapes", array_of(56'000, [&] {
        std::string text = "\"";
        for (int i = 0; i < 100; ++i) text += "\\u4e" + std::to_string(10 + random.below(90));
        return text + '"';
      }));
  add("made-numbers", array_of(31'000, [&] {
        return std::to_string(random.next() >> random.below(64)) +
               (random.below(2) == 0 ? "." + std::to_string(random.below(100'000)) : "");
      }));
  add("made-1900-keys", [&] {
    std::string text = "{";
    for (int i = 0; i < 1900; ++i)
      text += (i > 0 ? ",\"" : "\"") + word(random) + std::to_string(i) + "\":\"" + word(random) + '"';
    return text + "}";
  }());
  add("made-tiny-tokens", array_of(13'000, [&]() -> std::string {
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
