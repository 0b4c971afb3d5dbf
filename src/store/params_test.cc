#include "store/params.h"

#include <gmock/gmock.h>

#include <array>

namespace assay::store {
namespace {

using ::testing::ElementsAre;
using ::testing::StrEq;

TEST(Params, ReplaceWhatPostgresCannotHoldInText) {
  Params params;
  params.text(std::string_view("a\0b\xFF", 4)).json(std::string_view("[\"\0\"]", 5));
  EXPECT_THAT(params.pointers()[0], StrEq("a\xEF\xBF\xBD"
                                          "b\xEF\xBF\xBD"));
  EXPECT_THAT(params.pointers()[1], StrEq("[\"\xEF\xBF\xBD\"]"));
}

TEST(Params, ReplaceWhatJsonbCannotHoldInEscapes) {
  EXPECT_EQ(storable_json(R"({"a":"\u0000"})"), R"({"a":"\ufffd"})");
  EXPECT_EQ(storable_json(R"(["\ud83d\ude00"])"), R"(["\ud83d\ude00"])");
  EXPECT_EQ(storable_json(R"(["\ud83d","\ude00"])"), R"(["\ufffd","\ufffd"])");
  EXPECT_EQ(storable_json(R"(["\ud83d\u0041"])"), R"(["\ufffd\u0041"])");
  EXPECT_EQ(storable_json(R"(["\\u0000"])"), R"(["\\u0000"])");  // a backslash and text
  EXPECT_EQ(storable_json(R"(["\\\u0000"])"), R"(["\\\ufffd"])");
  EXPECT_EQ(storable_json(R"(["\n\u00e9\D800"])"), R"(["\n\u00e9\D800"])");
}

TEST(Params, SpellEachTypeAsPostgresReadsIt) {
  const Uuid id = *Uuid::parse("11111111-1111-4111-8111-111111111111");
  Params params;
  params.null().integer(-7).boolean(true).boolean(false).uuid(id);
  params.integers(std::array<std::int64_t, 2>{1, 2}).integers({}).uuids(std::array{id, id});
  params.text(std::optional<std::string>()).integer(std::optional<std::int64_t>(3));
  const auto pointers = params.pointers();
  ASSERT_EQ(pointers.size(), 10U);
  EXPECT_EQ(pointers[0], nullptr);
  EXPECT_THAT(
      (std::vector<std::string>(pointers.begin() + 1, pointers.begin() + 8)),
      ElementsAre("-7", "t", "f", id.to_string(), "{1,2}", "{}", "{" + id.to_string() + "," + id.to_string() + "}"));
  EXPECT_EQ(pointers[8], nullptr);
  EXPECT_THAT(pointers[9], StrEq("3"));
}

}  // namespace
}  // namespace assay::store
