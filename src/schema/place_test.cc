#include "schema/place.h"

#include <gtest/gtest.h>

namespace assay::schema {
namespace {

TEST(Place, SpellsAPointer) {
  const Place root = Place::root();
  EXPECT_EQ(pointer_to(root, 100), "");
  const Place items = root.member("items");
  const Place second = items.element(1);
  const Place odd = second.member("a/b~c");
  EXPECT_EQ(pointer_to(odd, 100), "/items/1/a~1b~0c");
  const Place empty = root.member("");
  EXPECT_EQ(pointer_to(empty, 100), "/");
}

TEST(Place, CutsALongPointerVisibly) {
  const std::string name(200, 'x');
  const Place root = Place::root();
  const Place long_one = root.member(name);
  const Place deeper = long_one.element(7);
  EXPECT_EQ(pointer_to(deeper, 160), "/" + std::string(156, 'x') + "\u2026");
  const Place exact = root.member(std::string_view(name).substr(0, 159));
  EXPECT_EQ(pointer_to(exact, 160).size(), 160U);
  EXPECT_EQ(pointer_to(exact, 160).back(), 'x');
}

}  // namespace
}  // namespace assay::schema
