#include "schema/cache.h"

#include "json/hash.h"

namespace assay::schema {

std::size_t SchemaCache::TextHash::operator()(std::string_view text) const {
  return json::hash_bytes(text, json::process_seed());
}

Result<Schema, Refusal> SchemaCache::compile(std::string_view schema_text) {
  {
    const std::scoped_lock lock(mutex_);
    if (const Schema* known = find(schema_text)) return *known;
  }
  auto compiled = Schema::compile(schema_text);
  if (compiled) {
    const std::scoped_lock lock(mutex_);
    if (const Schema* known = find(schema_text)) return *known;
    insert(*compiled);
  }
  return compiled;
}

const Schema* SchemaCache::find(std::string_view schema_text) {
  const auto found = by_text_.find(schema_text);
  if (found == by_text_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entries_.front();
}

void SchemaCache::insert(const Schema& schema) {
  if (limits_.entries_max == 0 || schema.memory_bytes() > limits_.bytes_max) return;
  entries_.push_front(schema);
  by_text_.emplace(entries_.front().text(), entries_.begin());
  bytes_ += schema.memory_bytes();
  while (entries_.size() > limits_.entries_max || bytes_ > limits_.bytes_max) {
    bytes_ -= entries_.back().memory_bytes();
    by_text_.erase(entries_.back().text());
    entries_.pop_back();
  }
}

std::size_t SchemaCache::size() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}

std::size_t SchemaCache::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

SchemaCache& process_cache() {
  static SchemaCache cache;
  return cache;
}

}  // namespace assay::schema
