#pragma once
// What whole-process tests run: a scripted provider and servers on a database, all as real processes on loopback.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "database/test_database.h"
#include "tests/harness/child_process.h"
#include "tests/harness/http.h"

namespace assay::tests {

// A file with the given text, gone with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text, const std::string& suffix = "");
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// `assay-sim` with a script (docs/simulator.md).
class Simulator {
 public:
  explicit Simulator(const std::string& script);

  [[nodiscard]] std::string url() const { return url_ + "/v1"; }
  // Lets one answer that holds at the point go on.
  void release(const std::string& point) const;
  // Returns once an answer waits at the point.
  void await_point(const std::string& point) const;
  // Returns once so many chat requests have come.
  void await_requests(int count) const;
  // The bodies of the chat requests so far, as sent.
  [[nodiscard]] std::vector<std::string> request_bodies() const;

 private:
  TemporaryFile script_;
  ChildProcess process_;
  std::string url_;
};

struct ServerOptions {
  std::string database_url;
  std::string provider_url;
  std::string provider_key = "sk-test-key-that-nobody-may-see";
  std::string experiments = "chat-structured-output";
  std::string program = "assay";
  ChildProcess::Environment more;  // further variables; they win
};

// `assay serve`, ready.
class Server {
 public:
  explicit Server(const ServerOptions& options);

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] ChildProcess& process() { return process_; }
  // SIGTERM; the exit code.
  int stop();

 private:
  ChildProcess process_;
  std::string url_;
};

// The token of a user of the database, made by the command line.
std::string create_token(const std::string& database_url, const std::string& user);

// One provider, one server, one user.
class Deployment {
 public:
  explicit Deployment(const std::string& script, ChildProcess::Environment more = {}, std::string program = "assay");
  // With a TOML file in place of the one-provider settings; `PROVIDER_URL` in it stands for the simulator's.
  struct Config {
    explicit Config(std::string text) : toml(std::move(text)) {}
    std::string toml;
  };
  Deployment(const Config& config, const std::string& script);

  // Ends the server as `kill -9` does and starts another on the same database.
  void kill_and_restart();

  // POST /chats with one question; `response_format` is JSON text, empty for an ordinary chat. The chat's id.
  std::string create_chat(const std::string& question, const std::string& response_format = "");
  [[nodiscard]] Reply post_chat(const std::string& question, const std::string& response_format) const;
  // Follows the stream until the status comes that ends a turn (waiting or error); false when it does not come.
  [[nodiscard]] bool await_end(const std::string& chat) const;
  [[nodiscard]] json::Document messages(const std::string& chat) const;
  // The same as another server shows them.
  [[nodiscard]] static json::Document messages_at(const Http& http, const std::string& chat);
  // The one receipt of the chat as JSON text of its `structured_output`. A failed test where there is not exactly one,
  // in the API's view or in the database's.
  std::string receipt(const std::string& chat);
  // Creates the chat, awaits its end and returns its receipt.
  std::string ask(const std::string& question, const std::string& response_format);

  [[nodiscard]] const Http& http() const { return *http_; }
  [[nodiscard]] Simulator& simulator() { return simulator_; }
  [[nodiscard]] Server& server() { return *server_; }
  [[nodiscard]] test_database::TestDatabase& database() { return database_; }
  [[nodiscard]] const std::string& organization() const { return organization_; }
  [[nodiscard]] const std::string& token() const { return token_; }
  [[nodiscard]] const ServerOptions& server_options() const { return options_; }
  // Everything that any server of this deployment has printed.
  [[nodiscard]] std::string log();

 private:
  void start_server();
  void make_user();

  test_database::TestDatabase database_;
  Simulator simulator_;
  std::optional<TemporaryFile> config_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
  std::string earlier_log_;
  std::string token_;
  std::optional<Http> http_;
  std::string organization_;
};

// {"type":"json_schema",...} around a schema's text.
std::string json_schema_format(const std::string& schema, const std::string& name = "answer");

}  // namespace assay::tests
