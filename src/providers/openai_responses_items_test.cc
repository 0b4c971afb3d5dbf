#include "providers/openai_responses_items.h"

#include <gtest/gtest.h>

#include "json/limits.h"
#include "providers/replay_state.h"

namespace assay::providers {
namespace {

template <class Read>
auto read(const std::string& item, Read state_of) {
  const auto document = json::Document::parse(item, json::kEnvelopeCaps, json::Dialect::Lenient);
  EXPECT_TRUE(document) << item;
  return state_of(document->root());
}
std::string replayed_message(const std::string& text, const std::string& item) {
  json::Writer writer;
  write_message_item({.text = text, .provider_state = read(item, state_of_message)}, writer);
  return writer.take();
}

TEST(ResponsesItems, BringMessagesBackAsTheyCame) {
  for (
      const char* item : {
          R"({"id":"m","type":"message","content":[{"type":"output_text","text":"t","annotations":[{"type":"url_citation","url":"u"}]}]})",
          R"({"id":"m","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]})",
          R"({"content":[{"type":"refusal","refusal":"t"}],"phase":"commentary"})",
      }) {
    EXPECT_EQ(replayed_message("t", item), item);
  }
}

TEST(ResponsesItems, StoreThePlainTextOfAMessageOnce) {
  const std::string plain = R"({"id":"m","content":[{"type":"output_text","text":"t","annotations":[]}]})";
  EXPECT_EQ(read(plain, state_of_message).find("output_text"), std::string::npos);
  EXPECT_EQ(replayed_message("t", plain), plain);
  EXPECT_EQ(replayed_message("t", R"({"id":"m","content":[]})"), plain);
  EXPECT_EQ(replayed_message("t", R"({"id":"m"})"), plain);
}

TEST(ResponsesItems, BringCallsBackWithTheirPartsArguments) {
  const auto replayed = [](const std::string& item) {
    json::Writer writer;
    chat::ToolCallPart call;
    call.id = "c";
    call.name = "f";
    call.arguments = R"({"n":1.0})";
    call.provider_state = read(item, state_of_function_call);
    write_function_call_item(call, writer);
    return writer.take();
  };
  EXPECT_EQ(
      replayed(R"({"type":"function_call","id":"fc","call_id":"x","name":"y","arguments":"z","status":"s","k":1})"),
      R"({"type":"function_call","id":"fc","k":1,"call_id":"c","name":"f","arguments":"{\"n\":1.0}"})");
  EXPECT_EQ(read(R"({"type":"function_call","call_id":"x","caller":null})", state_of_function_call), "");
  EXPECT_EQ(replayed("{}"), R"({"type":"function_call","call_id":"c","name":"f","arguments":"{\"n\":1.0}"})");
}

TEST(ResponsesItems, IgnoreAStateThatIsNoItem) {
  json::Writer writer;
  write_message_item({.text = "t", .provider_state = replay_state(Wire::OpenAiResponses, "7")}, writer);
  EXPECT_EQ(writer.take(), R"({"role":"assistant","content":"t"})");
  EXPECT_FALSE(replayable_item(replay_state(Wire::OpenAiResponses, "[]")));
  EXPECT_FALSE(replayable_item(""));
}

TEST(ResponsesItems, KeepOddBytesOfOpaqueItems) {
  const std::string item = R"({"type":"compaction", "n": 1e25, "s":"\ud800\u0000"})";
  EXPECT_EQ(replayable_item(read(item, state_of_opaque_item)), item);
}

}  // namespace
}  // namespace assay::providers
