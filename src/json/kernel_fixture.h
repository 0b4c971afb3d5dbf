#pragma once
// For tests and fuzzers: reading with a chosen kernel, from memory that ends where the text does.
#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "json/document.h"
#include "json/kernel.h"
#include "json/parser.h"

namespace assay::json {

// The document that one kernel read, or why it did not. Stays where it is made, as its values refer to it.
class KernelReading {
 public:
  KernelReading(const Kernel& kernel, std::string_view text, const Caps& caps, Dialect dialect)
      : padded_(text.size() + kPaddingBytes, '\0') {
    const std::vector<char> exact(text.begin(), text.end());
    error_ = parse_tape(tape_, {exact.data(), exact.size()}, padded_.data(), caps, dialect, kernel);
    ASSAY_CHECK(error_ || std::string_view(padded_.data(), text.size()) == text, "the text is copied");
  }
  KernelReading(const KernelReading&) = delete;
  KernelReading& operator=(const KernelReading&) = delete;

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  // Requires: no error.
  [[nodiscard]] Value root() const { return {tape_, tape_.nodes.get()}; }

 private:
  std::vector<char> padded_;
  Tape tape_;
  std::optional<Error> error_;
};

}  // namespace assay::json
