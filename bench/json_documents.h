#pragma once
// Documents to measure with: real sets where they are present, and made ones that stress one thing each.
#include <string>
#include <vector>

namespace assay::bench {

struct DocumentSet {
  std::string name;
  std::string schema;
  std::vector<std::string> documents;
};

// Real sets (a folder per set with schema.json and one document a line in instances.jsonl) from ASSAY_BENCH_DIR, by
// default
// ../shared/data/bench beside the sources; then the made ones, the same in every run and within the caps of an output
// value.
std::vector<DocumentSet> document_sets();

}  // namespace assay::bench
