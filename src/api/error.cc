#include "api/error.h"

#include <utility>

#include "json/writer.h"

namespace assay::api {

ApiError refusal(int status, std::string message, std::string detail) {
  return ApiError{.status = status, .message = std::move(message), .detail = std::move(detail), .validations = {}};
}

ApiError invalid_field(std::string field, std::string detail) {
  ApiError error = refusal(400, "The request is not valid.");
  error.validations.push_back(Validation{.field = std::move(field), .detail = std::move(detail)});
  return error;
}

std::string error_body(const ApiError& error) {
  json::Writer writer;
  writer.begin_object();
  writer.member("message", error.message);
  if (!error.detail.empty()) writer.member("detail", error.detail);
  if (!error.validations.empty()) {
    writer.key("validations").begin_array();
    for (const auto& validation : error.validations) {
      writer.begin_object();
      writer.member("field", validation.field).member("detail", validation.detail);
      writer.end_object();
    }
    writer.end_array();
  }
  writer.end_object();
  return writer.take();
}

}  // namespace assay::api
