#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "json/document.h"
#include "schema/schema.h"
#include "structured/finalizer.h"
#include "structured/response_format.h"
#include "tests/hermetic/trap.h"

namespace assay::hermetic {
namespace {

void expect_caught(const std::function<int()>& action, long system_call) {
  const TrappedRun run = run_trapped(action);
  EXPECT_EQ(run.end, TrappedRun::End::Caught) << run.describe();
  EXPECT_EQ(run.code, system_call) << run.describe();
}

TEST(Trap, LetsPureCodeThrough) {
  const TrappedRun run = run_trapped([] {
    std::vector<std::string> memory(1000, std::string(10'000, 'a'));
    return static_cast<int>(memory.back().size() / 1000);
  });
  EXPECT_EQ(run.end, TrappedRun::End::Returned) << run.describe();
  EXPECT_EQ(run.code, 10);
}

TEST(Trap, CatchesFilesNetworkAndPrograms) {
  expect_caught([] { return ::open("/etc/hostname", O_RDONLY); }, __NR_openat);
  expect_caught([] { return ::socket(AF_INET, SOCK_STREAM, 0); }, __NR_socket);
  expect_caught([] { return ::socket(AF_UNIX, SOCK_STREAM, 0); }, __NR_socket);
  expect_caught([] { return ::connect(0, nullptr, 0); }, __NR_connect);
  expect_caught([] { return static_cast<int>(::read(0, nullptr, 0)); }, __NR_read);
  expect_caught(
      [] {
        char* const arguments[] = {nullptr};
        return ::execv("/bin/true", arguments);
      },
      __NR_execve);
  const TrappedRun stat = run_trapped([] {
    struct stat about{};
    return ::stat("/", &about);
  });
  EXPECT_EQ(stat.end, TrappedRun::End::Caught) << stat.describe();
  const TrappedRun resolved = run_trapped([] {
    addrinfo* found = nullptr;
    return ::getaddrinfo("localhost", "80", nullptr, &found);
  });
  EXPECT_EQ(resolved.end, TrappedRun::End::Caught) << resolved.describe();
}

constexpr const char* kPlaces[] = {"http://127.0.0.1:9/schema.json",
                                   "https://json-schema.org/draft/2020-12/schema",
                                   "http://json-schema.org/draft-07/schema",
                                   "file:///etc/passwd",
                                   "/etc/passwd",
                                   "//localhost/share/schema.json",
                                   "ftp://localhost/a",
                                   "jar:file:///a.jar!/b",
                                   "data:application/json,{}",
                                   "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
                                   "#/definitions/a",
                                   "schema.json#/a",
                                   "\\\\\\\\localhost\\\\a"};

// One schema around another.
constexpr const char* kPositions[] = {"{}",
                                      R"({{"properties":{{"a":{}}}}})",
                                      R"({{"patternProperties":{{"^a":{}}}}})",
                                      R"({{"additionalProperties":{}}})",
                                      R"({{"propertyNames":{}}})",
                                      R"({{"items":{}}})",
                                      R"({{"items":[{}]}})",
                                      R"({{"additionalItems":{}}})",
                                      R"({{"contains":{}}})",
                                      R"({{"allOf":[{}]}})",
                                      R"({{"anyOf":[{}]}})",
                                      R"({{"oneOf":[{}]}})",
                                      R"({{"not":{}}})",
                                      R"({{"if":{}}})",
                                      R"({{"if":true,"then":{}}})",
                                      R"({{"if":false,"else":{}}})",
                                      R"({{"dependencies":{{"a":{}}}}})",
                                      R"({{"definitions":{{"a":{}}}}})"};

// What a schema may make of a place.
constexpr const char* kUses[] = {R"({{"$ref":"{}"}})",
                                 R"({{"$id":"{}"}})",
                                 R"({{"id":"{}"}})",
                                 R"({{"$schema":"{}"}})",
                                 R"({{"$recursiveRef":"{}"}})",
                                 R"({{"$dynamicRef":"{}"}})",
                                 R"({{"$vocabulary":{{"{}":true}}}})",
                                 R"({{"const":{{"$ref":"{}"}}}})",
                                 R"({{"enum":["{0}",{{"$id":"{0}"}}]}})",
                                 R"({{"default":{{"$schema":"{}"}}}})",
                                 R"({{"examples":["{}"]}})",
                                 R"({{"title":"{0}","description":"{0}","$comment":"{0}"}})",
                                 R"({{"contentMediaType":"{}"}})",
                                 R"({{"format":"{}"}})",
                                 R"({{"format":"uri","pattern":"{}"}})",
                                 R"({{"format":"iri-reference","required":["{}"]}})",
                                 R"({{"properties":{{"{}":{{"format":"hostname"}}}}}})",
                                 R"({{"properties":{{"$ref":{{"const":"{}"}}}}}})"};

std::vector<std::string> hostile_schemas() {
  std::vector<std::string> schemas;
  for (const char* place : kPlaces) {
    for (const char* use : kUses) {
      const std::string inner = fmt::format(fmt::runtime(use), place);
      for (const char* position : kPositions) schemas.push_back(fmt::format(fmt::runtime(position), inner));
    }
  }
  return schemas;
}

std::vector<std::string> hostile_values() {
  std::vector<std::string> values = {"1", R"(["localhost","user@localhost"])"};
  for (const char* place : kPlaces) {
    values.push_back(fmt::format(R"("{}")", place));
    values.push_back(fmt::format(R"({{"a":"{0}","{0}":{{"$ref":"{0}"}}}})", place));
  }
  return values;
}

// Admission as the API does it, then validation and feedback as the worker does.
bool judge(const std::string& schema_text, const std::vector<std::string>& values) {
  const auto format = structured::parse_response_format(R"({"type":"json_schema","json_schema":{"name":"a","schema":)" +
                                                        schema_text + "}}");
  const auto schema = schema::Schema::compile(schema_text);
  if (format.has_value() != schema.has_value()) return false;
  if (!schema) return true;
  (void)structured::finalizer_parameters(schema_text);
  for (const std::string& value : values) {
    const auto document = json::Document::parse(value, json::kOutputCaps);
    if (!document) return false;
    const schema::Verdict verdict = schema->validate(document->root());
    const auto accepted = structured::accept_arguments(R"({"output":)" + value + "}", *schema);
    if (accepted.has_value() != (verdict.outcome == schema::Outcome::Valid)) return false;
    if (!accepted && accepted.error().feedback.empty()) return false;
  }
  return true;
}

TEST(Hermetic, HostileSchemasOpenNothing) {
  const std::vector<std::string> schemas = hostile_schemas();
  const std::vector<std::string> values = hostile_values();
  const TrappedRun run = run_trapped([&] {
    std::size_t admitted = 0;
    for (const std::string& schema : schemas) {
      if (!judge(schema, values)) return 1;
      if (schema::Schema::compile(schema)) ++admitted;
    }
    // Neither side may be empty, or nothing would be tried.
    return admitted > 1000 && schemas.size() - admitted > 1000 ? 0 : 2;
  });
  EXPECT_EQ(run.end, TrappedRun::End::Returned) << run.describe();
  EXPECT_EQ(run.code, 0) << run.describe();
}

}  // namespace
}  // namespace assay::hermetic
