#include "api/projection.h"

#include <gtest/gtest.h>

#include <array>

#include "api/error.h"

namespace assay::api {
namespace {

template <class Id>
Id id_of(std::uint8_t last) {
  Id id;
  id.value.bytes[15] = last;
  return id;
}

const std::string kChat = "00000000-0000-0000-0000-000000000001";
const std::string kRequest = "00000000-0000-0000-0000-000000000009";
const std::string kNulls = R"("mcp_server_config_id":null,"file_id":null,"context_file_agent_id":null)";

chat::Message message_of(chat::Role role, chat::Content content) {
  chat::Message message;
  message.id = 7;
  message.chat_id = id_of<ChatId>(1);
  message.role = role;
  message.content = std::move(content);
  return message;
}

chat::ToolCallPart call_of(std::string arguments) {
  chat::ToolCallPart part;
  part.id = "c1";
  part.name = "grep";
  part.arguments = std::move(arguments);
  return part;
}

chat::ToolResultPart result_of(std::string result) {
  chat::ToolResultPart part;
  part.call_id = "c1";
  part.name = "grep";
  part.result = std::move(result);
  return part;
}

structured::OutcomePart outcome_of(structured::OutcomeStatus status, std::string value) {
  structured::OutcomePart outcome;
  outcome.request_id = id_of<RequestId>(9);
  outcome.status = status;
  outcome.value = std::move(value);
  return outcome;
}

std::string json_of(const chat::Message& message) {
  json::Writer writer;
  write_message(writer, message);
  return writer.take();
}

std::string content_of(chat::Part part) {
  chat::Content content;
  content.push_back(std::move(part));
  const std::string text = json_of(message_of(chat::Role::Assistant, std::move(content)));
  const auto begin = text.find("\"content\":[") + 11;
  return text.substr(begin, text.rfind(']') - begin);
}

TEST(Projection, WritesAMessageWithItsOptionalFields) {
  chat::Message message = message_of(chat::Role::Assistant, {chat::TextPart{.text = "hi"}});
  EXPECT_EQ(json_of(message),
            R"({"id":7,"chat_id":")" + kChat +
                R"(","created_at":"1970-01-01T00:00:00.000000Z","role":"assistant","content":[{"type":"text",)" +
                kNulls + R"(,"text":"hi"}]})");
  message.created_by = id_of<UserId>(2);
  message.model_config = id_of<ModelConfigId>(3);
  message.usage.input_tokens = 12;
  message.usage.context_limit = 8000;
  const std::string text = json_of(message);
  EXPECT_NE(text.find(R"("created_by":"00000000-0000-0000-0000-000000000002")"), std::string::npos);
  EXPECT_NE(text.find(R"("model_config_id":"00000000-0000-0000-0000-000000000003")"), std::string::npos);
  EXPECT_NE(text.find(R"("usage":{"input_tokens":12,"context_limit":8000})"), std::string::npos);
}

TEST(Projection, ShowsCallsAndResultsAsJsonValuesOnOneLine) {
  chat::ToolResultPart failed = result_of("[1]");
  failed.is_error = true;
  EXPECT_EQ(content_of(call_of("{ \"a\":\n 1.0e2 }")),
            R"({"type":"tool-call",)" + kNulls + R"(,"tool_call_id":"c1","tool_name":"grep","args":{"a":1.0e2}})");
  EXPECT_EQ(content_of(std::move(failed)),
            R"({"type":"tool-result",)" + kNulls +
                R"(,"tool_call_id":"c1","tool_name":"grep","result":[1],"is_error":true})");
}

TEST(Projection, ShowsRejectedArgumentsAsThePlaceholder) {
  chat::ToolCallPart rejected = call_of("{}");
  rejected.rejected_arguments = true;
  EXPECT_EQ(content_of(std::move(rejected)),
            R"({"type":"tool-call",)" + kNulls + R"(,"tool_call_id":"c1","tool_name":"grep","args":{}})");
}

TEST(Projection, NeverBreaksTheFrameByTextThatIsNoJson) {
  EXPECT_EQ(content_of(call_of(R"({"a":)")),
            R"({"type":"tool-call",)" + kNulls + R"(,"tool_call_id":"c1","tool_name":"grep","args":{}})");
  EXPECT_EQ(content_of(result_of("plain")),
            R"({"type":"tool-result",)" + kNulls + R"(,"tool_call_id":"c1","tool_name":"grep","result":"plain"})");
}

TEST(Projection, ShowsTheOtherPartTypes) {
  EXPECT_EQ(content_of(chat::ReasoningPart{.text = "hm", .provider_state = R"({"signature":"secret"})"}),
            R"({"type":"reasoning",)" + kNulls + R"(,"text":"hm"})");
  EXPECT_EQ(content_of(chat::SourcePart{.id = "s", .url = "https://x.example", .title = "X"}),
            R"({"type":"source",)" + kNulls + R"(,"url":"https://x.example","source_id":"s","title":"X"})");
  EXPECT_EQ(
      content_of(chat::FileReferencePart{.file_name = "a.c", .start_line = 1, .end_line = 2, .content = "x"}),
      R"({"type":"file-reference",)" + kNulls + R"(,"file_name":"a.c","start_line":1,"end_line":2,"content":"x"})");
}

TEST(Projection, KeepsToItselfWhatIsForTheProviderAlone) {
  const std::string state = R"({"wire":"w","item":"secret"})";
  EXPECT_EQ(content_of(chat::TextPart{.text = "cited", .provider_state = state}),
            R"({"type":"text",)" + kNulls + R"(,"text":"cited"})");
  for (const chat::Part& part :
       {chat::Part(chat::ProviderItemPart{.provider_state = state}),
        chat::Part(chat::ReasoningPart{.text = "", .provider_state = state}), chat::Part(chat::PausePart{})}) {
    const std::string beside = json_of(message_of(chat::Role::Assistant, {part, chat::TextPart{.text = "x"}}));
    EXPECT_NE(beside.find(R"("content":[{"type":"text",)" + kNulls + R"(,"text":"x"}])"), std::string::npos) << beside;
    EXPECT_EQ(json_of(message_of(chat::Role::Assistant, {part})).find("content"), std::string::npos);
  }
}

TEST(Projection, ShowsTheRequestIdOnTheInputMessageAndNothingOfTheSchema) {
  structured::RequestPart request{
      .request_id = id_of<RequestId>(9), .name = "secret_name", .description = std::nullopt, .schema = {}};
  request.schema = R"({"const":"secret schema"})";
  const std::string text = json_of(message_of(chat::Role::User, {chat::TextPart{.text = "go"}, std::move(request)}));
  EXPECT_NE(text.find(R"("structured_output_request_id":")" + kRequest + "\""), std::string::npos);
  EXPECT_EQ(text.find("secret"), std::string::npos);
  EXPECT_EQ(text.find("structured-output"), std::string::npos);
}

TEST(Projection, ShowsAReceiptsValueInItsExactText) {
  structured::OutcomePart outcome = outcome_of(structured::OutcomeStatus::Succeeded, "");
  outcome.value = R"({"z":10.00,"a":1e25})";
  const std::string text =
      json_of(message_of(chat::Role::Assistant, {chat::TextPart{.text = outcome.value}, std::move(outcome)}));
  EXPECT_NE(text.find(R"("structured_output":{"request_id":")" + kRequest +
                      R"(","status":"succeeded","value":{"z":10.00,"a":1e25}})"),
            std::string::npos)
      << text;
}

TEST(Projection, TellsANullValueFromAnAbsentOne) {
  structured::OutcomePart outcome = outcome_of(structured::OutcomeStatus::Succeeded, "null");
  EXPECT_NE(json_of(message_of(chat::Role::Assistant, {std::move(outcome)})).find(R"("value":null})"),
            std::string::npos);
}

TEST(Projection, ShowsAFailedReceiptWithCodeAndMessageAndNoValue) {
  structured::OutcomePart outcome = outcome_of(structured::OutcomeStatus::Canceled, "");
  outcome.error =
      structured::OutcomeError{.code = structured::OutcomeCode::QueueDeleted, .message = "The message was deleted."};
  const std::string text = json_of(message_of(chat::Role::Assistant, {std::move(outcome)}));
  EXPECT_NE(text.find(R"("status":"canceled","error":{"code":"queue_deleted","message":"The message was deleted."}})"),
            std::string::npos);
  EXPECT_EQ(text.find("value"), std::string::npos);
  EXPECT_EQ(text.find("\"content\""), std::string::npos);
}

TEST(Projection, StripsControlParts) {
  structured::ControlPart control;
  control.request_id = id_of<RequestId>(9);
  control.kind = structured::ControlKind::Candidate;
  control.value = R"("secret candidate")";
  const std::string text =
      json_of(message_of(chat::Role::Assistant, {chat::TextPart{.text = "ok"}, std::move(control)}));
  EXPECT_EQ(text.find("secret"), std::string::npos);
  EXPECT_EQ(text.find("structured_output"), std::string::npos);
}

TEST(Projection, LeavesOutRowsThatClientsDoNotSee) {
  chat::Message shown = message_of(chat::Role::User, {chat::TextPart{.text = "shown"}});
  chat::Message model = message_of(chat::Role::User, {chat::TextPart{.text = "corrective"}});
  model.visibility = chat::Visibility::Model;
  chat::Message deleted = message_of(chat::Role::User, {chat::TextPart{.text = "gone"}});
  deleted.deleted = true;
  const std::array<chat::Message, 3> rows{shown, model, deleted};
  const std::string text = messages_json(rows, {}, true);
  EXPECT_NE(text.find("shown"), std::string::npos);
  EXPECT_EQ(text.find("corrective"), std::string::npos);
  EXPECT_EQ(text.find("gone"), std::string::npos);
  EXPECT_TRUE(text.ends_with(R"("queued_messages":[],"has_more":true})"));
}

TEST(Projection, AlwaysHasBothArraysOfAPage) {
  EXPECT_EQ(messages_json({}, {}, false), R"({"messages":[],"queued_messages":[],"has_more":false})");
}

TEST(Projection, WritesAChatWithAllItsAlwaysPresentFields) {
  chat::Chat chat;
  chat.id = id_of<ChatId>(1);
  chat.organization_id = id_of<OrganizationId>(2);
  chat.owner_id = id_of<UserId>(3);
  chat.last_model_config = id_of<ModelConfigId>(4);
  chat.title = "T";
  chat.labels = {{"k", "v"}};
  chat.last_message_id = 3;
  json::Writer writer;
  write_chat(writer, chat, "ann");
  EXPECT_EQ(writer.take(),
            R"({"id":"00000000-0000-0000-0000-000000000001","organization_id":"00000000-0000-0000-0000-000000000002",)"
            R"("owner_id":"00000000-0000-0000-0000-000000000003","owner_username":"ann",)"
            R"("last_model_config_id":"00000000-0000-0000-0000-000000000004","title":"T","status":"waiting",)"
            R"("last_turn_summary":null,"summary":null,"created_at":"1970-01-01T00:00:00.000000Z",)"
            R"("updated_at":"1970-01-01T00:00:00.000000Z","archived":false,"shared":false,"pin_order":0,)"
            R"("mcp_server_ids":[],"labels":{"k":"v"},"has_unread":true,"client_type":"api","children":[]})");
}

TEST(Projection, ShowsAChatsErrorAndModes) {
  chat::Chat chat;
  chat.status = chat::Status::Error;
  chat.plan_mode = "plan";
  chat.last_error = chat::ChatError{.message = "m", .detail = "d", .kind = "auth", .provider = "p", .status_code = 401};
  json::Writer writer;
  write_chat(writer, chat, "");
  const std::string text = writer.take();
  EXPECT_NE(text.find(R"("status":"error","plan_mode":"plan","last_error":{"message":"m","detail":"d","kind":"auth",)"
                      R"("provider":"p","retryable":false,"status_code":401})"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("owner_username"), std::string::npos);
  EXPECT_NE(text.find(R"("has_unread":false)"), std::string::npos);
}

TEST(Projection, ShowsUntilWhenTheClientIsAsked) {
  chat::Chat chat;
  chat.status = chat::Status::RequiresAction;
  chat.requires_action_deadline = WallTime(std::chrono::seconds(1));
  json::Writer writer;
  write_chat(writer, chat, "");
  EXPECT_NE(
      writer.take().find(R"("status":"requires_action","requires_action_deadline_at":"1970-01-01T00:00:01.000000Z")"),
      std::string::npos);
}

TEST(Projection, WritesEventsWithTypeChatAndPayload) {
  const auto chat = id_of<ChatId>(1);
  chat::ChatError error;
  error.message = "m";
  error.retryable = true;
  const std::string head = R"({"type":"%","chat_id":")" + kChat + "\"";
  const auto expected = [&head](std::string_view type, std::string_view rest) {
    std::string text = head;
    text.replace(text.find('%'), 1, type);
    return text.append(rest);
  };
  EXPECT_EQ(event_json(chat, live::StatusEvent{.status = chat::Status::RequiresAction}),
            expected("status", R"(,"status":{"status":"requires_action"}})"));
  EXPECT_EQ(event_json(chat, live::HistoryResetEvent{}), expected("history_reset", "}"));
  EXPECT_EQ(event_json(chat, live::PreviewResetEvent{}), expected("preview_reset", "}"));
  EXPECT_EQ(event_json(chat, live::QueueEvent{}), expected("queue_update", "}"));
  EXPECT_EQ(event_json(chat, live::ErrorEvent{.error = std::move(error)}),
            expected("error", R"(,"error":{"message":"m","retryable":true}})"));
  live::ActionRequiredEvent asks;
  asks.calls.emplace_back().id = "c1";
  asks.calls.back().name = "lookup";
  asks.calls.back().arguments = R"({ "q": 1.0 })";
  EXPECT_EQ(
      event_json(chat, asks),
      expected("action_required", R"(,"action_required":{"tool_calls":[{"tool_call_id":"c1","tool_name":"lookup",)"
                                  R"("args":"{ \"q\": 1.0 }"}]}})"));
  chat::RetryState retry;
  retry.attempt = 2;
  retry.delay_ms = 1500;
  retry.error.message = "busy";
  retry.error.kind = "overloaded";
  EXPECT_EQ(event_json(chat, live::RetryEvent{.retry = std::move(retry)}),
            expected("retry", R"(,"retry":{"attempt":2,"delay_ms":1500,"error":"busy","kind":"overloaded",)"
                              R"("retrying_at":"1970-01-01T00:00:00.000000Z"}})"));
}

TEST(Projection, WritesQueuedMessages) {
  const auto chat = id_of<ChatId>(1);
  chat::QueuedMessage queued;
  queued.id = 4;
  queued.chat_id = chat;
  queued.content.emplace_back(chat::TextPart{.text = "next"});
  queued.content.emplace_back(
      structured::RequestPart{.request_id = id_of<RequestId>(9), .name = "n", .description = {}, .schema = "{}"});
  live::QueueEvent event;
  event.queue.push_back(queued);
  EXPECT_EQ(event_json(chat, event),
            R"({"type":"queue_update","chat_id":")" + kChat + R"(","queued_messages":[{"id":4,"chat_id":")" + kChat +
                R"(","content":[{"type":"text",)" + kNulls +
                R"(,"text":"next"}],"created_at":"1970-01-01T00:00:00.000000Z","structured_output_request_id":")" +
                kRequest + R"("}]})");
}

TEST(Projection, WritesPreviewPartsWithTheirPlaceInTheEpisode) {
  const auto chat = id_of<ChatId>(1);
  live::Episodes episodes;
  episodes.begin(chat, 5, 2);
  episodes.append(chat, chat::Role::Assistant, chat::TextPart{.text = "he"});
  episodes.append(chat, chat::Role::Assistant, live::ArgumentsDelta{.call_id = "c", .name = "t", .text = "{\"a"});
  const auto part = [&](std::size_t index) {
    return event_json(chat, live::PartEvent{.episode = episodes.current(chat), .index = index});
  };
  const std::string lead = R"({"type":"message_part","chat_id":")" + kChat + R"(","message_part":{"role":"assistant",)";
  EXPECT_EQ(part(0), lead + R"("part":{"type":"text",)" + kNulls +
                         R"(,"text":"he"},"history_version":5,"generation_attempt":2,"seq":1}})");
  EXPECT_EQ(part(1), lead + R"("part":{"type":"tool-call",)" + kNulls +
                         R"(,"tool_call_id":"c","tool_name":"t","args_delta":"{\"a"},)" +
                         R"("history_version":5,"generation_attempt":2,"seq":2}})");
}

TEST(ErrorBody, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(error_body(ApiError{.status = 404, .message = "Not found.", .detail = {}, .validations = {}}),
            R"({"message":"Not found."})");
  ApiError error = invalid_field("response_format.type", "must be a string");
  error.detail = "More.";
  EXPECT_EQ(error_body(error), R"({"message":"The request is not valid.","detail":"More.",)"
                               R"("validations":[{"field":"response_format.type","detail":"must be a string"}]})");
}

}  // namespace
}  // namespace assay::api
