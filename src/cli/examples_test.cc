// Every documented configuration is one: docs/examples/*.toml, each as `serve --config` reads it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/serve_options.h"

namespace assay::cli {
namespace {

TEST(Examples, AreConfigurations) {
  Surroundings surroundings;
  surroundings.environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "HOME") return "/home/u";
    if (name.ends_with("_API_KEY")) return "k";
    return std::nullopt;
  };
  surroundings.read_file = [](const std::string& path) -> Result<std::string, std::string> {
    std::ifstream file(path, std::ios::binary);
    if (!file) return fail("cannot read " + path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  std::size_t examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/docs/examples")) {
    if (entry.path().extension() != ".toml") continue;
    ++examples;
    Flags flags;
    flags["config"] = entry.path();
    const auto options = load_serve_options(flags, surroundings);
    ASSERT_TRUE(options) << options.error();
    EXPECT_FALSE(options->providers.empty()) << entry.path();
    ASSERT_FALSE(options->models.empty()) << entry.path();
    EXPECT_TRUE(options->models[0].is_default) << entry.path();
  }
  EXPECT_GE(examples, 6U);
}

}  // namespace
}  // namespace assay::cli
