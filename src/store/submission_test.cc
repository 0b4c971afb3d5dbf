#include "store/submission.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::store {
namespace {

Submission submission(std::string key, std::string route = "create", std::uint8_t user = 1) {
  Submission made;
  made.user.value.bytes[15] = user;
  made.route = std::move(route);
  made.key = std::move(key);
  return made;
}

TEST(Submission, TheSameKeyNamesTheSameChat) {
  EXPECT_EQ(chat_id_of(submission("k")), chat_id_of(submission("k")));
  const std::set<ChatId> ids{chat_id_of(submission("k")), chat_id_of(submission("l")),
                             chat_id_of(submission("k", "other")), chat_id_of(submission("k", "create", 2))};
  EXPECT_EQ(ids.size(), 4U);
}

TEST(Submission, AChatsIdIsAUuidOfVersion8) {
  const std::string id = chat_id_of(submission("k")).to_string();
  EXPECT_EQ(id[14], '8') << id;
  EXPECT_NE(std::string("89ab").find(id[19]), std::string::npos) << id;
  EXPECT_EQ(id, "5c34933b-1ca7-84a4-abb3-0959ddd707f2") << "replicas of all versions must agree on it";
}

TEST(Submission, ADigestTellsRequestsApart) {
  EXPECT_EQ(request_digest("a", "b").size(), 64U);
  EXPECT_EQ(request_digest("a", "b"), request_digest("a", "b"));
  EXPECT_NE(request_digest("a", "b"), request_digest("ab", ""));
  EXPECT_NE(request_digest("a", "b"), request_digest("a", "c"));
}

}  // namespace
}  // namespace assay::store
