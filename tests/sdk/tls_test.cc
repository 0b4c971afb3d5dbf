// A provider behind TLS and HTTP/2 whose certificate only a configured CA vouches for.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "net/http_client.h"
#include "net/loop.h"
#include "providers/client.h"
#include "tests/sdk/node_peer.h"

namespace assay::tests {
namespace {

namespace fs = std::filesystem;
using Outcome = Result<chat::GeneratedStep, providers::Failure>;

class TlsServer {
 public:
  TlsServer() : folder_((fs::temp_directory_path() / "assay-tls-XXXXXX").string()) {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    const Finished made = run_program(
        "/usr/bin/openssl", {"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                             "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                             "-keyout", folder_ + "/key.pem", "-out", ca_file()});
    EXPECT_EQ(made.exit_code, 0) << made.output;
    process_.emplace(node(), std::vector<std::string>{beside("tls_server.mjs"), folder_}, ChildProcess::Environment{});
    const auto line = process_->wait_for_line("port ");
    if (line) url_ = "https://localhost:" + line->substr(line->find("port ") + 5);
    EXPECT_TRUE(line) << process_->output();
  }
  ~TlsServer() {
    process_.reset();
    fs::remove_all(folder_);
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  [[nodiscard]] std::string ca_file() const { return folder_ + "/cert.pem"; }

  Outcome ask(const std::string& ca) const {
    providers::ProviderConfig provider;
    provider.name = "tls";
    provider.base_url = url_;
    provider.ca_file = ca;
    provider.organization = "org-1";
    provider.project = "proj-1";
    provider.headers = {{"X-Title", "assay"}};
    net::Loop loop;
    net::HttpClient http(loop);
    std::optional<Outcome> outcome;
    loop.run(generate_into(http, provider, &outcome));
    return std::move(*outcome);
  }

 private:
  static net::Task<> generate_into(net::HttpClient& http, const providers::ProviderConfig& provider,
                                   std::optional<Outcome>* outcome) {
    providers::ModelClient client(http);
    providers::ModelSettings model;
    model.model = "m";
    chat::Prompt prompt;
    prompt.rows.push_back(chat::PromptRow{.role = chat::Role::User, .content = {chat::TextPart{"hello"}}});
    providers::EventCallback ignore = [](const providers::Event&) {};
    *outcome = co_await client.generate(provider, std::move(model), std::move(prompt), std::move(ignore));
  }

  std::string folder_;
  std::optional<ChildProcess> process_;
  std::string url_;
};

TEST(Tls, ReachesAProviderOfAConfiguredAuthorityOverHttp2) {
  ASSAY_NEEDS_PEERS();
  const TlsServer server;
  const Outcome step = server.ask(server.ca_file());
  ASSERT_TRUE(step) << step.error().error.message;
  ASSERT_EQ(step->parts.size(), 1U);
  EXPECT_EQ(std::get<chat::TextPart>(step->parts[0]).text, "over HTTP/2.0 for org-1, proj-1, assay");
}

TEST(Tls, TrustsNobodyElse) {
  ASSAY_NEEDS_PEERS();
  const TlsServer server;
  const Outcome step = server.ask("");
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().error.kind, "config");
  EXPECT_FALSE(step.error().retryable);
}

}  // namespace
}  // namespace assay::tests
