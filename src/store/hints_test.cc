#include "store/hints.h"

#include <gmock/gmock.h>

#include "base/random.h"

namespace assay::store {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Hints, TravelAsTextAndBack) {
  SeededRandom random(1);
  std::vector<ChatHint> hints;
  for (int count = 0; count < 1000; ++count) {
    hints.push_back(ChatHint{ChatId::random(random), count * 1'000'000'007LL, count % 3 == 0});
  }
  const auto payloads = payloads_of(hints);
  EXPECT_GT(payloads.size(), 1U);
  std::vector<ChatHint> received;
  for (const std::string& payload : payloads) {
    EXPECT_LE(payload.size(), kPayloadBytesMax);
    for (const ChatHint& hint : hints_in(payload)) received.push_back(hint);
  }
  ASSERT_THAT(received, SizeIs(hints.size()));
  for (std::size_t index = 0; index < hints.size(); ++index) {
    EXPECT_EQ(received[index].chat, hints[index].chat);
    EXPECT_EQ(received[index].snapshot_version, hints[index].snapshot_version);
    EXPECT_EQ(received[index].needs_owner, hints[index].needs_owner);
  }
}

TEST(Hints, LeaveOutWhatIsNone) {
  EXPECT_THAT(payloads_of({}), IsEmpty());
  for (const std::string_view payload :
       {"", " ", "x", ":1", "11111111-1111-4111-8111-111111111111",
        "11111111-1111-4111-8111-111111111111:", "11111111-1111-4111-8111-111111111111:!",
        "11111111-1111-4111-8111-111111111111:1x", "11111111-1111-4111-8111-111111111111:99999999999999999999"}) {
    EXPECT_THAT(hints_in(payload), IsEmpty()) << payload;
  }
  EXPECT_THAT(hints_in("nonsense 11111111-1111-4111-8111-111111111111:7! more:3"), SizeIs(1));
}

}  // namespace
}  // namespace assay::store
