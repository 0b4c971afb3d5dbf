#include "json/fault.h"

#include <gtest/gtest.h>

#include <string>

#include "json/error.h"

namespace assay::json {
namespace {

// The fault as "code@offset"; "none" where there is none.
std::string fault(std::string_view text, const Caps& caps = {}, Dialect dialect = Dialect::Strict) {
  const auto found = first_fault(text, caps, dialect);
  return found ? std::string(code_name(found->code)) + "@" + std::to_string(found->offset) : "none";
}

TEST(JsonFault, FindsNoneInADocument) {
  EXPECT_EQ(fault(R"( {"a":[1,-2.50e+3,true,false,null,[],{}],"\u00e9\ud83d\ude00\n":"é"} )"), "none");
  EXPECT_EQ(fault(R"({"a":1,"a":"\ud800\u0000"})", {}, Dialect::Lenient), "none");
}

TEST(JsonFault, TakesTheFirstOfSeveral) {
  EXPECT_EQ(fault("[\"\xff\",01]"), "invalid_utf8@2");
  EXPECT_EQ(fault("[01,\"\xff\"]"), "invalid_number@2");
  EXPECT_EQ(fault(R"({"a":1,"a":01})"), "duplicate_key@7");
  EXPECT_EQ(fault(R"({"a":1,"a")"), "duplicate_key@7");
  EXPECT_EQ(fault(R"({"a":{"b":1,"b":2},"a":3})"), "duplicate_key@12");
  EXPECT_EQ(fault(R"({"a":1,"a":{"b":1,"b":2}})"), "duplicate_key@7");
  EXPECT_EQ(fault("{\"a\xff\":1,\"a\xff\":2}"), "invalid_utf8@3");
}

TEST(JsonFault, LooksAtAValueBeforeItsCaps) {
  const Caps tight{.depth_max = 1, .values_max = 2, .elements_max = 1};
  EXPECT_EQ(fault("[1]", tight), "none");
  EXPECT_EQ(fault("[1,2]", tight), "too_many_values@3");
  EXPECT_EQ(fault("[1,x]", tight), "unexpected_character@3");
  EXPECT_EQ(fault("[1,tru]", tight), "too_many_values@3");
  EXPECT_EQ(fault("[[2]]", tight), "too_deep@2");
  EXPECT_EQ(fault("[1,2]", {.elements_max = 1}), "too_many_elements@3");
}

TEST(JsonFault, NeedsNoNativeStack) {
  const std::size_t depth = 1'000'000;
  const Caps deep{.depth_max = kUnlimited};
  EXPECT_EQ(fault(std::string(depth, '['), deep), "unexpected_end@1000000");
  EXPECT_EQ(fault(std::string(depth, '[') + std::string(depth, ']'), deep), "none");
}

}  // namespace
}  // namespace assay::json
