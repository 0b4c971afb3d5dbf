#include "providers/prompt_reading.h"

#include <gtest/gtest.h>

namespace assay::providers {
namespace {

TEST(Base64, PadsToFourDigits) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64(std::string_view("\0\xff\xfe\xfb", 4)), "AP/++w==");
}

TEST(Files, AreSortedByWhatModelsRead) {
  EXPECT_EQ(kind_of({"image/png", "a.png", "x"}), FileKind::Image);
  EXPECT_EQ(kind_of({"image/tiff", "a.tiff", "x"}), FileKind::Other);
  EXPECT_EQ(kind_of({"application/pdf", "a.pdf", "x"}), FileKind::Pdf);
  EXPECT_EQ(kind_of({"text/csv", "", "a,b"}), FileKind::Text);
  EXPECT_EQ(kind_of({"application/json", "", "{}"}), FileKind::Text);
  EXPECT_EQ(kind_of({"text/plain", "", "\xff"}), FileKind::Other) << "no UTF-8";
}

TEST(Files, AreNamedInText) {
  EXPECT_EQ(file_text({"text/plain", "a.txt", "hello"}), "a.txt:\nhello");
  EXPECT_EQ(file_text({"audio/ogg", "", "x"}), "(a file, of type audio/ogg, cannot be shown here)");
  EXPECT_EQ(data_url({"image/png", "", "foo"}), "data:image/png;base64,Zm9v");
}

}  // namespace
}  // namespace assay::providers
