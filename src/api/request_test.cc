#include "api/request.h"

#include <gtest/gtest.h>

namespace assay::api {
namespace {

const std::string kOrganization = "00000000-0000-4000-8000-000000000002";
const std::string kModel = "00000000-0000-4000-8000-000000000004";
const std::string kDisabled = "00000000-0000-4000-8000-000000000005";
const std::string kFormat =
    R"({"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object","required":["a"]}}})";

store::User user() {
  store::User ann;
  ann.id = *UserId::parse("00000000-0000-4000-8000-000000000003");
  ann.organization_id = *OrganizationId::parse(kOrganization);
  ann.username = "ann";
  return ann;
}

Offer offer(bool structured_output = true) {
  Offer all;
  all.structured_output = structured_output;
  chat::ModelDescription model;
  model.id = *ModelConfigId::parse(kModel);
  model.is_default = true;
  all.models.push_back(model);
  model.id = *ModelConfigId::parse(kDisabled);
  model.is_default = false;
  model.enabled = false;
  all.models.push_back(model);
  return all;
}

// A create request with further members.
std::string create_body(const std::string& more = "", const std::string& content = R"([{"type":"text","text":"hi"}])") {
  return R"({"organization_id":")" + kOrganization + R"(","content":)" + content + more + "}";
}

CreateRequest created(const std::string& body) {
  auto request = decode_create(body, user(), offer());
  EXPECT_TRUE(request.has_value()) << (request ? "" : error_body(request.error()));
  return request ? std::move(*request) : CreateRequest();
}

ApiError refused(const std::string& body, bool structured_output = true) {
  auto request = decode_create(body, user(), offer(structured_output));
  EXPECT_FALSE(request.has_value()) << body;
  return request ? ApiError() : request.error();
}

std::string refused_field(const std::string& body) {
  const ApiError error = refused(body);
  EXPECT_EQ(error.status, 400) << body;
  return error.validations.size() == 1 ? error.validations[0].field : error_body(error);
}

std::string content_detail(const std::string& content) {
  const ApiError error = refused(create_body("", content));
  EXPECT_EQ(error.status, 400);
  EXPECT_TRUE(error.validations.empty()) << content;
  return error.detail;
}

TEST(DecodeCreate, TakesTheLeastThatIsAllowed) {
  const CreateRequest request = created(create_body());
  EXPECT_EQ(request.input.organization_id.to_string(), kOrganization);
  EXPECT_EQ(request.input.owner_id, user().id);
  EXPECT_EQ(request.input.model_config.to_string(), kModel);
  EXPECT_EQ(request.input.client_type, "api");
  EXPECT_EQ(request.input.title, "hi");
  ASSERT_EQ(request.input.content.size(), 1u);
  EXPECT_EQ(std::get<chat::TextPart>(request.input.content[0]).text, "hi");
  EXPECT_FALSE(request.format.has_value());
}

TEST(DecodeCreate, TakesEverySetting) {
  const CreateRequest request = created(create_body(
      R"(,"system_prompt":" be brief ","model_config_id":")" + kModel +
      R"(","reasoning_effort":"low","mcp_server_ids":[],"labels":{"team/x":"1"},"unsafe_dynamic_tools":[{"name":"t"}],)"
      R"("plan_mode":"plan","client_type":"ui","workspace_id":null,"response_format":{"type":"text"},"unknown":1)"));
  EXPECT_EQ(request.input.system_prompt, "be brief");
  EXPECT_EQ(request.input.reasoning_effort, "low");
  EXPECT_EQ(request.input.labels.at("team/x"), "1");
  EXPECT_EQ(request.input.dynamic_tools, R"([{"name":"t","input_schema":{"type":"object","properties":{}}}])");
  EXPECT_EQ(request.input.plan_mode, "plan");
  EXPECT_EQ(request.input.client_type, "ui");
}

TEST(DecodeCreate, TakesAFormatWithItsSchemaAsSent) {
  const CreateRequest request = created(create_body(R"(,"response_format":)" + kFormat));
  ASSERT_TRUE(request.format.has_value());
  EXPECT_EQ(request.format->name, "n");
  EXPECT_EQ(request.format->schema, R"({"type":"object","required":["a"]})");
}

TEST(DecodeCreate, RefusesAnotherOrganization) {
  EXPECT_EQ(refused_field(R"({"content":[{"type":"text","text":"x"}]})"), "organization_id");
  EXPECT_EQ(refused_field(R"({"organization_id":"00000000-0000-0000-0000-000000000000"})"), "organization_id");
  EXPECT_EQ(refused_field(R"({"organization_id":"x"})"), "organization_id");
  EXPECT_EQ(refused(R"({"organization_id":"00000000-0000-4000-8000-00000000ffff"})").status, 403);
}

TEST(DecodeCreate, NamesTheFieldOfEachFault) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"("model_config_id":"00000000-0000-4000-8000-00000000ffff")", "model_config_id"},
      {R"("model_config_id":")" + kDisabled + "\"", "model_config_id"},
      {R"("model_config_id":7)", "model_config_id"},
      {R"("reasoning_effort":"extreme")", "reasoning_effort"},
      {R"("mcp_server_ids":["00000000-0000-4000-8000-00000000ffff"])", "mcp_server_ids"},
      {R"("labels":{"-x":"1"})", "labels"},
      {R"("labels":{"x":""})", "labels.x"},
      {R"("labels":["x"])", "labels"},
      {R"("unsafe_dynamic_tools":{})", "unsafe_dynamic_tools"},
      {R"("unsafe_dynamic_tools":[{"name":"t"},{"name":"t"}])", "unsafe_dynamic_tools[1].name"},
      {R"("unsafe_dynamic_tools":[{"name":"coder_structured_output"}],"response_format":)" + kFormat,
       "unsafe_dynamic_tools"},
      {R"("plan_mode":"solo")", "plan_mode"},
      {R"("client_type":"cli")", "client_type"},
      {R"("workspace_id":"00000000-0000-4000-8000-00000000ffff")", "workspace_id"},
      {R"("orchestrator":true)", "orchestrator"},
      {R"("system_prompt":{})", "system_prompt"},
      {R"("response_format":{})", "response_format.type"},
      {R"("response_format":{"type":"text","json_schema":{}})", "response_format"},
      {R"("response_format":null,"response_format":null)", "response_format"},
      {R"("plan_mode":"plan","response_format":)" + kFormat, "response_format"},
  };
  for (const auto& [member, field] : cases) EXPECT_EQ(refused_field(create_body("," + member)), field) << member;
  EXPECT_EQ(refused_field(create_body("", R"("hi")")), "content");
}

TEST(DecodeCreate, NamesTheServersThatAreNotEnabledOnce) {
  const std::string id = "00000000-0000-4000-8000-00000000ffff";
  const ApiError error = refused(create_body(R"(,"mcp_server_ids":[")" + id + R"(",")" + id + R"("])"));
  EXPECT_EQ(error.detail, "Not enabled: " + id);
}

TEST(DecodeCreate, GatesOnlyFormattedRequests) {
  const ApiError error = refused(create_body(R"(,"response_format":)" + kFormat), false);
  EXPECT_EQ(error.status, 400);
  ASSERT_EQ(error.validations.size(), 1u);
  EXPECT_EQ(error.validations[0].field, "response_format");
  EXPECT_NE(error.validations[0].detail.find("disabled"), std::string::npos);
  for (const std::string format : {"null", R"({"type":"text"})"}) {
    EXPECT_TRUE(decode_create(create_body(R"(,"response_format":)" + format), user(), offer(false)).has_value());
  }
}

TEST(DecodeCreate, ChecksContentBeforeTheFormatAndTheFormatBeforeTheModel) {
  const std::string wrong = R"(,"response_format":{},"model_config_id":"00000000-0000-4000-8000-00000000ffff")";
  EXPECT_TRUE(refused(create_body(wrong, "[]")).detail.starts_with("content"));
  EXPECT_EQ(refused_field(create_body(wrong)), "response_format.type");
}

TEST(DecodeCreate, SaysThatNoModelIsConfigured) {
  const auto request = decode_create(create_body(), user(), Offer());
  ASSERT_FALSE(request.has_value());
  EXPECT_EQ(request.error().status, 400);
}

TEST(DecodeContent, NamesThePathInTheDetail) {
  EXPECT_TRUE(content_detail("[]").starts_with("content "));
  EXPECT_TRUE(content_detail("null").starts_with("content "));
  EXPECT_TRUE(content_detail("[7]").starts_with("content[0] "));
  EXPECT_TRUE(content_detail("[{}]").starts_with("content[0].type "));
  EXPECT_TRUE(content_detail(R"([{"type":7}])").starts_with("content[0].type "));
  EXPECT_TRUE(
      content_detail(R"([{"type":"text","text":"a"},{"type":"text","text":" \n "}])").starts_with("content[1].text "));
  EXPECT_TRUE(content_detail(R"([{"type":"text","text":["a"]}])").starts_with("content[0].text "));
  EXPECT_TRUE(content_detail(R"([{"type":"file"}])").starts_with("content[0].file_id "));
  EXPECT_TRUE(content_detail(R"([{"type":"file-reference","content":"x"}])").starts_with("content[0].file_name "));
  EXPECT_TRUE(content_detail(R"([{"type":"file-reference","file_name":"a","start_line":"1"}])")
                  .starts_with("content[0].start_line "));
}

TEST(DecodeContent, RefusesPartsThatOnlyTheServerMakes) {
  for (const std::string type : {"structured-output-request", "structured-output-outcome", "structured-output-control",
                                 "hook-notice", "hook-context", "tool-result", "reasoning"}) {
    EXPECT_TRUE(content_detail(R"([{"type":")" + type + R"(","text":"x"}])").starts_with("content[0].type ")) << type;
  }
}

TEST(DecodeContent, TakesTypesInAnyCaseAndTrimsText) {
  const auto request = created(create_body(
      "",
      R"([{"type":" Text ","text":" a "},{"type":"FILE-REFERENCE","file_name":"f.c","start_line":1,"end_line":2,"content":"x"}])"));
  ASSERT_EQ(request.input.content.size(), 2u);
  EXPECT_EQ(std::get<chat::TextPart>(request.input.content[0]).text, "a");
  EXPECT_EQ(std::get<chat::FileReferencePart>(request.input.content[1]).end_line, 2);
}

TEST(CheckLabels, HasItsLimits) {
  std::map<std::string, std::string> labels;
  for (std::size_t i = 0; i < kLabelsMax; ++i) labels.emplace("k" + std::to_string(i), "v");
  EXPECT_FALSE(check_labels(labels).has_value());
  labels.emplace("one-more", "v");
  EXPECT_TRUE(check_labels(labels).has_value());
  EXPECT_FALSE(
      check_labels({{std::string(kLabelKeyBytesMax, 'k'), std::string(kLabelValueBytesMax, 'v')}}).has_value());
  EXPECT_TRUE(check_labels({{std::string(kLabelKeyBytesMax + 1, 'k'), "v"}}).has_value());
  EXPECT_TRUE(check_labels({{"k", std::string(kLabelValueBytesMax + 1, 'v')}}).has_value());
  EXPECT_TRUE(check_labels({{"", "v"}}).has_value());
  EXPECT_TRUE(check_labels({{"a b", "v"}}).has_value());
}

std::string send_field(const std::string& more, const chat::Chat& chat = chat::Chat()) {
  auto request = decode_send(R"({"content":[{"type":"text","text":"hi"}])" + more + "}", user(), chat, offer());
  if (request) return "accepted";
  return request.error().validations.size() == 1 ? request.error().validations[0].field : "?";
}

TEST(DecodeSend, TakesAMessage) {
  const auto request = decode_send(
      R"({"content":[{"type":"text","text":"hi"}],"busy_behavior":"interrupt","plan_mode":"","reasoning_effort":"max"})",
      user(), chat::Chat(), offer());
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->input.busy_behavior, chat::BusyBehavior::Interrupt);
  EXPECT_EQ(request->input.plan_mode, "");
  EXPECT_EQ(request->input.created_by, user().id);
  EXPECT_EQ(request->input.model_config, std::nullopt);
}

TEST(DecodeSend, NamesTheFieldOfEachFault) {
  EXPECT_EQ(send_field(R"(,"busy_behavior":"push")"), "busy_behavior");
  EXPECT_EQ(send_field(R"(,"model_config_id":"00000000-0000-4000-8000-00000000ffff")"), "model_config_id");
  EXPECT_EQ(send_field(R"(,"response_format":{"type":"json_schema"})"), "response_format.json_schema");
}

TEST(DecodeSend, RefusesAFormatWhereAToolOfTheClientHasTheFinalizersName) {
  chat::Chat chat;
  chat.dynamic_tools = R"([{"name":"coder_structured_output","input_schema":{"type":"object","properties":{}}}])";
  EXPECT_EQ(send_field(R"(,"response_format":)" + kFormat, chat), "response_format");
  EXPECT_EQ(send_field(R"(,"response_format":{"type":"text"})", chat), "accepted") << "the name is free without one";
  chat.dynamic_tools = R"([{"name":"other","input_schema":{"type":"object","properties":{}}}])";
  EXPECT_EQ(send_field(R"(,"response_format":)" + kFormat, chat), "accepted");
}

TEST(DecodeSend, RefusesAFormatWhereThePlanModeIsInEffect) {
  chat::Chat planning;
  planning.plan_mode = "plan";
  EXPECT_EQ(send_field(R"(,"response_format":)" + kFormat), "accepted");
  EXPECT_EQ(send_field(R"(,"response_format":)" + kFormat, planning), "response_format");
  EXPECT_EQ(send_field(R"(,"plan_mode":"","response_format":)" + kFormat, planning), "accepted");
  EXPECT_EQ(send_field(R"(,"plan_mode":"plan","response_format":)" + kFormat), "response_format");
  chat::Chat explorer;
  explorer.mode = "explore";
  EXPECT_EQ(send_field(R"(,"response_format":)" + kFormat, explorer), "response_format");
}

std::string patch_field(const std::string& body, const chat::Chat& chat = chat::Chat()) {
  auto request = decode_patch(body, chat);
  if (request) return "accepted";
  return request.error().validations.size() == 1 ? request.error().validations[0].field : "?";
}

TEST(DecodePatch, TakesWhatItCanChange) {
  const auto request =
      decode_patch(R"({"title":" T ","labels":{"a":"b"},"archived":true,"pin_order":0})", chat::Chat());
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->title, "T");
  EXPECT_EQ(request->labels->at("a"), "b");
  EXPECT_EQ(request->archived, true);
  EXPECT_TRUE(decode_patch("{}", chat::Chat())->changes_nothing());
}

TEST(DecodePatch, NamesTheFieldOfEachFault) {
  EXPECT_EQ(patch_field(R"({"title":"  "})"), "title");
  EXPECT_EQ(patch_field(R"({"archived":false})"), "archived");
  EXPECT_EQ(patch_field(R"({"pin_order":1})"), "pin_order");
  EXPECT_EQ(patch_field(R"({"labels":{"":"x"}})"), "labels");
  EXPECT_EQ(patch_field(R"({"plan_mode":"x"})"), "plan_mode");
  EXPECT_EQ(patch_field(R"({"plan_mode":"plan"})"), "accepted");
  EXPECT_EQ(patch_field(R"({"plan_mode":""})"), "accepted");
  EXPECT_EQ(patch_field(R"({"workspace_id":"00000000-0000-4000-8000-00000000ffff"})"), "workspace_id");
  EXPECT_EQ(patch_field(R"({"workspace_id":"00000000-0000-0000-0000-000000000000"})"), "accepted");
}

TEST(DecodePatch, CountsTheTitleInCodePoints) {
  const auto title_of = [](std::size_t length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += "\u00e9";
    return R"({"title":")" + text + "\"}";
  };
  EXPECT_EQ(patch_field(title_of(chat::kTitleCodePointsMax)), "accepted");
  EXPECT_EQ(patch_field(title_of(chat::kTitleCodePointsMax + 1)), "title");
}

// --- Edit

std::string edit_field(const std::string& more, const chat::Chat& chat = {}) {
  const auto request = decode_edit(R"({"content":[{"type":"text","text":"hi"}])" + more + "}", user(), chat, offer());
  if (request) return "accepted";
  return request.error().validations.size() == 1 ? request.error().validations[0].field : error_body(request.error());
}

TEST(DecodeEdit, TellsKeptClearedAndReplacedFormatsApart) {
  const auto decoded = [](const std::string& more) {
    auto request = decode_edit(R"({"content":[{"type":"text","text":"hi"}])" + more + "}", user(), {}, offer());
    EXPECT_TRUE(request.has_value());
    return std::move(*request);
  };
  EXPECT_TRUE(decoded("").keeps_format);
  EXPECT_TRUE(decoded(R"(,"response_format":null)").keeps_format);
  const EditRequest cleared = decoded(R"(,"response_format":{"type":"text"})");
  EXPECT_FALSE(cleared.keeps_format);
  EXPECT_FALSE(cleared.format);
  const EditRequest replaced = decoded(R"(,"response_format":)" + kFormat);
  EXPECT_FALSE(replaced.keeps_format);
  EXPECT_TRUE(replaced.format);
  EXPECT_EQ(replaced.input.created_by, user().id);
}

TEST(DecodeEdit, NamesTheFieldOfEachFault) {
  EXPECT_EQ(edit_field(""), "accepted");
  EXPECT_EQ(edit_field(R"(,"response_format":{"type":"xml"})"), "response_format.type");
  EXPECT_EQ(edit_field(R"(,"model_config_id":")" + kDisabled + "\""), "model_config_id");
  EXPECT_EQ(edit_field(R"(,"reasoning_effort":"huge")"), "reasoning_effort");
  EXPECT_EQ(edit_field(R"(,"mcp_server_ids":[")" + kModel + "\"]"), "mcp_server_ids");
  chat::Chat planning;
  planning.plan_mode = "plan";
  EXPECT_EQ(edit_field(R"(,"response_format":)" + kFormat, planning), "response_format");
  EXPECT_EQ(edit_field(R"(,"response_format":{"type":"text"})", planning), "accepted");
}

TEST(RequestPart, CarriesTheFormat) {
  const auto request = created(create_body(R"(,"response_format":)" + kFormat));
  auto format = decode_create(create_body(R"(,"response_format":)" + kFormat), user(), offer());
  const auto id = *RequestId::parse("00000000-0000-4000-8000-000000000009");
  const auto part = request_part(id, std::move(*format->format));
  EXPECT_EQ(part.request_id, id);
  EXPECT_EQ(part.name, "n");
  EXPECT_EQ(part.schema, request.format->schema);
}

}  // namespace
}  // namespace assay::api
