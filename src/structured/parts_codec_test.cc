#include "structured/parts_codec.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "json/limits.h"
#include "structured/outcome.h"

namespace assay::structured {
namespace {

constexpr std::string_view kIdText = "11111111-1111-4111-8111-111111111111";
const RequestId kId = *RequestId::parse(kIdText);

template <class Part>
std::string encoded(const Part& part) {
  json::Writer out;
  encode(part, out);
  return out.take();
}

template <class Decode>
auto decoded(Decode decode, const std::string& text) {
  const auto document = json::Document::parse(text, json::kEnvelopeCaps);
  EXPECT_TRUE(document.has_value()) << text;
  return decode(document->root());
}

std::string request_text(std::string_view members) {
  return fmt::format(R"({{"type":"structured-output-request","structured_output_data":{{"request_id":"{}"{}}}}})",
                     kIdText, members);
}
std::string control_text(std::string_view members) {
  return fmt::format(R"({{"type":"structured-output-control","structured_output_data":{{"request_id":"{}"{}}}}})",
                     kIdText, members);
}
std::string outcome_text(std::string_view members) {
  return fmt::format(R"({{"type":"structured-output-outcome","structured_output_data":{{"request_id":"{}"{}}}}})",
                     kIdText, members);
}

TEST(PartsCodec, RoundTripsRequests) {
  RequestPart part{.request_id = kId, .name = "report", .description = std::nullopt, .schema = R"({ "const" : 1e25 })"};
  EXPECT_EQ(decoded(decode_request, encoded(part)), part);
  part.description = "what \"it\" says\n";
  EXPECT_EQ(decoded(decode_request, encoded(part)), part);
}

TEST(PartsCodec, RoundTripsControls) {
  const ControlPart candidate{.request_id = kId,
                              .kind = ControlKind::Candidate,
                              .value = R"({"b":10.00,"a":9007199254740993})",
                              .finish = Finish::ToolUse,
                              .answers_finalizer = false};
  EXPECT_EQ(decoded(decode_control, encoded(candidate)), candidate);
  for (const Finish finish : {Finish::Complete, Finish::ToolUse, Finish::Refusal, Finish::ContentFilter, Finish::Length,
                              Finish::Pause, Finish::Error, Finish::Unknown}) {
    const ControlPart rejection{.request_id = kId,
                                .kind = ControlKind::Rejection,
                                .value = {},
                                .finish = finish,
                                .answers_finalizer = finish == Finish::Length};
    EXPECT_EQ(decoded(decode_control, encoded(rejection)), rejection);
  }
  const ControlPart invalidation{.request_id = kId,
                                 .kind = ControlKind::Invalidation,
                                 .value = {},
                                 .finish = Finish::Unknown,
                                 .answers_finalizer = false};
  EXPECT_EQ(decoded(decode_control, encoded(invalidation)), invalidation);
}

TEST(PartsCodec, RoundTripsOutcomes) {
  for (const OutcomePart& part : {succeeded(kId, "null"), succeeded(kId, R"("\u00e4")"),
                                  ended(kId, OutcomeCode::NotProduced), ended(kId, OutcomeCode::Superseded)}) {
    EXPECT_EQ(decoded(decode_outcome, encoded(part)), part);
  }
}

TEST(PartsCodec, RefusesRequestsThatTheServerDidNotWrite) {
  const std::string long_name(65, 'n');
  const std::string long_description(1025, 'd');
  const std::string long_schema(json::kSchemaCaps.bytes_max + 1, ' ');
  for (const std::string& members : {
           std::string(R"(,"name":"n")"),
           std::string(R"(,"schema":"{}")"),
           std::string(R"(,"name":"n","schema":{})"),
           std::string(R"(,"name":"n","schema":"")"),
           std::string(R"(,"name":"n","schema":"{}","strict":true)"),
           std::string(R"(,"name":"a b","schema":"{}")"),
           std::string(R"(,"name":"n","schema":"{}","description":null)"),
           fmt::format(R"(,"name":"{}","schema":"{{}}")", long_name),
           fmt::format(R"(,"name":"n","schema":"{{}}","description":"{}")", long_description),
           fmt::format(R"(,"name":"n","schema":"{}")", long_schema),
       }) {
    const auto part = decoded(decode_request, request_text(members));
    ASSERT_FALSE(part.has_value()) << members;
    EXPECT_EQ(part.error().request_id, kId) << "the id is still readable";
  }
}

TEST(PartsCodec, RefusesAnotherEnvelope) {
  for (
      const char* text : {
          R"({"type":"structured-output-request"})",
          R"({"type":"structured-output-request","structured_output_data":[]})",
          R"({"type":"structured-output-request","structured_output_data":{"request_id":"x","name":"n","schema":"{}"}})",
          R"({"type":"structured-output-request","structured_output_data":{"name":"n","schema":"{}"}})",
          R"({"structured_output_data":{}})",
          "null",
      }) {
    EXPECT_FALSE(decoded(decode_request, text).has_value()) << text;
  }
  const std::string extra = request_text(R"(,"name":"n","schema":"{}")");
  EXPECT_TRUE(decoded(decode_request, extra).has_value());
  EXPECT_FALSE(decoded(decode_request, extra.substr(0, extra.size() - 1) + R"(,"text":""})").has_value());
  EXPECT_FALSE(decoded(decode_control, extra).has_value());
}

TEST(PartsCodec, RefusesControlsThatTheServerDidNotWrite) {
  for (const char* members : {
           R"(,"kind":"candidate")",
           R"(,"kind":"candidate","value":"1")",
           R"(,"kind":"candidate","value":"1","finish":"length")",
           R"(,"kind":"candidate","value":"1","finish":"done")",
           R"(,"kind":"candidate","value":"1 2","finish":"tool_use")",
           R"(,"kind":"candidate","value":"","finish":"tool_use")",
           R"(,"kind":"candidate","value":1,"finish":"tool_use")",
           R"(,"kind":"candidate","value":"1","finish":"tool_use","answers_finalizer":false)",
           R"(,"kind":"rejection","finish":"length")",
           R"(,"kind":"rejection","finish":"length","answers_finalizer":"no")",
           R"(,"kind":"invalidation","finish":"length")",
           R"(,"kind":"other")",
           R"()",
       }) {
    EXPECT_FALSE(decoded(decode_control, control_text(members)).has_value()) << members;
  }
}

TEST(PartsCodec, MakesASuccessWithoutAValueImpossible) {
  for (const char* members : {
           R"(,"status":"succeeded")",
           R"(,"status":"succeeded","value":"")",
           R"(,"status":"succeeded","value":null)",
           R"(,"status":"succeeded","value":"{\"a\":1,\"a\":2}")",
           R"(,"status":"succeeded","value":"1","error":{"code":"not_produced","message":""}})",
       }) {
    const std::string text = outcome_text(members);
    const auto document = json::Document::parse(text, json::kEnvelopeCaps);
    if (!document) continue;
    EXPECT_FALSE(decode_outcome(document->root()).has_value()) << members;
  }
  EXPECT_TRUE(decoded(decode_outcome, outcome_text(R"(,"status":"succeeded","value":"null")")).has_value());
}

TEST(PartsCodec, RefusesOutcomesWhoseErrorDoesNotFit) {
  const std::string long_message(kOutcomeMessageBytesMax + 1, 'm');
  for (const std::string& members : {
           std::string(R"(,"status":"failed")"),
           std::string(R"(,"status":"failed","value":"1")"),
           std::string(R"(,"status":"failed","error":{"code":"interrupted","message":"m"})"),
           std::string(R"(,"status":"canceled","error":{"code":"not_produced","message":"m"})"),
           std::string(R"(,"status":"failed","error":{"code":"not_produced"})"),
           std::string(R"(,"status":"failed","error":{"code":"not_produced","message":"m","detail":""})"),
           fmt::format(R"(,"status":"failed","error":{{"code":"not_produced","message":"{}"}})", long_message),
       }) {
    EXPECT_FALSE(decoded(decode_outcome, outcome_text(members)).has_value()) << members;
  }
}

TEST(PartsCodec, CapsValuesWhenReadBack) {
  const std::string fits = "[" + std::string(json::kOutputCaps.bytes_max - 2, ' ') + "]";
  const std::string over = "[" + std::string(json::kOutputCaps.bytes_max - 1, ' ') + "]";
  EXPECT_TRUE(decoded(decode_outcome, encoded(succeeded(kId, fits))).has_value());
  EXPECT_FALSE(decoded(decode_outcome, encoded(succeeded(kId, over))).has_value());
}

TEST(PartsCodec, ReservesTheWholePrefix) {
  EXPECT_TRUE(is_internal_type("structured-output-request"));
  EXPECT_TRUE(is_internal_type("structured-output-anything"));
  EXPECT_FALSE(is_internal_type("text"));
}

}  // namespace
}  // namespace assay::structured
