#include "tests/harness/deployment.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "json/writer.h"

namespace assay::tests {
namespace {

std::string last_word(const std::string& line) { return line.substr(line.find_last_of(" =") + 1); }

// "assay-sim answers at http://127.0.0.1:4711/v1 (...)": the part before the path.
std::string simulator_origin(const std::string& line) {
  const std::size_t begin = line.find("http://");
  return line.substr(begin, line.find("/v1", begin) - begin);
}

std::string require_line(ChildProcess& process, const std::string& text) {
  const auto line = process.wait_for_line(text);
  if (!line) throw std::runtime_error("no line with '" + text + "' in:\n" + process.output());
  return *line;
}

std::string point_body(const std::string& point) {
  json::Writer body;
  body.begin_object().member("point", point).end_object();
  return body.take();
}

void require_ok(const Reply& reply) {
  if (reply.status != 200) throw std::runtime_error("the simulator answered " + reply.body);
}

ChildProcess::Environment environment_of(const ServerOptions& options) {
  ChildProcess::Environment environment = options.more;
  environment.emplace("ASSAY_ADDRESS", "127.0.0.1:0");
  environment.emplace("ASSAY_DATABASE_URL", options.database_url);
  environment.emplace("ASSAY_EXPERIMENTS", options.experiments);
  environment.emplace("ASSAY_PROVIDER_URL", options.provider_url);
  environment.emplace("ASSAY_PROVIDER_KEY", options.provider_key);
  environment.emplace("ASSAY_LOG_LEVEL", "debug");
  environment.emplace("HOME", "/nonexistent");
  return environment;
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& text, const std::string& suffix) {
  const char* folder = std::getenv("TMPDIR");
  path_ = std::string(folder == nullptr ? "/tmp" : folder) + "/assay-test-XXXXXX" + suffix;
  const int descriptor = ::mkstemps(path_.data(), static_cast<int>(suffix.size()));
  if (descriptor < 0) throw std::runtime_error("no temporary file");
  ::close(descriptor);
  std::ofstream(path_) << text;
}

TemporaryFile::~TemporaryFile() { ::unlink(path_.c_str()); }

Simulator::Simulator(const std::string& script)
    : script_(script, ".json"),
      process_(binary("assay-sim"), {"--address", "127.0.0.1:0", "--script", script_.path()}, {}),
      url_(simulator_origin(require_line(process_, "answers at"))) {}

void Simulator::release(const std::string& point) const {
  require_ok(Http(url_, "").post("/sim/release", point_body(point)));
}

void Simulator::await_point(const std::string& point) const {
  require_ok(Http(url_, "").post("/sim/await", point_body(point)));
}

void Simulator::await_requests(int count) const {
  json::Writer body;
  body.begin_object().member("requests", count).end_object();
  require_ok(Http(url_, "").post("/sim/await", body.take()));
}

std::vector<std::string> Simulator::request_bodies() const {
  const json::Document journal = Http(url_, "").get("/sim/requests").json();
  std::vector<std::string> bodies;
  for (const json::Value entry : journal.root().find("requests")->elements()) bodies.push_back(text(entry, "body"));
  return bodies;
}

Server::Server(const ServerOptions& options)
    : process_(binary(options.program), {"serve"}, environment_of(options)),
      url_("http://" + last_word(require_line(process_, " ready "))) {}

int Server::stop() {
  process_.send_signal(SIGTERM);
  return process_.wait_for_exit();
}

std::string create_token(const std::string& database_url, const std::string& user) {
  const Finished made = run_program(binary("assay"), {"token", "create", "--user", user},
                                    {{"ASSAY_DATABASE_URL", database_url}, {"ASSAY_LOG_LEVEL", "error"}});
  if (made.exit_code != 0) throw std::runtime_error("no token: " + made.output);
  std::string output = made.output;
  while (output.ends_with('\n')) output.pop_back();
  return output.substr(output.rfind('\n') + 1);
}

Deployment::Deployment(const std::string& script, ChildProcess::Environment more, std::string program)
    : simulator_(script) {
  options_.database_url = database_.url();
  options_.provider_url = simulator_.url();
  options_.more = std::move(more);
  options_.program = std::move(program);
  start_server();
  make_user();
}

Deployment::Deployment(const Config& config, const std::string& script) : simulator_(script) {
  constexpr std::string_view kPlaceholder = "PROVIDER_URL";
  std::string toml = config.toml;
  toml.replace(toml.find(kPlaceholder), kPlaceholder.size(), simulator_.url());
  config_.emplace(toml, ".toml");
  options_.database_url = database_.url();
  options_.more = {{"ASSAY_CONFIG", config_->path()}, {"ASSAY_PROVIDER_KEY", ""}};
  start_server();
  make_user();
}

void Deployment::make_user() {
  token_ = create_token(database_.url(), "tester");
  http_.emplace(server_->url(), token_);
  const json::Document me = http_->get("/api/v2/users/me").json();
  organization_ = std::string((*me.root().find("organization_ids")->elements().begin()).string());
}

void Deployment::start_server() {
  if (server_) earlier_log_ += server_->process().output();
  server_ = std::make_unique<Server>(options_);
  http_.emplace(server_->url(), token_);
}

void Deployment::kill_and_restart() {
  server_->process().kill();
  start_server();
}

Reply Deployment::post_chat(const std::string& question, const std::string& response_format) const {
  json::Writer body;
  body.begin_object().member("organization_id", organization_).key("content").begin_array();
  body.begin_object().member("type", "text").member("text", question).end_object().end_array();
  if (!response_format.empty()) body.raw_member("response_format", response_format);
  body.end_object();
  return http_->post("/api/v2/chats", body.take());
}

std::string Deployment::create_chat(const std::string& question, const std::string& response_format) {
  const Reply reply = post_chat(question, response_format);
  if (reply.status != 201) throw std::runtime_error("no chat: " + reply.body);
  return text(reply.json().root(), "id");
}

bool Deployment::await_end(const std::string& chat) const {
  return http_->follow("/api/v2/chats/" + chat + "/stream", [](const std::string& data) {
    return data.find(R"("status":{"status":"waiting"})") == std::string::npos &&
           data.find(R"("status":{"status":"error"})") == std::string::npos;
  });
}

json::Document Deployment::messages(const std::string& chat) const { return messages_at(*http_, chat); }

json::Document Deployment::messages_at(const Http& http, const std::string& chat) {
  return http.get("/api/v2/chats/" + chat + "/messages?limit=200").json();
}

std::string Deployment::receipt(const std::string& chat) {
  std::vector<std::string> receipts;
  const json::Document page = messages(chat);
  for (const json::Value message : page.root().find("messages")->elements()) {
    if (const auto output = message.find("structured_output")) receipts.emplace_back(output->raw());
  }
  EXPECT_EQ(receipts.size(), 1U) << page.text() << '\n' << log();
  EXPECT_EQ(database_.value("select count(*) from chat_messages where chat_id = '" + chat +
                            R"(' and content @> '[{"type":"structured-output-outcome"}]')"),
            "1");
  return receipts.empty() ? "" : receipts.front();
}

std::string Deployment::ask(const std::string& question, const std::string& response_format) {
  const std::string chat = create_chat(question, response_format);
  EXPECT_TRUE(await_end(chat)) << log();
  return receipt(chat);
}

std::string Deployment::log() { return earlier_log_ + server_->process().output(); }

std::string json_schema_format(const std::string& schema, const std::string& name) {
  return R"({"type":"json_schema","json_schema":{"name":")" + name + R"(","schema":)" + schema + "}}";
}

}  // namespace assay::tests
