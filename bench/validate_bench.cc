// Parse and validate, validate alone, and compile: assay, and valijson over RapidJSON (valijson_peer.h), on the same
// documents. bench/run gives it to everyone together with the peers that are processes of their own.
//
// validate_bench --write FOLDER   writes each set as FOLDER/NAME/schema.json and documents.jsonl
// validate_bench [--benchmark_...]
//
// Every pass but the first sees documents that it has seen before: these are figures of a repeated pass.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string_view>

#include "bench/json_documents.h"
#include "bench/valijson_peer.h"
#include "json/document.h"
#include "schema/schema.h"

namespace assay::bench {
namespace {

void count(benchmark::State& state, const DocumentSet& set) {
  std::size_t bytes = 0;
  for (const std::string& document : set.documents) bytes += document.size();
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * set.documents.size()));
}

void parse_and_validate(benchmark::State& state, const DocumentSet& set) {
  const auto schema = schema::Schema::compile(set.schema);
  json::Reader reader;
  for (auto _ : state) {
    for (const std::string& text : set.documents) {
      const auto value = reader.read(text, json::kOutputCaps);
      benchmark::DoNotOptimize(value && schema->is_valid(*value));
    }
  }
  count(state, set);
}

void validate_alone(benchmark::State& state, const DocumentSet& set) {
  const auto schema = schema::Schema::compile(set.schema);
  std::vector<json::Document> documents;
  for (const std::string& text : set.documents) {
    if (auto document = json::Document::parse(text, json::Caps{})) documents.push_back(std::move(*document));
  }
  for (auto _ : state) {
    for (const json::Document& document : documents) benchmark::DoNotOptimize(schema->is_valid(document.root()));
  }
  count(state, set);
}

void compile(benchmark::State& state, const DocumentSet& set) {
  for (auto _ : state) benchmark::DoNotOptimize(schema::Schema::compile(set.schema));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

// How a peer runs, without its names.
void parse_and_validate_by_peer(benchmark::State& state, const DocumentSet& set) {
  ValijsonPeer peer(set.schema);
  for (auto _ : state) {
    for (const std::string& text : set.documents) benchmark::DoNotOptimize(peer.parse_and_validate(text));
  }
  count(state, set);
}

void validate_alone_by_peer(benchmark::State& state, const DocumentSet& set) {
  ValijsonPeer peer(set.schema);
  peer.keep(set.documents);
  for (auto _ : state) benchmark::DoNotOptimize(peer.validate_kept());
  count(state, set);
}

void compile_by_peer(benchmark::State& state, const DocumentSet& set) {
  for (auto _ : state) ValijsonPeer peer(set.schema);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

// What assay finds valid: a set is meant to be valid, or to have a fault in its last document.
void say_verdicts(const DocumentSet& set) {
  const auto schema = schema::Schema::compile(set.schema);
  if (!schema) {
    std::cerr << set.name << ": the schema is refused: " << schema.error().detail << '\n';
    std::exit(1);
  }
  json::Reader reader;
  std::size_t valid = 0;
  for (const std::string& text : set.documents) {
    const auto value = reader.read(text, json::kOutputCaps);
    valid += value && schema->is_valid(*value) ? 1 : 0;
  }
  std::cerr << set.name << ": " << valid << " of " << set.documents.size() << " documents are valid\n";
}

// One document a line: the white space between tokens may hold newlines, strings may not.
std::string one_line(std::string text) {
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text + '\n';
}

void write_sets(const std::vector<DocumentSet>& sets, const std::filesystem::path& folder) {
  for (const DocumentSet& set : sets) {
    std::filesystem::create_directories(folder / set.name);
    std::ofstream(folder / set.name / "schema.json") << set.schema;
    std::ofstream documents(folder / set.name / "documents.jsonl");
    for (const std::string& document : set.documents) documents << one_line(document);
  }
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  using namespace assay::bench;
  const std::vector<DocumentSet> sets = document_sets();
  if (argc == 3 && std::string_view(argv[1]) == "--write") {
    for (const DocumentSet& set : sets) say_verdicts(set);
    write_sets(sets, argv[2]);
    return 0;
  }
  for (const DocumentSet& set : sets) {
    const auto add = [&](const char* measure, auto function) {
      benchmark::RegisterBenchmark((set.name + "/" + measure).c_str(),
                                   [&set, function](benchmark::State& state) { function(state, set); });
    };
    add("parse+validate/assay", parse_and_validate);
    add("parse+validate/valijson", parse_and_validate_by_peer);
    add("validate/assay", validate_alone);
    add("validate/valijson", validate_alone_by_peer);
    add("compile/assay", compile);
    add("compile/valijson", compile_by_peer);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
