#pragma once
// The names that a schema knows for one object, found by hash and compared exactly.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace assay::schema {

struct Node;

class PropertyTable {
 public:
  struct Entry {
    std::string_view key;  // Lifetime: the schema's document
    const Node* child = nullptr;
    bool required = false;
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  PropertyTable() = default;
  // Requires: distinct keys.
  explicit PropertyTable(std::vector<Entry> entries);

  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  [[nodiscard]] const Entry& at(std::uint32_t position) const { return entries_[position]; }

  // The position of the entry with that key, or kNone. No choice of names makes it slow: a probe sees at most
  // kProbesMax entries, and names that no seed spreads that well are searched in order instead.
  [[nodiscard]] std::uint32_t find(std::string_view key) const;

 private:
  static constexpr std::size_t kProbesMax = 8;

  bool spread(std::uint64_t seed);
  [[nodiscard]] std::uint32_t search(std::string_view key) const;

  struct Slot {
    std::uint32_t tag = 0;  // upper half of the hash
    std::uint32_t position = kNone;
  };

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;           // a power of two, at most half full, with kProbesMax more behind the end
  std::vector<std::uint32_t> order_;  // positions sorted by key, where slots_ is empty
  std::uint64_t seed_ = 0;
  std::uint64_t mask_ = 0;
};

}  // namespace assay::schema
