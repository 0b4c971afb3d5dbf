#include "base/uuid.h"

#include <gtest/gtest.h>

#include <unordered_set>

#include "base/random.h"

namespace assay {
namespace {

TEST(Uuid, PrintsWhatItParsed) {
  const std::string text = "11111111-2222-4333-8444-555555abcdef";
  ASSERT_TRUE(Uuid::parse(text));
  EXPECT_EQ(Uuid::parse(text)->to_string(), text);
}

TEST(Uuid, ParsesUpperCaseAndPrintsLowerCase) {
  EXPECT_EQ(Uuid::parse("ABCDEF00-0000-4000-8000-00000000000A")->to_string(), "abcdef00-0000-4000-8000-00000000000a");
}

TEST(Uuid, RefusesEveryOtherSpelling) {
  for (const char* text : {"", "1", "11111111222243338444555555abcdef", "{11111111-2222-4333-8444-555555abcdef}",
                           "11111111-2222-4333-8444-555555abcdeg", "11111111-2222-4333-84444-55555abcdef",
                           "11111111-2222-4333-8444-555555abcdef "}) {
    EXPECT_FALSE(Uuid::parse(text)) << text;
  }
}

TEST(Uuid, RandomOnesAreVersionFourAndDistinct) {
  SeededRandom random(42);
  std::unordered_set<Uuid> seen;
  for (int i = 0; i < 1000; ++i) {
    const Uuid id = Uuid::random(random);
    EXPECT_EQ(id.to_string()[14], '4');
    EXPECT_NE(std::string("89ab").find(id.to_string()[19]), std::string::npos);
    EXPECT_TRUE(seen.insert(id).second);
  }
}

TEST(UuidOf, KeepsKindsApart) {
  static_assert(!std::is_convertible_v<ChatId, UserId>);
  EXPECT_EQ(ChatId::parse("11111111-2222-4333-8444-555555abcdef")->to_string(), "11111111-2222-4333-8444-555555abcdef");
  EXPECT_FALSE(ChatId::parse("nonsense"));
}

}  // namespace
}  // namespace assay
