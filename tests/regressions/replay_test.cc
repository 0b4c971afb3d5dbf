#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define X(target) extern "C" int target(const std::uint8_t* data, std::size_t size);
#include "fuzz_targets.inc"
#undef X

namespace {

struct Target {
  const char* name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

constexpr Target kTargets[] = {
#define X(target) {#target, target},
#include "fuzz_targets.inc"
#undef X
};

std::filesystem::path folder() { return std::filesystem::path(ASSAY_SOURCE_DIR) / "fuzz" / "regressions"; }

TEST(Regressions, AreHandledByTheirFuzzTarget) {
  for (const Target& target : kTargets) {
    std::size_t inputs = 0;
    ASSERT_TRUE(std::filesystem::is_directory(folder() / target.name)) << "no input is kept for " << target.name;
    for (const auto& entry : std::filesystem::directory_iterator(folder() / target.name)) {
      std::cout << target.name << " " << entry.path().filename().string() << std::endl;  // before it may abort
      std::ifstream file(entry.path(), std::ios::binary);
      const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
      EXPECT_EQ(target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
      ++inputs;
    }
    EXPECT_GT(inputs, 0U) << target.name;
  }
}

TEST(Regressions, BelongToATarget) {
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(std::ranges::any_of(kTargets, [&](const Target& target) { return name == target.name; })) << name;
  }
}

}  // namespace
