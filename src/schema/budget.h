#pragma once
// The work of one validation, counted in units (limits.h: kWorkUnitsMax).
#include <cstdint>

namespace assay::schema {

class Budget {
 public:
  explicit Budget(std::uint64_t units) : units_(units), left_(units) {}

  // Returns false once the work is more than there is, and from then on.
  bool spend(std::uint64_t units) {
    if (units > left_) [[unlikely]] {
      left_ = 0;
      exceeded_ = true;
      return false;
    }
    left_ -= units;
    return true;
  }
  [[nodiscard]] bool exceeded() const { return exceeded_; }
  [[nodiscard]] std::uint64_t spent() const { return units_ - left_; }

 private:
  std::uint64_t units_;
  std::uint64_t left_;
  bool exceeded_ = false;
};

}  // namespace assay::schema
