// The strict parser against simdjson's DOM parse on the same documents; simdjson enforces less (duplicate keys, U+0000
// and number limits pass), and gets its input padded in advance, where Reader copies it.
// Run with --benchmark_enable_random_interleaving=true --benchmark_repetitions=9
// --benchmark_report_aggregates_only=true.
#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "bench/json_documents.h"
#include "json/document.h"
#include "json/kernel.h"

namespace assay::bench {
namespace {

std::size_t total_bytes(const DocumentSet& set) {
  std::size_t bytes = 0;
  for (const std::string& document : set.documents) bytes += document.size();
  return bytes;
}

void count_bytes(benchmark::State& state, const DocumentSet& set) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * total_bytes(set)));
}

void parse_with_reader(benchmark::State& state, const DocumentSet& set) {
  json::Reader reader;
  for (auto _ : state) {
    for (const std::string& text : set.documents) {
      const auto value = reader.read(text, {});
      if (!value) {
        state.SkipWithError("refused");
        return;
      }
      benchmark::DoNotOptimize(value->kind());
    }
  }
  count_bytes(state, set);
}

void parse_as_document(benchmark::State& state, const DocumentSet& set) {
  for (auto _ : state) {
    for (const std::string& text : set.documents) {
      const auto document = json::Document::parse(text, {});
      benchmark::DoNotOptimize(document->root().kind());
    }
  }
  count_bytes(state, set);
}

void parse_with_simdjson(benchmark::State& state, const DocumentSet& set) {
  std::vector<simdjson::padded_string> padded;
  for (const std::string& text : set.documents) padded.emplace_back(text);
  simdjson::dom::parser parser;
  for (auto _ : state) {
    for (const simdjson::padded_string& text : padded) {
      simdjson::dom::element element;
      if (parser.parse(text).get(element) != simdjson::SUCCESS) {
        state.SkipWithError("refused");
        return;
      }
      benchmark::DoNotOptimize(element.type());
    }
  }
  count_bytes(state, set);
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const auto sets = assay::bench::document_sets();
  std::cerr << "simdjson " SIMDJSON_STRINGIFY(SIMDJSON_VERSION) " on " << simdjson::get_active_implementation()->name()
            << "; reader on " << assay::json::kernels().front().name << '\n';
  for (const auto& set : sets) {
    const auto add = [&](const char* name, auto function) {
      benchmark::RegisterBenchmark((set.name + "/" + name).c_str(),
                                   [&set, function](benchmark::State& state) { function(state, set); });
    };
    add("simdjson", assay::bench::parse_with_simdjson);
    add("reader", assay::bench::parse_with_reader);
    add("document", assay::bench::parse_as_document);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
