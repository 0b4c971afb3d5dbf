#pragma once
// A refusal as the public API words it: `{"message", "detail"?, "validations"?: [{"field", "detail"}]}`.
#include <string>
#include <vector>

namespace assay::api {

struct Validation {
  std::string field;   // path into the request body: `response_format.json_schema.name`
  std::string detail;  // what a person can do about it; never echoes values
  friend bool operator==(const Validation&, const Validation&) = default;
};

struct ApiError {
  int status = 400;
  std::string message;
  std::string detail;                   // empty: left out
  std::vector<Validation> validations;  // empty: left out
};

ApiError refusal(int status, std::string message, std::string detail = {});

// 400 for one field of the body.
ApiError invalid_field(std::string field, std::string detail);

std::string error_body(const ApiError& error);

}  // namespace assay::api
