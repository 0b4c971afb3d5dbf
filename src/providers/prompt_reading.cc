#include "providers/prompt_reading.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <variant>

#include "json/document.h"
#include "json/limits.h"
#include "json/utf8.h"

namespace assay::providers {
namespace {

constexpr std::string_view kParagraph = "\n\n";
// Some servers refuse an empty text; the model should know that nothing came back.
constexpr std::string_view kEmptyResult = "(empty result)";
constexpr std::array<std::string_view, 4> kImageTypes = {"image/gif", "image/jpeg", "image/png", "image/webp"};

}  // namespace

void append_paragraph(std::string& text, std::string_view paragraph) {
  if (paragraph.empty()) return;
  if (!text.empty()) text += kParagraph;
  text += paragraph;
}

std::string result_text(const chat::ToolResultPart& result) {
  const auto document = json::Document::parse(result.result, json::kEnvelopeCaps, json::Dialect::Lenient);
  std::string text = result.result;
  if (document && document->root().is(json::Kind::String)) text = document->root().string();
  return text.empty() ? std::string(kEmptyResult) : text;
}

ResultFinder::ResultFinder(const chat::Prompt& prompt) {
  for (const chat::PromptRow& row : prompt.rows) {
    for (const chat::PromptPart& part : row.content) {
      const auto* result = std::get_if<chat::ToolResultPart>(&part);
      if (result != nullptr && !result->provider_executed) results_.push_back(Result{.part = result});
    }
  }
}

const chat::ToolResultPart* ResultFinder::take(const chat::ToolCallPart& call) {
  const auto found = std::find_if(results_.begin(), results_.end(), [&](const Result& result) {
    return !result.is_taken && result.part->call_id == call.id;
  });
  if (found == results_.end()) return nullptr;
  found->is_taken = true;
  return found->part;
}

FileKind kind_of(const chat::FilePart& file) {
  if (std::find(kImageTypes.begin(), kImageTypes.end(), file.media_type) != kImageTypes.end()) return FileKind::Image;
  if (file.media_type == "application/pdf") return FileKind::Pdf;
  const bool is_text = file.media_type.starts_with("text/") || file.media_type == "application/json";
  return is_text && json::first_invalid_utf8(file.bytes) == std::string_view::npos ? FileKind::Text : FileKind::Other;
}

std::string file_text(const chat::FilePart& file) {
  const std::string name = file.name.empty() ? "a file" : file.name;
  if (kind_of(file) == FileKind::Text) return name + ":\n" + file.bytes;
  return "(" + name + ", of type " + file.media_type + ", cannot be shown here)";
}

std::string data_url(const chat::FilePart& file) { return "data:" + file.media_type + ";base64," + base64(file.bytes); }

std::string base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t taken = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < taken ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t digit = 0; digit < 4; ++digit) {
      text += digit <= taken ? kAlphabet[bits >> (18 - 6 * digit) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace assay::providers
