#pragma once
// Scripts for the simulator (docs/simulator.md), and what a receipt says.
#include <string>
#include <vector>

namespace assay::tests {

inline constexpr const char* kProjectSchema =
    R"({"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false})";

// A rule that answers with one finalizer call of the given raw argument bytes; `more` are further members of the reply.
std::string finalizer_rule(const std::string& arguments, const std::string& more = "");
std::string once(std::string rule);
std::string script(const std::vector<std::string>& rules);

std::string value_of(const std::string& receipt);
std::string code_of(const std::string& receipt);

}  // namespace assay::tests
