// What passes the strict boundary passes it again when compacted, and means the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "json/compact.h"
#include "json/document.h"
#include "json/equality.h"
#include "json/limits.h"

using assay::json::Dialect;
using assay::json::Document;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto lenient = Document::parse(text, assay::json::kEnvelopeCaps, Dialect::Lenient);
  const auto strict = Document::parse(text, assay::json::kArgumentsCaps);
  if (!strict) {
    ASSAY_CHECK(strict.error().offset <= size, "an offset lies in the text");
    return 0;
  }
  ASSAY_CHECK(lenient.has_value(), "lenient reads whatever strict accepts");
  const auto again = Document::parse(assay::json::compact(strict->root()), assay::json::kArgumentsCaps);
  ASSAY_CHECK(again.has_value(), "the compact form passes the boundary");
  ASSAY_CHECK(assay::json::equal(strict->root(), again->root()), "and means the same");
  ASSAY_CHECK(assay::json::hash(strict->root(), 1) == assay::json::hash(again->root(), 1), "and hashes alike");
  return 0;
}
