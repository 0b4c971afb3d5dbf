#pragma once
// What the encoders share in reading a prompt.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "chat/prompt.h"

namespace assay::providers {

// Between texts that become one.
void append_paragraph(std::string& text, std::string_view paragraph);

// A result as text: the text of a JSON string, the JSON text of anything else, and words where there is none.
[[nodiscard]] std::string result_text(const chat::ToolResultPart& result);

// Finds the results of local calls, wherever in the prompt they stand. Lifetime: the prompt's.
class ResultFinder {
 public:
  explicit ResultFinder(const chat::Prompt& prompt);
  // The first result of the call's id that no earlier call took, since ids may repeat in a long history; null: none.
  const chat::ToolResultPart* take(const chat::ToolCallPart& call);

 private:
  struct Result {
    const chat::ToolResultPart* part;
    bool is_taken = false;
  };
  std::vector<Result> results_;
};
// Keeps the wire legal where history lacks a result.
inline constexpr std::string_view kMissingResult = "Error: the tool call has no result.";

enum class FileKind { Image, Pdf, Text, Other };
// Text: any text/* or JSON whose bytes are UTF-8. Image: a format that every vendor's models read.
[[nodiscard]] FileKind kind_of(const chat::FilePart& file);
// A text file as text, with its name; of another file what it is, since the model cannot see it.
[[nodiscard]] std::string file_text(const chat::FilePart& file);
// `data:` URL of its bytes.
[[nodiscard]] std::string data_url(const chat::FilePart& file);
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace assay::providers
