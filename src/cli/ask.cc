#include "cli/ask.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/ask_progress.h"
#include "cli/text_file.h"
#include "json/compact.h"
#include "json/document.h"
#include "json/error.h"
#include "json/member.h"
#include "json/writer.h"
#include "net/http_client.h"
#include "net/loop.h"
#include "net/timer.h"
#include "providers/sse_parser.h"
#include "schema/schema.h"

namespace assay::cli {
namespace {

constexpr std::string_view kChats = "/api/v2/chats";
constexpr Milliseconds kRequestTimeout{30'000};
constexpr Milliseconds kStreamIdleTimeout{60'000};  // the server sends a comment every 15 s
constexpr Milliseconds kReconnectDelay{500};

struct Failure {
  ExitCode exit = kExitUnreachable;
  std::string message;
};

// The API's error body as one sentence.
std::string refusal_text(int status, const std::string& body) {
  const auto document = json::Document::parse(body, json::kEnvelopeCaps, json::Dialect::Lenient);
  std::string text = fmt::format("the server answered {}", status);
  if (!document || !document->root().is(json::Kind::Object)) return text;
  const auto append = [&](json::Value object, std::string_view member, std::string_view lead) {
    if (const auto value = json::string_member(object, member)) text += fmt::format("{}{}", lead, *value);
  };
  append(document->root(), "message", ": ");
  append(document->root(), "detail", " ");
  const auto validations = document->root().find("validations");
  if (!validations || !validations->is(json::Kind::Array)) return text;
  for (const json::Value validation : validations->elements()) {
    append(validation, "field", "\n  ");
    append(validation, "detail", ": ");
  }
  return text;
}

class Conversation {
 public:
  Conversation(net::Loop& loop, const AskOptions& options, std::ostream& out, std::ostream& err)
      : http_(loop),
        options_(options),
        out_(out),
        progress_(err, options.is_terminal),
        deadline_(Deadline::after(system_clock(), options.timeout)) {}

  net::Task<ExitCode> run(std::string create_body_head) {
    auto organization = co_await organization_id();
    if (!organization) co_return give_up(organization.error());
    create_body_head += fmt::format(R"("organization_id":"{}"}})", *organization);
    auto chat = co_await create_chat(std::move(create_body_head));
    if (!chat) co_return give_up(chat.error());
    progress_.note("chat " + *chat);
    while (!answer_) {
      if (deadline_.has_passed(system_clock())) {
        const Failure late = gave_no_answer_in_time();
        co_return give_up(late);
      }
      auto followed = co_await follow(*chat);
      if (!followed) co_return give_up(followed.error());
      if (!answer_) co_await net::sleep_for(kReconnectDelay);
    }
    progress_.finish();
    co_return print_answer();
  }

 private:
  struct Answer {
    std::string text;     // the value, the receipt or the assistant's text
    std::string failure;  // code and message; empty: succeeded
  };

  net::OutgoingRequest request(std::string method, std::string_view path) const {
    net::OutgoingRequest request;
    request.method = std::move(method);
    request.url = options_.server_url + std::string(path);
    request.headers.add("Authorization", "Bearer " + options_.token);
    request.total = deadline_;
    request.first_byte_timeout = kRequestTimeout;
    return request;
  }

  Failure gave_no_answer_in_time() const {
    return Failure{kExitUnreachable,
                   fmt::format("no answer within {} s; the server goes on with it", options_.timeout.count() / 1000)};
  }

  static Failure unreachable(const net::HttpError& error) {
    return Failure{kExitUnreachable, fmt::format("cannot reach the server: {}", error.message)};
  }

  net::Task<Result<std::string, Failure>> organization_id() {
    net::OutgoingRequest get = request("GET", "/api/v2/users/me");
    auto response = co_await http_.fetch(std::move(get));
    if (!response) co_return fail(unreachable(response.error()));
    if (response->head.status == 401) {
      co_return fail(Failure{kExitUnreachable, "the server does not know this token; `assay token create` makes one"});
    }
    if (response->head.status != 200) {
      co_return fail(Failure{kExitUnreachable, refusal_text(response->head.status, response->body)});
    }
    co_return first_organization(response->body);
  }

  static Result<std::string, Failure> first_organization(const std::string& body) {
    const auto document = json::Document::parse(body, json::kEnvelopeCaps, json::Dialect::Lenient);
    if (document && document->root().is(json::Kind::Object)) {
      const auto ids = document->root().find("organization_ids");
      if (ids && ids->is(json::Kind::Array)) {
        for (const json::Value id : ids->elements()) {
          if (id.is(json::Kind::String)) return std::string(id.string());
        }
      }
    }
    return fail(Failure{kExitUnreachable, "the server named no organization for this token; is it an assay server?"});
  }

  net::Task<Result<std::string, Failure>> create_chat(std::string body) {
    net::OutgoingRequest post = request("POST", kChats);
    post.headers.add("Content-Type", "application/json");
    post.body = std::move(body);
    auto response = co_await http_.fetch(std::move(post));
    if (!response) co_return fail(unreachable(response.error()));
    if (response->head.status != 201) {
      const ExitCode exit = response->head.status == 400 ? kExitUsage : kExitUnreachable;
      co_return fail(Failure{exit, refusal_text(response->head.status, response->body)});
    }
    const auto document = json::Document::parse(response->body, json::kEnvelopeCaps, json::Dialect::Lenient);
    const auto id = document && document->root().is(json::Kind::Object) ? document->root().find("id") : std::nullopt;
    if (!id || !id->is(json::Kind::String))
      co_return fail(Failure{kExitUnreachable, "the server's reply names no chat"});
    co_return std::string(id->string());
  }

  // Reads the stream until it ends or the answer is there. A broken connection is no failure: the caller reconnects,
  // and message rows seen twice are the same rows.
  net::Task<Result<void, Failure>> follow(std::string chat) {
    net::OutgoingRequest get = request("GET", fmt::format("{}/{}/stream", kChats, chat));
    get.headers.add("Accept", "text/event-stream");
    get.idle_timeout = kStreamIdleTimeout;
    get.response_bytes_max = json::kUnlimited;
    auto stream = co_await http_.open(std::move(get));
    if (!stream) co_return lost(stream.error());
    if (stream->head().status != 200) {
      co_return fail(Failure{kExitUnreachable, fmt::format("the stream was refused with {}", stream->head().status)});
    }
    providers::SseParser parser;
    while (!answer_) {
      auto chunk = co_await stream->next();
      if (!chunk) co_return lost(chunk.error());
      if (!chunk->has_value()) break;
      const bool fits = parser.feed(**chunk, [this](providers::SseItem&& item) { take(item); });
      if (!fits) co_return fail(Failure{kExitUnreachable, "an event of the stream is larger than any answer may be"});
    }
    co_return Result<void, Failure>();
  }

  Result<void, Failure> lost(const net::HttpError& error) {
    if (error.kind == net::HttpErrorKind::TimeoutTotal) return fail(gave_no_answer_in_time());
    if (++losses_ > kLossesMax) return fail(unreachable(error));
    progress_.note("connection lost, trying again");
    return {};
  }

  void take(const providers::SseItem& item) {
    const auto* event = std::get_if<providers::SseEvent>(&item);
    if (event == nullptr || event->is_unterminated || event->data.empty()) return;
    const auto document = json::Document::parse(event->data, json::kEnvelopeCaps, json::Dialect::Lenient);
    if (!document) return;
    losses_ = 0;
    if (document->root().is(json::Kind::Array)) {
      for (const json::Value each : document->root().elements()) take(each);
    } else {
      take(document->root());
    }
  }

  void take(json::Value event) {
    if (answer_ || !event.is(json::Kind::Object)) return;
    progress_.show(event);
    if (const auto message = event.find("message"); message && message->is(json::Kind::Object)) take_message(*message);
    if (const auto status = event.find("status"); status && status->is(json::Kind::Object)) take_status(*status);
  }

  void take_message(json::Value message) {
    const auto receipt = message.find("structured_output");
    if (receipt && receipt->is(json::Kind::Object)) {
      answer_ = read_receipt(message, *receipt);
    } else if (const auto role = message.find("role");
               role && role->is(json::Kind::String) && role->string() == "assistant") {
      last_text_ = text_of(message);
    }
  }

  // An ordinary question is over with the turn; a structured one only with its receipt.
  void take_status(json::Value status) {
    const auto name = status.find("status");
    if (!name || !name->is(json::Kind::String) || !options_.schema_path.empty()) return;
    if (name->string() == "error") answer_ = Answer{last_text_, "the turn ended in an error"};
    if (name->string() == "waiting") answer_ = Answer{last_text_, ""};
  }

  static std::string text_of(json::Value message) {
    std::string text;
    const auto content = message.find("content");
    if (!content || !content->is(json::Kind::Array)) return text;
    for (const json::Value part : content->elements()) {
      const auto type = part.find("type");
      const auto piece = part.find("text");
      if (type && type->is(json::Kind::String) && type->string() == "text" && piece) text += piece->string();
    }
    return text;
  }

  Answer read_receipt(json::Value message, json::Value receipt) const {
    Answer answer;
    if (options_.prints_receipt) answer.text = json::compact(message);
    if (const auto value = receipt.find("value")) {
      if (!options_.prints_receipt) answer.text = std::string(value->raw());
      return answer;
    }
    answer.failure = "failed";
    const auto error = receipt.find("error");
    if (!error || !error->is(json::Kind::Object)) return answer;
    const auto code = error->find("code");
    const auto reason = error->find("message");
    if (code && code->is(json::Kind::String)) answer.failure = std::string(code->string());
    if (reason && reason->is(json::Kind::String)) answer.failure += fmt::format(": {}", reason->string());
    return answer;
  }

  ExitCode print_answer() {
    if (!answer_->text.empty())
      out_ << (options_.prints_to_terminal ? printable(answer_->text) : answer_->text) << '\n';
    if (answer_->failure.empty()) return kExitOk;
    progress_.note(answer_->failure);
    return kExitNegative;
  }

  ExitCode give_up(const Failure& failure) {
    progress_.finish();
    progress_.note(failure.message);
    return failure.exit;
  }

  static constexpr int kLossesMax = 20;  // in a row, without an event in between

  net::HttpClient http_;
  const AskOptions& options_;
  std::ostream& out_;
  AskProgress progress_;
  Deadline deadline_;
  std::optional<Answer> answer_;
  std::string last_text_;
  int losses_ = 0;
};

net::Task<> converse(Conversation& conversation, std::string body_head, ExitCode& exit) {
  exit = co_await conversation.run(std::move(body_head));
}

// The body of the create request up to the organization, which only the server knows.
Result<std::string, std::string> create_body_head(const AskOptions& options) {
  json::Writer body;
  body.begin_object().member("client_type", "api").key("content").begin_array();
  body.begin_object().member("type", "text").member("text", options.question).end_object().end_array();
  if (!options.model_config_id.empty()) body.member("model_config_id", options.model_config_id);
  if (!options.schema_path.empty()) {
    const auto schema_text = read_text_file(options.schema_path);
    if (!schema_text) return fail(schema_text.error());
    if (const auto schema = schema::Schema::compile(*schema_text); !schema) {
      const std::string where = schema.error().pointer.empty() ? "the root" : schema.error().pointer;
      return fail(fmt::format("{}: schema refused at {}: {}", options.schema_path, where, schema.error().detail));
    }
    body.key("response_format").begin_object().member("type", "json_schema").key("json_schema").begin_object();
    body.member("name", options.name.empty() ? output_name(options.schema_path) : options.name);
    body.raw_member("schema", *schema_text).end_object().end_object();
  }
  std::string text = body.end_object().take();
  text.back() = ',';
  return text;
}

}  // namespace

std::string output_name(const std::string& schema_path) {
  std::string name = schema_path.substr(schema_path.find_last_of('/') + 1);
  name = name.substr(0, name.find('.'));
  for (char& c : name) {
    const bool is_kept =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
    if (!is_kept) c = '_';
  }
  name.resize(std::min<std::size_t>(name.size(), 64));
  return name.empty() ? "output" : name;
}

ExitCode ask_server(const AskOptions& options, std::ostream& out, std::ostream& err) {
  auto body = create_body_head(options);
  if (!body) {
    err << body.error() << '\n';
    return kExitUsage;
  }
  net::Loop loop;
  Conversation conversation(loop, options, out, err);
  ExitCode exit = kExitInternal;
  loop.run(converse(conversation, std::move(*body), exit));
  return exit;
}

}  // namespace assay::cli
