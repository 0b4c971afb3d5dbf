#include "tests/harness/script.h"

#include "json/document.h"
#include "json/limits.h"
#include "json/writer.h"
#include "tests/harness/http.h"

namespace assay::tests {

std::string finalizer_rule(const std::string& arguments, const std::string& more) {
  json::Writer text;
  text.string(arguments);
  return R"({"reply":{"tool_calls":[{"name":"coder_structured_output","arguments":)" + text.take() + "}]" + more + "}}";
}

std::string once(std::string rule) {
  rule.pop_back();
  return rule + R"(,"times":1})";
}

std::string script(const std::vector<std::string>& rules) {
  std::string text = R"({"rules":[)";
  for (const std::string& rule : rules) text += (text.back() == '[' ? "" : ",") + rule;
  return text + "]}";
}

std::string value_of(const std::string& receipt) {
  const auto document = json::Document::parse(receipt, json::kEnvelopeCaps);
  return document ? text(document->root(), "value") : "";
}

std::string code_of(const std::string& receipt) {
  const auto document = json::Document::parse(receipt, json::kEnvelopeCaps);
  const auto error = document ? document->root().find("error") : std::nullopt;
  return error ? text(*error, "code") : "";
}

}  // namespace assay::tests
