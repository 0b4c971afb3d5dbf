#pragma once
// Compiled schemas by their exact text, least recently used ones dropped first.
#include <cstddef>
#include <list>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "schema/schema.h"

namespace assay::schema {

struct CacheLimits {
  std::size_t entries_max = 256;
  std::size_t bytes_max = 64 * 1024 * 1024;  // of Schema::memory_bytes, which counts patterns at their worst
};

// Safe to share between threads; two that ask for the same new schema at once may both compile it.
class SchemaCache {
 public:
  explicit SchemaCache(CacheLimits limits = {}) : limits_(limits) {}

  // As Schema::compile. Refusals are not kept.
  Result<Schema, Refusal> compile(std::string_view schema_text);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct TextHash {
    std::size_t operator()(std::string_view text) const;
  };
  using Entries = std::list<Schema>;  // most recently used first

  const Schema* find(std::string_view schema_text);
  void insert(const Schema& schema);

  const CacheLimits limits_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::string_view, Entries::iterator, TextHash> by_text_;  // keys: Schema::text of the entries
  std::size_t bytes_ = 0;
};

// The process's own, for schemas that come back: at admission, before each model call, after a takeover.
[[nodiscard]] SchemaCache& process_cache();

}  // namespace assay::schema
