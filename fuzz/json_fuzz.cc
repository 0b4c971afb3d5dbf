// Any bytes at the raw JSON boundary: every kernel, the fault finder and both dialects must agree where they have to,
// and whatever reads an accepted document must get along with it.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "json/compact.h"
#include "json/decimal.h"
#include "json/document.h"
#include "json/equality.h"
#include "json/error.h"
#include "json/fault.h"
#include "json/kernel_fixture.h"
#include "json/pointer.h"
#include "json/utf8.h"
#include "json/writer.h"

namespace {

using namespace assay::json;

void visit_number(const Value& value) {
  const auto integer = to_int64(value);
  if (const auto decimal = Decimal::parse(value.number())) {
    ASSAY_CHECK(!integer || decimal->is_integer(), "an int64 is an integer");
    ASSAY_CHECK(decimal->is_multiple_of(*decimal), "a number is a multiple of itself");
  }
  (void)to_uint64(value);
  (void)to_double(value);
}

void print(const Value& value, Writer& writer) {
  switch (value.kind()) {
    case Kind::Null:
      writer.null();
      return;
    case Kind::Boolean:
      writer.boolean(value.boolean());
      return;
    case Kind::Number:
      visit_number(value);
      writer.raw(value.number());
      return;
    case Kind::String:
      ASSAY_CHECK(first_invalid_utf8(value.string()) == std::string_view::npos, "strings are UTF-8");
      writer.string(value.string());
      return;
    case Kind::Array:
      writer.begin_array();
      for (const Value element : value.elements()) print(element, writer);
      writer.end_array();
      return;
    case Kind::Object:
      writer.begin_object();
      for (const auto& [key, member] : value.members()) print(member, writer.key(key));
      writer.end_object();
  }
}

std::string printed(const Value& value) {
  Writer writer;
  print(value, writer);
  return writer.take();
}

void check_accepted(const Document& document) {
  const Value root = document.root();
  const auto reread = Document::parse(printed(root), {});
  ASSAY_CHECK(reread.has_value(), "what is printed can be read");
  ASSAY_CHECK(equal(root, reread->root()), "printing keeps a value equal");
  ASSAY_CHECK(hash(root, 1) == hash(reread->root(), 1), "equal values hash alike");
  const auto compacted = Document::parse(compact(root), {});
  ASSAY_CHECK(compacted.has_value() && equal(root, compacted->root()), "compaction keeps a value equal");
  ASSAY_CHECK(resolve(root, "")->same_as(root), "the empty pointer is the root");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Caps& caps : {kOutputCaps, Caps{.depth_max = 3, .values_max = 12, .elements_max = 4}}) {
    for (const Dialect dialect : {Dialect::Lenient, Dialect::Strict}) {
      const auto fault = first_fault(text, caps, dialect);
      std::optional<std::string> values;
      for (const Kernel& kernel : kernels()) {
        const KernelReading reading(kernel, text, caps, dialect);
        ASSAY_CHECK(reading.error() == fault, "every kernel and the fault finder agree");
        if (fault) continue;
        std::string read = printed(reading.root());
        if (!values)
          values = std::move(read);
        else
          ASSAY_CHECK(read == *values, "every kernel reads the same");
      }
    }
  }
  const auto strict = Document::parse(std::string(text), {});
  if (strict) {
    const auto lenient = Document::parse(std::string(text), {}, Dialect::Lenient);
    ASSAY_CHECK(lenient && equal(strict->root(), lenient->root()), "lenient reads whatever strict accepts");
    check_accepted(*strict);
  } else {
    ASSAY_CHECK(strict.error().offset <= size, "the fault lies in the text");
    (void)locate(text, strict.error().offset);
    (void)describe(strict.error());
    (void)line_and_column(text, strict.error().offset);
  }
  return 0;
}
