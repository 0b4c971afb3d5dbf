#include "structured/finalizer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "json/limits.h"

namespace assay::structured {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

schema::Schema compiled(std::string_view text) {
  auto schema = schema::Schema::compile(text);
  EXPECT_TRUE(schema.has_value()) << text;
  return *schema;
}

RejectionKind kind_of(std::string_view raw) {
  const auto screened = screen_arguments(raw);
  EXPECT_FALSE(screened.has_value()) << raw.substr(0, 80);
  return screened.error().kind;
}

TEST(FinalizerParameters, CarryTheSchemaByteForByte) {
  EXPECT_EQ(finalizer_parameters(R"({ "type" : "object", "required":["a"] })"),
            R"({"type":"object","properties":{"output":{ "type" : "object", "required":["a"] }},)"
            R"("required":["output"],"additionalProperties":false})");
}

struct DialectCase {
  const char* schema;
  const char* offered;
};

TEST(FinalizerParameters, LeaveOutTheRootDialectAlone) {
  constexpr const char* kUri = "http://json-schema.org/draft-07/schema#";
  for (const DialectCase& known : {
           DialectCase{R"({"$schema":"@"})", R"({})"},
           DialectCase{R"({ "$schema" : "@" })", R"({ })"},
           DialectCase{R"({"$schema":"@", "type":"null"})", R"({ "type":"null"})"},
           DialectCase{R"({"type":"null" , "$schema":"@" })", R"({"type":"null" })"},
           DialectCase{R"({"type":"null", "$schema":"@" ,"not":{}})", R"({"type":"null" ,"not":{}})"},
           DialectCase{R"({"\u0024schema":"@","const":1e2})", R"({"const":1e2})"},
           DialectCase{R"({"properties":{"$schema":{"const":"@"}}})", R"({"properties":{"$schema":{"const":"@"}}})"},
           DialectCase{R"({"const":{"$schema":"@"}})", R"({"const":{"$schema":"@"}})"},
       }) {
    const auto spelled = [&](std::string text) {
      for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@')) text.replace(at, 1, kUri);
      return text;
    };
    const std::string schema = spelled(known.schema);
    EXPECT_EQ(finalizer_parameters(schema), R"({"type":"object","properties":{"output":)" + spelled(known.offered) +
                                                R"(},"required":["output"],"additionalProperties":false})");
    EXPECT_TRUE(schema::Schema::compile(schema).has_value()) << schema;
    EXPECT_TRUE(schema::Schema::compile(spelled(known.offered)).has_value()) << known.offered;
  }
}

TEST(FinalizerParameters, AreRespelledForWiresOfANewerDialect) {
  EXPECT_EQ(finalizer_parameters_2020_12(R"({"$schema":"http://json-schema.org/draft-07/schema#","items":[{}]})"),
            R"({"type":"object","properties":{"output":{"prefixItems":[{}]}},)"
            R"("required":["output"],"additionalProperties":false})");
}

TEST(FinalizerTexts, SayWhenToCallAndWhatTheCallerSaid) {
  RequestPart request{.request_id = {}, .name = "project_report", .description = std::nullopt, .schema = "{}"};
  EXPECT_THAT(finalizer_description(request), HasSubstr("when the work is done"));
  EXPECT_THAT(finalizer_description(request), HasSubstr("project_report"));
  request.description = "How to test.";
  EXPECT_THAT(finalizer_description(request), HasSubstr("How to test."));
  EXPECT_THAT(std::string(finalizer_instruction()), HasSubstr(std::string(kFinalizerName)));
  EXPECT_LT(acknowledgement().size(), 100u);
}

TEST(ScreenArguments, DropsWhiteSpaceAndKeepsEverythingElse) {
  const auto screened = screen_arguments(" { \"output\" : { \"b\" : [ 1e25 , 10.00 ] , \"a\" : \"x y\\u0020\" } } ");
  ASSERT_TRUE(screened.has_value());
  EXPECT_EQ(screened->output, R"({"b":[1e25,10.00],"a":"x y\u0020"})");
  EXPECT_EQ(screened->value.root().raw(), screened->output);
}

TEST(ScreenArguments, TakesEveryKindOfValue) {
  for (const char* value : {"null", "true", "0", "\"\"", "[]", "{}"}) {
    const auto screened = screen_arguments(fmt::format(R"({{"output":{}}})", value));
    ASSERT_TRUE(screened.has_value()) << value;
    EXPECT_EQ(screened->output, value);
  }
}

TEST(ScreenArguments, RefusesWhatIsNotOneJsonValue) {
  for (const char* raw : {"", "{", R"({"output":1)", R"({"output":1}{})", R"({"output":1,"output":2})",
                          R"({"output":1,"\u006futput":2})", R"({"output":"\ud800"})", R"({"output":"\u0000"})",
                          "{\"output\":\"\xFF\"}", R"({"output":1e1025})", R"({'output':1})", R"({"output":NaN})"}) {
    EXPECT_EQ(kind_of(raw), RejectionKind::InvalidJson) << raw;
  }
}

TEST(ScreenArguments, RefusesAnotherEnvelope) {
  for (const char* raw : {"null", "[]", "{}", R"("x")", R"({"Output":1})", R"({"output":1,"note":""})", R"({"a":1})"}) {
    EXPECT_EQ(kind_of(raw), RejectionKind::WrongEnvelope) << raw;
  }
}

std::string arguments_of_size(std::size_t output_bytes) {
  return fmt::format(R"({{"output":"{}"}})", std::string(output_bytes - 2, 'x'));
}

TEST(ScreenArguments, HoldsTheByteCaps) {
  EXPECT_TRUE(screen_arguments(arguments_of_size(json::kOutputCaps.bytes_max)).has_value());
  EXPECT_EQ(kind_of(arguments_of_size(json::kOutputCaps.bytes_max + 1)), RejectionKind::TooLarge);
  const std::string padded = R"({"output":1})" + std::string(json::kArgumentsCaps.bytes_max - 12, ' ');
  EXPECT_TRUE(screen_arguments(padded).has_value());
  EXPECT_EQ(kind_of(padded + " "), RejectionKind::TooLarge);
}

TEST(ScreenArguments, HoldsTheDepthCap) {
  const auto nested = [](std::size_t depth) {
    return fmt::format(R"({{"output":{}0{}}})", std::string(depth, '['), std::string(depth, ']'));
  };
  EXPECT_TRUE(screen_arguments(nested(json::kOutputCaps.depth_max)).has_value());
  EXPECT_EQ(kind_of(nested(json::kOutputCaps.depth_max + 1)), RejectionKind::TooLarge);
}

TEST(ScreenArguments, HoldsTheCountCaps) {
  const auto array = [](std::size_t elements) {
    std::string text = "[";
    for (std::size_t i = 0; i < elements; ++i) text += i == 0 ? "1" : ",1";
    return text + "]";
  };
  EXPECT_TRUE(screen_arguments(R"({"output":)" + array(256) + "}").has_value());
  EXPECT_EQ(kind_of(R"({"output":)" + array(257) + "}"), RejectionKind::TooLarge);

  // 15 full rows are 15 * 257 values, with the outer array 3856; the last row fills up to the cap.
  const auto table = [&](std::size_t last_row) {
    std::string text = "[";
    for (int row = 0; row < 15; ++row) text += array(256) + ",";
    return text + array(last_row) + "]";
  };
  EXPECT_TRUE(screen_arguments(R"({"output":)" + table(239) + "}").has_value());
  EXPECT_EQ(kind_of(R"({"output":)" + table(240) + "}"), RejectionKind::TooLarge);
}

TEST(AcceptArguments, ValidatesExactly) {
  const schema::Schema schema = compiled(R"({"type":"object","properties":{"n":{"const":9007199254740993}}})");
  EXPECT_EQ(accept_arguments(R"({"output":{"n":9007199254740993}})", schema), R"({"n":9007199254740993})");
  const auto refused = accept_arguments(R"({"output":{"n":9007199254740992}})", schema);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, RejectionKind::SchemaIssues);
  EXPECT_THAT(refused.error().feedback, HasSubstr("/n"));
  EXPECT_THAT(refused.error().feedback, Not(HasSubstr("9007199254740992")));
}

TEST(Feedback, NamesKindAndOffsetOfTheRawBoundary) {
  const auto screened = screen_arguments(R"({"output":1,"output":2})");
  ASSERT_FALSE(screened.has_value());
  EXPECT_THAT(screened.error().feedback, HasSubstr("duplicate_key"));
  EXPECT_THAT(screened.error().feedback, HasSubstr("byte 12"));
}

TEST(Feedback, StaysWithinItsBound) {
  std::vector<schema::Issue> issues;
  for (int i = 0; i < 4; ++i) {
    issues.push_back({.path = "/" + std::string(schema::kIssuePathBytesMax - 1, static_cast<char>('a' + i)),
                      .rule = std::string(schema::kIssueRuleBytesMax, 'r')});
  }
  const Rejection rejection = rejection_of(std::span<const schema::Issue>(issues));
  EXPECT_LE(rejection.feedback.size(), kModelTextBytesMax);
  EXPECT_THAT(rejection.feedback, HasSubstr("aaa"));
  for (const RejectionKind kind :
       {RejectionKind::WrongEnvelope, RejectionKind::TooComplex, RejectionKind::Truncated, RejectionKind::Incomplete,
        RejectionKind::BatchedWithCalls, RejectionKind::SeveralFinalizers, RejectionKind::BesideProviderCalls,
        RejectionKind::TextOnly}) {
    EXPECT_LE(rejection_of(kind).feedback.size(), kModelTextBytesMax);
    EXPECT_THAT(rejection_of(kind).feedback, HasSubstr("whole value"));
  }
}

TEST(Feedback, TellsACutAnswerToBeShorter) {
  EXPECT_THAT(rejection_of(RejectionKind::Truncated).feedback, HasSubstr("cut off"));
  EXPECT_THAT(rejection_of(RejectionKind::Truncated).feedback, HasSubstr("shorter"));
}

}  // namespace
}  // namespace assay::structured
