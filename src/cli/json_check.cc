#include "cli/json_check.h"

#include <openssl/evp.h>

#include <istream>
#include <optional>
#include <ostream>

#include "json/document.h"
#include "json/error.h"
#include "json/member.h"
#include "json/writer.h"

namespace assay::cli {
namespace {

std::string verdict(std::string_view code, std::size_t offset) {
  json::Writer out;
  out.begin_object().member("ok", false).member("code", code).member("offset", offset).end_object();
  return out.take();
}

std::string accepted() {
  json::Writer out;
  out.begin_object().member("ok", true).key("code").null().key("offset").null().end_object();
  return out.take();
}

// RFC 4648 base64 with padding.
std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int decoded =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (decoded < 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(decoded) - padding);
  return bytes;
}

std::optional<json::Caps> caps_named(std::string_view name) {
  if (name == "schema") return json::kSchemaCaps;
  if (name == "output") return json::kOutputCaps;
  if (name == "arguments") return json::kArgumentsCaps;
  if (name == "metadata") return json::kMetadataCaps;
  return std::nullopt;
}

}  // namespace

std::string json_check_verdict(std::string_view line) {
  constexpr std::string_view kInvalidLine = "invalid_line";
  const auto request = json::Document::parse(std::string(line), json::kEnvelopeCaps, json::Dialect::Lenient);
  if (!request) return verdict(kInvalidLine, request.error().offset);
  if (!request->root().is(json::Kind::Object)) return verdict(kInvalidLine, 0);
  const auto encoded = json::string_member(request->root(), "text_base64");
  const auto role = json::string_member(request->root(), "as");
  if (!encoded || !role) return verdict(kInvalidLine, 0);
  auto text = decode_base64(*encoded);
  const auto caps = caps_named(*role);
  if (!text || !caps) return verdict(kInvalidLine, 0);
  const auto document = json::Document::parse(std::move(*text), *caps);
  if (!document) return verdict(json::code_name(document.error().code), document.error().offset);
  return accepted();
}

ExitCode json_check_batch(std::istream& in, std::ostream& out) {
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    out << json_check_verdict(line) << '\n';
    if (in.rdbuf()->in_avail() <= 0) out.flush();  // a caller that waits for each answer gets it
  }
  return kExitOk;
}

}  // namespace assay::cli
