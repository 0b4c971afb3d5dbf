#pragma once
// Where a walk stands in a document: steps chained on the stack, spelled as a JSON pointer only when something is
// reported.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::schema {

struct Place {
  static constexpr std::uint32_t kNoIndex = 0xFFFFFFFF;

  // Lifetime: the parent and the key outlive the step.
  const Place* parent = nullptr;
  std::string_view key;
  std::uint32_t index = kNoIndex;

  [[nodiscard]] static Place root() { return {}; }
  [[nodiscard]] Place member(std::string_view name) const { return {this, name, kNoIndex}; }
  [[nodiscard]] Place element(std::size_t position) const { return {this, {}, static_cast<std::uint32_t>(position)}; }
};

// RFC 6901. Longer than `bytes_max`, it is cut at a character and ends in an ellipsis; costs no more than that.
[[nodiscard]] std::string pointer_to(const Place& place, std::size_t bytes_max);

}  // namespace assay::schema
