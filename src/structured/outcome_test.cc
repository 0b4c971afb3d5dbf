#include "structured/outcome.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::structured {
namespace {

constexpr OutcomeCode kCodes[] = {OutcomeCode::NotProduced,      OutcomeCode::ValidationExhausted,
                                  OutcomeCode::GenerationFailed, OutcomeCode::ConfigurationError,
                                  OutcomeCode::Interrupted,      OutcomeCode::Superseded,
                                  OutcomeCode::QueueDeleted};

const RequestId kId = *RequestId::parse("11111111-1111-4111-8111-111111111111");

TEST(Outcome, NamesEveryCodeUniquelyAndReadsItBack) {
  for (const OutcomeCode code : kCodes) EXPECT_EQ(outcome_code(name_of(code)), code) << name_of(code);
  EXPECT_EQ(outcome_code("nonsense"), std::nullopt);
  for (const OutcomeStatus status : {OutcomeStatus::Succeeded, OutcomeStatus::Failed, OutcomeStatus::Canceled}) {
    EXPECT_EQ(outcome_status(name_of(status)), status);
  }
  EXPECT_EQ(outcome_status(""), std::nullopt);
}

TEST(Outcome, KnowsWhichCodesCancel) {
  for (const OutcomeCode code : kCodes) {
    const bool cancels =
        code == OutcomeCode::Interrupted || code == OutcomeCode::Superseded || code == OutcomeCode::QueueDeleted;
    EXPECT_EQ(status_of(code), cancels ? OutcomeStatus::Canceled : OutcomeStatus::Failed) << name_of(code);
    EXPECT_EQ(ended(kId, code).status, status_of(code));
    EXPECT_FALSE(ended(kId, code).error->message.empty());
  }
}

TEST(Outcome, ShowsTheValueAsTheTextOfASuccess) {
  const OutcomePart outcome = succeeded(kId, R"({"n":1e25})");
  EXPECT_EQ(receipt_text(outcome), R"({"n":1e25})");
  EXPECT_EQ(outcome.error, std::nullopt);
}

TEST(Outcome, NeverShowsTheMessageInTheTextOfAFailure) {
  EXPECT_EQ(receipt_text(ended(kId, OutcomeCode::GenerationFailed, "secret detail")),
            "Structured output failed (generation_failed).");
  EXPECT_EQ(receipt_text(ended(kId, OutcomeCode::QueueDeleted)), "Structured output canceled (queue_deleted).");
}

TEST(Outcome, BoundsMessagesAtTheLimit) {
  EXPECT_EQ(sanitised_message(std::string(kOutcomeMessageBytesMax, 'x')).size(), kOutcomeMessageBytesMax);
  EXPECT_EQ(sanitised_message(std::string(kOutcomeMessageBytesMax + 1, 'x')).size(), kOutcomeMessageBytesMax);
  const std::string odd = "x" + std::string(kOutcomeMessageBytesMax, '\xC3');
  EXPECT_LE(ended(kId, OutcomeCode::GenerationFailed, odd).error->message.size(), kOutcomeMessageBytesMax);
}

}  // namespace
}  // namespace assay::structured
