#include "chat/content.h"

#include <gtest/gtest.h>

#include <string>

#include "structured/outcome.h"

namespace assay::chat {
namespace {

const RequestId kId = *RequestId::parse("11111111-1111-4111-8111-111111111111");

Content every_part() {
  return {
      TextPart{.text = "a \"b\"\n\xC3\xA4"},
      TextPart{.text = "cited", .provider_state = R"({"wire":"w"})"},
      ReasoningPart{.text = "hm", .provider_state = R"({"signature":"x"})"},
      ReasoningPart{.text = "", .provider_state = ""},
      ToolCallPart{.id = "c1",
                   .name = "t",
                   .arguments = R"({"n": 1e25, "n": 10.00})",
                   .rejected_arguments = false,
                   .provider_executed = false,
                   .provider_state = ""},
      ToolCallPart{.id = "c2",
                   .name = "t",
                   .arguments = "{}",
                   .rejected_arguments = true,
                   .provider_executed = true,
                   .provider_state = "[1]"},
      ToolResultPart{.call_id = "c1",
                     .name = "t",
                     .result = R"("text")",
                     .is_error = true,
                     .provider_executed = true,
                     .provider_state = "{}"},
      SourcePart{.id = "s", .url = "https://example.org", .title = ""},
      FileReferencePart{.file_name = "f.cc", .start_line = 3, .end_line = 9, .content = "int x;"},
      ProviderItemPart{.provider_state = R"({"n":1e25})"},
      PausePart{},
      structured::RequestPart{.request_id = kId, .name = "n", .description = "d", .schema = R"({"const":1.0})"},
      structured::ControlPart{.request_id = kId,
                              .kind = structured::ControlKind::Candidate,
                              .value = "1.0",
                              .finish = structured::Finish::ToolUse,
                              .answers_finalizer = false},
      structured::succeeded(kId, R"({"x":10.00})"),
  };
}

TEST(Content, RoundTripsEveryPart) {
  const auto decoded = decode_content(encode_content(every_part()));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().what;
  EXPECT_EQ(*decoded, every_part());
  EXPECT_EQ(decode_content(encode_content({})), Content{});
}

TEST(Content, KeepsExactTextsInsideStrings) {
  const std::string encoded = encode_content(every_part());
  EXPECT_NE(encoded.find(R"({\"n\": 1e25, \"n\": 10.00})"), std::string::npos);
  EXPECT_NE(encoded.find(R"("value":"{\"x\":10.00}")"), std::string::npos);
}

TEST(Content, MakesEveryTextStorable) {
  const std::string bad("a\0b\xFFz", 5);
  const std::string good =
      "a\xEF\xBF\xBD"
      "b\xEF\xBF\xBD"
      "z";
  const auto decoded = decode_content(encode_content({
      TextPart{.text = bad},
      ReasoningPart{.text = bad, .provider_state = bad},
      ToolCallPart{.id = bad,
                   .name = bad,
                   .arguments = bad,
                   .rejected_arguments = false,
                   .provider_executed = false,
                   .provider_state = bad},
      ToolResultPart{.call_id = bad,
                     .name = bad,
                     .result = bad,
                     .is_error = false,
                     .provider_executed = false,
                     .provider_state = bad},
      SourcePart{.id = bad, .url = bad, .title = bad},
      FileReferencePart{.file_name = bad, .start_line = 0, .end_line = 0, .content = bad},
      ProviderItemPart{.provider_state = bad},
  }));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().what;
  EXPECT_EQ(std::get<TextPart>((*decoded)[0]).text, good);
  EXPECT_EQ(std::get<ReasoningPart>((*decoded)[1]).provider_state, good);
  EXPECT_EQ(std::get<ToolCallPart>((*decoded)[2]).arguments, good);
  EXPECT_EQ(std::get<ToolResultPart>((*decoded)[3]).result, good);
  EXPECT_EQ(std::get<SourcePart>((*decoded)[4]).url, good);
  EXPECT_EQ(std::get<FileReferencePart>((*decoded)[5]).content, good);
  EXPECT_EQ(std::get<ProviderItemPart>((*decoded)[6]).provider_state, good);
}

TEST(StorableText, KeepsWhatIsFit) {
  EXPECT_EQ(storable_text(""), "");
  EXPECT_EQ(storable_text("tab\tand \xF0\x9F\x98\x80"), "tab\tand \xF0\x9F\x98\x80");
}

TEST(StorableText, ReplacesEachBadPiece) {
  EXPECT_EQ(storable_text(std::string_view("\0\0", 2)), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(storable_text("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(storable_text("x\xE2\x82"), "x\xEF\xBF\xBD");
}

TEST(Content, FailsClosed) {
  for (const char* text : {
           "",
           "{}",
           "null",
           "[1]",
           "[{}]",
           R"([{"type":1}])",
           R"([{"type":"unknown"}])",
           R"([{"type":"text"}])",
           R"([{"type":"text","text":1}])",
           R"([{"type":"text","text":"a","more":""}])",
           R"([{"type":"text","text":"a","text":"b"}])",
           R"([{"type":"tool-call","tool_call_id":"c","tool_name":"t","args":{}}])",
           R"([{"type":"tool-call","tool_call_id":"c","tool_name":"t","args":"{}","rejected_args":1}])",
           R"([{"type":"tool-result","tool_call_id":"c","result":"1"}])",
           R"([{"type":"source","source_id":"s"}])",
           R"([{"type":"provider-item"}])",
           R"([{"type":"pause","until":1}])",
           R"([{"type":"file-reference","file_name":"f","start_line":1.5,"end_line":2,"content":""}])",
           R"([{"type":"structured-output-outcome","structured_output_data":{}}])",
           R"([{"type":"structured-output-new","structured_output_data":{}}])",
       }) {
    EXPECT_FALSE(decode_content(text).has_value()) << text;
  }
}

TEST(Content, NamesTheRequestThatACorruptRowSpoils) {
  const std::string id = kId.to_string();
  const auto own = decode_content(R"([{"type":"structured-output-request","structured_output_data":{"request_id":")" +
                                  id + R"("}}])");
  ASSERT_FALSE(own.has_value());
  EXPECT_EQ(own.error().request_id, kId);
  const std::string request = R"({"type":"structured-output-request","structured_output_data":{"request_id":")" + id +
                              R"(","name":"n","schema":"{}"}})";
  for (const std::string& text : {"[" + request + R"(,{"type":"x"}])", R"([{"type":"x"},)" + request + "]"}) {
    const auto beside = decode_content(text);
    ASSERT_FALSE(beside.has_value());
    EXPECT_EQ(beside.error().request_id, kId);
  }
}

}  // namespace
}  // namespace assay::chat
