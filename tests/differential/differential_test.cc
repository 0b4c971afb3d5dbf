// assay's verdicts against those of two validators of others, over generated schemas and values. None of them is the
// judge: where they part, either an entry of known_faults.cc explains it and the naive evaluator of tests/reference
// agrees with assay, or the test fails.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <map>

#include "schema/schema.h"
#include "tests/differential/known_faults.h"
#include "tests/differential/schema_generator.h"
#include "tests/reference/evaluator.h"

namespace assay::differential {
namespace {

namespace fs = std::filesystem;

constexpr int kSchemas = 400;
constexpr std::size_t kInstancesOfASchema = 12;

struct Case {
  std::string schema;
  std::vector<std::string> instances;
};

bool is_a_limit(const schema::Refusal& refusal) {
  using schema::RefusalCode;
  return refusal.code == RefusalCode::TooManyBranches || refusal.code == RefusalCode::BranchesTooDeep ||
         refusal.code == RefusalCode::TooManyNodes || refusal.code == RefusalCode::TooManyPatternProperties;
}

// One case for the example of each known fault, then generated ones.
std::vector<Case> make_cases(int generated) {
  SeededRandom random(20240229);
  std::vector<Case> cases;
  for (const KnownFault& fault : known_faults()) {
    cases.push_back({std::string(fault.schema), {std::string(fault.instance)}});
  }
  const std::size_t count = cases.size() + static_cast<std::size_t>(generated);
  while (cases.size() < count) {
    Case made{nasty_schema(random, 3), {}};
    const auto compiled = schema::Schema::compile(made.schema);
    if (!compiled) {
      // An `enum` may hold one value in two spellings, which Draft-07 does not allow.
      const bool is_repeated_value = compiled.error().pointer.find("enum") != std::string::npos;
      EXPECT_TRUE(is_a_limit(compiled.error()) || is_repeated_value) << made.schema << "\n" << compiled.error().detail;
      continue;
    }
    const auto schema = json::Document::parse(made.schema, json::Caps{});
    made.instances = nasty_instances(random, schema->root(), kInstancesOfASchema);
    if (!made.instances.empty()) cases.push_back(std::move(made));
  }
  return cases;
}

// A folder that goes with the test.
class Scratch {
 public:
  Scratch() : path_((fs::temp_directory_path() / "assay-differential-XXXXXX").string()) {
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
  }
  ~Scratch() { fs::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::string file(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

 private:
  std::string path_;
};

// The folder with ajv, as scripts/test installs it.
fs::path modules() {
  const char* configured = std::getenv("ASSAY_DIFFERENTIAL_DIR");
  return configured != nullptr ? fs::path(configured) : fs::path(ASSAY_SOURCE_DIR) / "build" / "differential";
}

std::string command_of(Peer peer) {
  const std::string folder = ASSAY_SOURCE_DIR "/tests/differential/";
  return peer == Peer::Ajv ? fmt::format("node '{}ajv_judge.mjs' '{}'", folder, modules().string())
                           : fmt::format("/usr/bin/python3 '{}python_judge.py'", folder);
}

// What is missing of a peer; empty when it can judge.
std::string absence_of(Peer peer) {
  if (peer == Peer::Ajv) {
    if (!fs::exists(modules() / "node_modules" / "ajv")) return "ajv is not in " + modules().string();
    return std::system("node --version >/dev/null 2>&1") == 0 ? "" : "there is no node";
  }
  return std::system("/usr/bin/python3 -c 'import jsonschema' 2>/dev/null") == 0 ? ""
                                                                                 : "there is no python3-jsonschema";
}

// One string of letters for each case.
std::vector<std::string> judge(Peer peer, const std::string& input, const std::string& output) {
  const std::string command = fmt::format("{} < '{}' > '{}'", command_of(peer), input, output);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::vector<std::string> verdicts;
  std::ifstream file(output);
  for (std::string line; std::getline(file, line);) verdicts.push_back(line);
  return verdicts;
}

class Comparison {
 public:
  // `letter` is the peer's verdict (ajv_judge.mjs). Returns whether it is assay's.
  bool agrees(Peer peer, const Case& about, const std::string& instance_text, char letter) {
    const auto schema = json::Document::parse(about.schema, json::Caps{});
    const auto instance = json::Document::parse(instance_text, json::Caps{});
    const schema::Outcome outcome = schema::Schema::compile(about.schema)->check(instance->root());
    EXPECT_NE(outcome, schema::Outcome::BudgetExceeded) << about.schema << "\n" << instance_text;
    const char ours = outcome == schema::Outcome::Valid ? 'V' : 'I';
    ++(ours == 'V' ? valid_ : invalid_);
    if (letter == ours) return true;
    ++disagreements_;
    const std::string what = fmt::format("schema {}\ninstance {}\nassay {}, {} {}", about.schema, instance_text, ours,
                                         name_of(peer), letter);
    if (const auto expected = reference::is_valid(schema->root(), instance->root())) {
      EXPECT_EQ(*expected ? 'V' : 'I', ours) << "the naive evaluator sides with the peer:\n" << what;
    }
    for (const KnownFault& fault : known_faults()) {
      if (fault.peer != peer || !fault.concerns(schema->root(), instance->root())) continue;
      ++explained_[&fault];
      return false;
    }
    ADD_FAILURE() << "no known fault explains this:\n" << what;
    return false;
  }

  void conclude(std::size_t schemas) const {
    std::cout << fmt::format("{} schemas, {} verdicts compared ({} valid, {} invalid), {} disagreements\n", schemas,
                             valid_ + invalid_, valid_, invalid_, disagreements_);
    for (const KnownFault& fault : known_faults()) {
      const auto found = explained_.find(&fault);
      const int count = found == explained_.end() ? 0 : found->second;
      std::cout << fmt::format("  {:5} {}: {} ({})\n", count, name_of(fault.peer), fault.fault, fault.clause);
    }
    // Neither verdict may be rare, or most schemas say nothing.
    EXPECT_GT(valid_ * 5, invalid_);
    EXPECT_GT(invalid_ * 5, valid_);
  }

 private:
  int valid_ = 0;
  int invalid_ = 0;
  int disagreements_ = 0;
  std::map<const KnownFault*, int> explained_;
};

TEST(Differential, EveryDisagreementIsAKnownFaultOfThePeer) {
  for (const Peer peer : kPeers) {
    const std::string absence = absence_of(peer);
    if (absence.empty()) continue;
    ASSERT_EQ(std::getenv("CI"), nullptr) << "no verdicts of " << name_of(peer) << ": " << absence;
    GTEST_SKIP() << "ABSENT: " << absence << ". scripts/test installs it";
  }
  const char* wanted = std::getenv("ASSAY_DIFFERENTIAL_SCHEMAS");
  const std::vector<Case> cases = make_cases(wanted == nullptr ? kSchemas : std::atoi(wanted));
  const Scratch scratch;
  const std::string input = scratch.file("cases.jsonl");
  {
    std::ofstream out(input);
    for (const Case& each : cases) {
      out << R"({"schema":)" << each.schema << R"(,"instances":[)";
      for (std::size_t i = 0; i < each.instances.size(); ++i) out << (i == 0 ? "" : ",") << each.instances[i];
      out << "]}\n";
    }
  }
  std::map<Peer, std::future<std::vector<std::string>>> verdicts;
  for (const Peer peer : kPeers) {
    verdicts[peer] = std::async(std::launch::async, judge, peer, input, scratch.file(name_of(peer)));
  }
  Comparison comparison;
  for (const Peer peer : kPeers) {
    const std::vector<std::string> letters = verdicts[peer].get();
    ASSERT_EQ(letters.size(), cases.size()) << name_of(peer);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      for (std::size_t j = 0; j < cases[i].instances.size(); ++j) {
        const char letter = letters[i] == "C" ? 'C' : letters[i].at(j);
        const bool agrees = comparison.agrees(peer, cases[i], cases[i].instances[j], letter);
        if (i >= known_faults().size() || known_faults()[i].peer != peer) continue;
        EXPECT_FALSE(agrees) << name_of(peer) << " no longer errs, remove the entry: " << known_faults()[i].fault;
      }
    }
  }
  comparison.conclude(cases.size());
}

}  // namespace
}  // namespace assay::differential
