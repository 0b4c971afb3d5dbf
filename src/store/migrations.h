#pragma once
// The numbered files of migrations/, embedded by the build in their order. A file that was released never changes.
#include <cstdint>
#include <span>
#include <string_view>

namespace assay::store {

struct Migration {
  std::int64_t version;
  std::string_view name;
  std::string_view sql;
};

// Ascending versions, at least one.
std::span<const Migration> migrations();

}  // namespace assay::store
