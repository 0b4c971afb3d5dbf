// The vendors' own clients against assay-sim: what our simulator speaks is their wire, not our idea of it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/harness/deployment.h"
#include "tests/sdk/node_peer.h"

namespace assay::tests {
namespace {

constexpr const char* kScript = R"({"rules":[
 {"when":{"user_contains":"say hello"},"reply":{"reasoning":"hm hm","text":"Hello there"},"delivery":{"chunk_characters":3,"split_bytes":5,"comments":true}},
 {"when":{"user_contains":"use the tool","has_tool_result":false},"reply":{"reasoning":"a tool","tool_calls":[{"name":"add","arguments":"{\"a\":1,\"b\":2}"},{"name":"add","arguments":"{\"a\":3}"}]},"delivery":{"chunk_characters":2}},
 {"when":{"user_contains":"use the tool","has_tool_result":true},"reply":{"text":"It is three."}},
 {"when":{"user_contains":"refuse"},"reply":{"refusal":"I will not."}},
 {"when":{"user_contains":"go on for ever"},"reply":{"text":"and on","finish_reason":"length"}},
 {"when":{"user_contains":"slow down"},"http":{"status":429,"headers":{"Retry-After":"1"},"body":{"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}}},
 {"when":{"user_contains":"bad key"},"http":{"status":401,"body":{"error":{"message":"no","type":"authentication_error","code":"invalid_api_key"}}}},
 {"when":{"user_contains":"break off"},"reply":{"text":"Hello there"},"delivery":{"chunk_characters":1,"cut_after_bytes":700}}
]})";

class OfficialClient : public testing::TestWithParam<const char*> {};

TEST_P(OfficialClient, UnderstandsTheSimulator) {
  ASSAY_NEEDS_PEERS();
  const Simulator simulator(kScript);
  const Finished run = run_script("official_clients.mjs", {simulator.url(), GetParam()});
  EXPECT_EQ(run.exit_code, 0) << run.output;
}
INSTANTIATE_TEST_SUITE_P(Wires, OfficialClient, testing::Values("openai_chat", "openai_responses", "anthropic"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace assay::tests
