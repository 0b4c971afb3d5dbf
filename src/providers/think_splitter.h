#pragma once
// Some servers leave a model's reasoning in the text, as `<think>...</think>` before the answer. This takes it apart
// while the text streams; tags may be cut anywhere. Only a tag at the very beginning counts, so that an answer about
// such tags stays whole.
#include <string>
#include <string_view>

namespace assay::providers {

class ThinkSplitter {
 public:
  struct Split {
    std::string reasoning;
    std::string text;
  };

  // What is certain so far; at most a tag's length and leading white space wait.
  [[nodiscard]] Split feed(std::string_view text);
  // No tag is looked for any more. Returns what waited.
  [[nodiscard]] Split finish();

 private:
  enum class State { BeforeTag, Reasoning, BeforeText, Text };

  State state_ = State::BeforeTag;
  std::string waiting_;
};

}  // namespace assay::providers
