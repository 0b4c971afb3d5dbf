#include "api/once.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::api {

namespace {

constexpr std::string_view kHeader = "Idempotency-Key";

ApiError bad_key(std::string detail) { return refusal(400, "The Idempotency-Key is not valid.", std::move(detail)); }

ApiError other_request() {
  return refusal(409, "This Idempotency-Key was used for another request.",
                 "A key stands for one request, byte for byte. Send another request under a key of its own.");
}

net::HttpReply response_of(const store::KeptAnswer& kept) { return json_response(kept.status, kept.body); }

}  // namespace

Result<std::optional<store::Submission>, ApiError> submission_of(const Call& call, std::string_view route) {
  const auto key = call.request.headers.get(kHeader);
  if (!key) return std::nullopt;
  if (call.request.headers.count(kHeader) > 1) return fail(bad_key("It must be sent once."));
  if (key->empty() || key->size() > store::kSubmissionKeyBytesMax) {
    return fail(bad_key(fmt::format("It must have 1 to {} characters.", store::kSubmissionKeyBytesMax)));
  }
  if (!std::ranges::all_of(*key, [](char c) { return c > ' ' && c < '\x7f'; })) {
    return fail(bad_key("It must be of printable ASCII characters without spaces."));
  }
  std::string target(route);
  for (const std::string& parameter : call.parameters) target += "/" + parameter;
  store::Submission submission;
  submission.user = call.user.id;
  submission.route = route;
  submission.key = *key;
  submission.digest = store::request_digest(target, call.request.body);
  return submission;
}

net::Task<Result<std::optional<net::HttpReply>, ApiError>> earlier_answer(Services& services, ChatId chat,
                                                                          std::optional<store::Submission> submission,
                                                                          Deadline deadline) {
  if (!submission) co_return std::nullopt;
  const std::string digest = submission->digest;
  auto kept = co_await services.store.chats().find_answer(chat, std::move(*submission), deadline);
  if (!kept) co_return fail(error_of(kept.error()));
  if (!*kept) co_return std::nullopt;
  if ((*kept)->digest != digest) co_return fail(other_request());
  co_return response_of(**kept);
}

Answer answer_of(Result<store::KeptAnswer, store::TransitError> kept, const store::Submission& submission) {
  if (!kept) return fail(error_of(kept.error()));
  if (kept->digest != submission.digest) return fail(other_request());
  return response_of(*kept);
}

bool is_in_doubt(const Result<store::KeptAnswer, store::TransitError>& kept) {
  if (kept) return false;
  const auto* error = std::get_if<store::StoreError>(&kept.error());
  return error != nullptr && error->kind == store::StoreErrorKind::InDoubt;
}

}  // namespace assay::api
