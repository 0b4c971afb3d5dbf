#include "api/router.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace assay::api {
namespace {

const std::string kId = "00000000-0000-4000-8000-000000000001";

std::string endpoint_of(std::string_view method, std::string_view path) {
  const auto result = match_route(method, path);
  const auto* match = std::get_if<Match>(&result);
  return match == nullptr ? "none" : std::string(name_of(match->endpoint));
}

TEST(Router, ServesTheChatRoutesUnderBothPrefixes) {
  for (const std::string prefix : {"/api/v2/chats", "/api/experimental/chats"}) {
    EXPECT_EQ(endpoint_of("POST", prefix), "create_chat");
    EXPECT_EQ(endpoint_of("GET", prefix), "list_chats");
    EXPECT_EQ(endpoint_of("GET", prefix + "/" + kId), "get_chat");
    EXPECT_EQ(endpoint_of("PATCH", prefix + "/" + kId), "patch_chat");
    EXPECT_EQ(endpoint_of("GET", prefix + "/" + kId + "/messages"), "list_messages");
    EXPECT_EQ(endpoint_of("POST", prefix + "/" + kId + "/messages"), "send_message");
    EXPECT_EQ(endpoint_of("GET", prefix + "/" + kId + "/stream"), "stream");
    EXPECT_EQ(endpoint_of("POST", prefix + "/" + kId + "/interrupt"), "interrupt");
    EXPECT_EQ(endpoint_of("DELETE", prefix + "/" + kId + "/queue/7"), "delete_queued_message");
  }
}

TEST(Router, HandsOutParametersInOrder) {
  const auto result = match_route("DELETE", "/api/v2/chats/" + kId + "/queue/7");
  ASSERT_TRUE(std::holds_alternative<Match>(result));
  EXPECT_EQ(std::get<Match>(result).parameters, (std::vector<std::string>{kId, "7"}));
}

TEST(Router, LeavesWhatIsNoUuidToTheHandler) { EXPECT_EQ(endpoint_of("GET", "/api/v2/chats/nonsense"), "get_chat"); }

TEST(Router, KeepsReservedWordsApartFromIds) {
  EXPECT_EQ(endpoint_of("GET", "/api/experimental/chats/model-configs"), "model_configs");
  for (const std::string word : {"model-configs", "models", "providers", "user-provider-configs", "watch"}) {
    EXPECT_TRUE(std::holds_alternative<NoRoute>(match_route("GET", "/api/v2/chats/" + word))) << word;
  }
}

TEST(Router, NamesTheMethodsThatAPathHas) {
  const auto result = match_route("PUT", "/api/v2/chats/" + kId + "/messages");
  ASSERT_TRUE(std::holds_alternative<WrongMethod>(result));
  EXPECT_EQ(std::get<WrongMethod>(result).allow, "GET, POST");
}

TEST(Router, AnswersHeadWhereGetEnds) {
  EXPECT_EQ(endpoint_of("HEAD", "/healthz"), "health");
  EXPECT_EQ(endpoint_of("HEAD", "/api/v2/chats/" + kId + "/stream"), "none");
}

TEST(Router, KnowsNoOtherPaths) {
  for (const std::string path : {"", "/", "*", "/api/v2/chats/", "/api/v2/chats//messages", "/api/v3/chats",
                                 "/api/v2/chatsx", "/healthz/", "/API/v2/chats"}) {
    EXPECT_TRUE(std::holds_alternative<NoRoute>(match_route("GET", path))) << path;
  }
  EXPECT_TRUE(std::holds_alternative<NoRoute>(match_route("GET", "/api/v2/chats/" + kId + "/messages/1/extra")));
  EXPECT_TRUE(std::holds_alternative<NoRoute>(match_route("POST", "/api/v2/chats/" + kId + "/compress")));
}

// `METHOD /path` of every operation in the hand-written document: paths stand at two spaces, methods at four. The
// second prefix's path items refer to the first one's.
std::set<std::string> documented_routes() {
  std::ifstream file(ASSAY_SOURCE_DIR "/api/openapi.yaml");
  std::set<std::string> found;
  std::string line;
  std::string path;
  bool in_paths = false;
  while (std::getline(file, line)) {
    if (!line.starts_with(' ') && !line.empty()) in_paths = line == "paths:";
    if (!in_paths) continue;
    if (line.starts_with("  /") && line.ends_with(':')) path = line.substr(2, line.size() - 3);
    for (const std::string method : {"get", "post", "patch", "put", "delete"}) {
      if (line != "    " + method + ":") continue;
      std::string upper;
      for (const char c : method) upper += static_cast<char>(c - 32);
      found.insert(upper + " " + path);
    }
    const std::string_view reference = "    $ref: '#/paths/~1api~1v2~1chats";
    if (!line.starts_with(reference)) continue;
    std::string target = "/api/v2/chats" + line.substr(reference.size(), line.size() - reference.size() - 1);
    for (auto at = target.find("~1"); at != target.npos; at = target.find("~1")) target.replace(at, 2, "/");
    std::set<std::string> copied;
    for (const auto& route : found) {
      const auto space = route.find(' ');
      if (route.substr(space + 1) == target) copied.insert(route.substr(0, space + 1) + path);
    }
    EXPECT_FALSE(copied.empty()) << line;
    found.merge(copied);
  }
  return found;
}

TEST(Router, IsDescribedByTheOpenApiDocumentAndByNothingElse) {
  std::set<std::string> served;
  for (const auto& route : routes()) served.insert(std::string(route.method) + " " + std::string(route.pattern));
  EXPECT_EQ(documented_routes(), served);
}

}  // namespace
}  // namespace assay::api
