#include "json/document.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "json/error.h"

namespace assay::json {
namespace {

static_assert(std::forward_iterator<Elements::Iterator>);
static_assert(std::forward_iterator<Members::Iterator>);

Document parsed(std::string text, const Caps& caps = {}, Dialect dialect = Dialect::Strict) {
  auto document = Document::parse(std::move(text), caps, dialect);
  if (!document) throw std::runtime_error(describe(document.error()));
  return std::move(*document);
}

// The refusal as "code@offset"; "accepted" where there is none.
std::string refusal(std::string text, const Caps& caps = {}, Dialect dialect = Dialect::Strict) {
  const auto document = Document::parse(std::move(text), caps, dialect);
  if (document) return "accepted";
  return std::string(code_name(document.error().code)) + "@" + std::to_string(document.error().offset);
}

TEST(JsonDocument, ReadsEveryKind) {
  const Document document = parsed(R"( {"a":[1,-2.50e+3,true,false,null],"b":{"c":"x"},"":""} )");
  const Value root = document.root();
  ASSERT_TRUE(root.is(Kind::Object));
  EXPECT_EQ(root.size(), 3U);
  const Value array = *root.find("a");
  std::vector<std::string> raws;
  for (const Value element : array.elements()) raws.emplace_back(element.raw());
  EXPECT_EQ(raws, (std::vector<std::string>{"1", "-2.50e+3", "true", "false", "null"}));
  EXPECT_EQ((*array.elements().begin()).number(), "1");
  EXPECT_TRUE((*std::next(array.elements().begin(), 2)).boolean());
  EXPECT_FALSE((*std::next(array.elements().begin(), 3)).boolean());
  EXPECT_EQ(root.find("b")->find("c")->string(), "x");
  EXPECT_EQ(root.find("")->string(), "");
  EXPECT_FALSE(root.find("missing"));
}

TEST(JsonDocument, ListsMembersInDocumentOrder) {
  const Document document = parsed(R"({"z":{"y":[[],{}]},"a":2,"m":"\n"})");
  std::vector<std::string> seen;
  for (const auto& [key, value] : document.root().members())
    seen.push_back(std::string(key) + std::string(value.raw()));
  EXPECT_EQ(seen, (std::vector<std::string>{R"(z{"y":[[],{}]})", "a2", R"(m"\n")"}));
}

TEST(JsonDocument, GivesRawBytesAndOffsets) {
  const std::string text = R"( [ {"k" : "a\"b\\" } , 12 ] )";
  const Document document = parsed(text);
  EXPECT_EQ(document.text(), text);
  EXPECT_EQ(document.root().raw(), R"([ {"k" : "a\"b\\" } , 12 ])");
  EXPECT_EQ(document.root().offset(), 1U);
  const Value object = *document.root().elements().begin();
  EXPECT_EQ(object.raw(), R"({"k" : "a\"b\\" })");
  EXPECT_EQ(object.find("k")->raw(), R"("a\"b\\")");
  EXPECT_EQ(object.find("k")->string(), R"(a"b\)");
}

TEST(JsonDocument, StaysReadableAfterAMove) {
  Document first = parsed(R"(["short"])");
  const Value root = first.root();
  const Document second = std::move(first);
  EXPECT_EQ((*root.elements().begin()).string(), "short");
  EXPECT_TRUE(second.root().same_as(root));
}

TEST(JsonDocument, Unescapes) {
  EXPECT_EQ(parsed(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\uD83D\ude00")").root().string(),
            "\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001F600");
}

// AddressSanitizer watches what is read.
TEST(JsonDocument, PadsEveryView) {
  const auto sum_behind = [](std::string_view view) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < kPaddingBytes; ++i) sum += static_cast<unsigned char>(view.data()[view.size() + i]);
    return sum;
  };
  for (std::size_t bytes = 0; bytes < 200; ++bytes) {
    const std::string plain = '"' + std::string(bytes, 'x') + '"';
    const std::string escaped = '"' + std::string(bytes, 'x') + "\\n\"";
    Reader reader;
    for (std::string text : {plain, escaped}) {
      text.shrink_to_fit();
      (void)sum_behind(parsed(text).root().string());
      (void)sum_behind(reader.read(text, {})->string());
    }
    (void)sum_behind(parsed(std::string(bytes + 1, '1'), {}, Dialect::Lenient).root().number());
  }
}

TEST(JsonDocument, NamesTheFault) {
  EXPECT_EQ(refusal(""), "empty@0");
  EXPECT_EQ(refusal(" \n"), "empty@2");
  EXPECT_EQ(refusal("[1,"), "unexpected_end@3");
  EXPECT_EQ(refusal("{\"poem\":\"it's late\""), "unexpected_end@19");
  EXPECT_EQ(refusal("\"abc"), "unexpected_end@4");
  EXPECT_EQ(refusal("\"abc\\"), "unexpected_end@5");
  EXPECT_EQ(refusal("\"abc\\u00"), "unexpected_end@8");
  EXPECT_EQ(refusal("tru"), "unexpected_end@0");
  EXPECT_EQ(refusal("trUe"), "invalid_literal@0");
  EXPECT_EQ(refusal("[1 2]"), "unexpected_character@3");
  EXPECT_EQ(refusal("[1,]"), "unexpected_character@3");
  EXPECT_EQ(refusal("{\"a\":1,}"), "unexpected_character@7");
  EXPECT_EQ(refusal("{a:1}"), "unexpected_character@1");
  EXPECT_EQ(refusal("'a'"), "unexpected_character@0");
  EXPECT_EQ(refusal("\xEF\xBB\xBF{}"), "unexpected_character@0");
  EXPECT_EQ(refusal("1 2"), "trailing_data@2");
  EXPECT_EQ(refusal(std::string("1\0", 2)), "trailing_data@1");
  EXPECT_EQ(refusal(std::string("[\0]", 3)), "unexpected_character@1");
  EXPECT_EQ(refusal("01"), "invalid_number@1");
  EXPECT_EQ(refusal("-"), "unexpected_end@1");
  EXPECT_EQ(refusal("1.x"), "invalid_number@2");
  EXPECT_EQ(refusal("+1"), "unexpected_character@0");
  EXPECT_EQ(refusal("\"a\tb\""), "control_character@2");
  EXPECT_EQ(refusal(std::string("\"\0\"", 3)), "control_character@1");
  EXPECT_EQ(refusal("\"a\\x\""), "invalid_escape@2");
  EXPECT_EQ(refusal("\"a\\u12g4\""), "invalid_escape@2");
  EXPECT_EQ(refusal("\"\xff\""), "invalid_utf8@1");
  EXPECT_EQ(refusal("\"\\ud800\""), "lone_surrogate@1");
  EXPECT_EQ(refusal("\"\\udc00\\ud800\""), "lone_surrogate@1");
  EXPECT_EQ(refusal("\"x\\u0000\""), "nul_character@2");
  EXPECT_EQ(refusal("{\"\\u0000\":1}"), "nul_character@2");
  EXPECT_EQ(refusal(R"({"a":1,"\u0061":2})"), "duplicate_key@7");
}

TEST(Reader, ReadsATextWhereItLies) {
  char buffer[kPaddingBytes * 2] = "{\"a\":\"b\"}\0{\"c\":1}";
  Reader reader;
  const auto value = reader.read_in_place({buffer, 9}, Caps{});
  ASSERT_TRUE(value);
  EXPECT_EQ(value->find("a")->string().data(), buffer + 6);
  EXPECT_EQ(reader.read_in_place({buffer + 10, 7}, Caps{})->find("c")->number(), "1");
  EXPECT_EQ(reader.read_in_place({buffer, 9}, Caps{.bytes_max = 8}).error(), (Error{ErrorCode::TooLong, 0}));
}

}  // namespace
}  // namespace assay::json
