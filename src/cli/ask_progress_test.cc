#include "cli/ask_progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace assay::cli {
namespace {

std::string shown(bool is_terminal, std::initializer_list<const char*> events) {
  std::ostringstream err;
  AskProgress progress(err, is_terminal);
  for (const char* event : events) {
    const auto document = json::Document::parse(event, json::kEnvelopeCaps);
    progress.show(document->root());
  }
  progress.finish();
  return err.str();
}

constexpr const char* kRunning = R"({"type":"status","status":{"status":"running"}})";
constexpr const char* kText =
    R"({"type":"message_part","message_part":{"part":{"type":"text","text":"Hel\u001b[31mlo"}}})";

TEST(AskProgress, SaysAStatusOnce) { EXPECT_EQ(shown(false, {kRunning, kRunning}), "status running\n"); }

TEST(AskProgress, StreamsTextToATerminalAlone) {
  EXPECT_EQ(shown(false, {kText}), "");
  EXPECT_EQ(shown(true, {kText, kRunning}), "Hel[31mlo\nstatus running\n") << "without control characters of the model";
}

TEST(Printable, LeavesOutEveryControlCharacter) {
  EXPECT_EQ(printable("a\x1b[1m\x7f\n\tb\r"), "a[1m\n\tb");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m\xC2\xA0\xC3\xA9"),
            "31m\xC2\xA0\xC3\xA9")
      << "U+009B begins a control sequence too";
}

TEST(AskProgress, TellsOfRetriesErrorsAndReceipts) {
  EXPECT_EQ(shown(false, {R"({"type":"retry","retry":{"attempt":2,"delay_ms":1500}})"}),
            "attempt 2 failed, next in 1500 ms\n");
  EXPECT_EQ(shown(false, {R"({"type":"error","error":{"message":"no key"}})"}), "error: no key\n");
  EXPECT_EQ(
      shown(false, {R"({"type":"message","message":{"structured_output":{"request_id":"r","status":"failed"}}})"}),
      "receipt failed for request r\n");
}

TEST(AskProgress, TellsWhatTheTurnWaitsFor) {
  EXPECT_EQ(
      shown(
          false,
          {R"({"type":"action_required","action_required":{"tool_calls":[{"tool_name":"a"},{"tool_name":"b\u001b"}]}})"}),
      "the turn waits for the client's tools a, b; answer by POST tool-results, or it goes on without at its "
      "deadline\n");
}

TEST(AskProgress, BearsEventsOfAnyShape) {
  for (const char* event : {"{}", R"({"type":7})", R"({"type":"status"})", R"({"type":"status","status":3})",
                            R"({"type":"message_part","message_part":{"part":[]}})", R"({"type":"error","error":[]})",
                            R"({"type":"message","message":{"structured_output":1}})", R"({"type":"retry","retry":{}})",
                            R"({"type":"action_required","action_required":{}})",
                            R"({"type":"action_required","action_required":{"tool_calls":[7]}})"}) {
    shown(true, {event});
  }
}

}  // namespace
}  // namespace assay::cli
