#include "providers/think_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace assay::providers {
namespace {

using Texts = std::pair<std::string, std::string>;  // reasoning, text

Texts split(std::string_view whole, std::size_t piece_bytes) {
  ThinkSplitter splitter;
  Texts texts;
  const auto add = [&](const ThinkSplitter::Split& part) {
    texts.first += part.reasoning;
    texts.second += part.text;
  };
  for (std::size_t at = 0; at < whole.size(); at += piece_bytes) add(splitter.feed(whole.substr(at, piece_bytes)));
  add(splitter.finish());
  return texts;
}

void expect_split(std::string_view whole, const Texts& expected) {
  for (std::size_t piece_bytes = 1; piece_bytes <= whole.size() + 1; ++piece_bytes) {
    EXPECT_EQ(split(whole, piece_bytes), expected) << whole << " in pieces of " << piece_bytes;
  }
}

TEST(ThinkSplitter, TakesReasoningFromTheFront) {
  expect_split("<think>why</think>\n\nbecause", {"why", "because"});
  expect_split("\n<think>\na < b </thin ?</think>x</think>", {"\na < b </thin ?", "x</think>"});
}

TEST(ThinkSplitter, LeavesTextWithoutAnOpeningTagAlone) {
  expect_split("plain", {"", "plain"});
  expect_split("  <thin ice", {"", "  <thin ice"});
  expect_split("a <think>b</think>", {"", "a <think>b</think>"});
  expect_split("<thin", {"", "<thin"});
  expect_split("", {"", ""});
}

TEST(ThinkSplitter, TakesUnendedReasoningAsReasoning) { expect_split("<think>and then</thi", {"and then</thi", ""}); }

}  // namespace
}  // namespace assay::providers
