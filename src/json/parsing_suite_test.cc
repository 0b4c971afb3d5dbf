// The public JSON parsing suite (nst/JSONTestSuite, test_parsing), every case, strict. Found in the folder
// ASSAY_SUITES_DIR (default: ../shared/suites beside the sources) under json-parsing/.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "json/document.h"
#include "json/error.h"
#include "json/fault.h"
#include "json/kernel_fixture.h"

namespace assay::json {
namespace {

// y_ cases that the contract refuses, with the reason.
const std::map<std::string, ErrorCode> kRefusedByContract = {
    {"y_object_duplicated_key.json", ErrorCode::DuplicateKey},
    {"y_object_duplicated_key_and_value.json", ErrorCode::DuplicateKey},
    {"y_object_escaped_null_in_key.json", ErrorCode::NulCharacter},
    {"y_string_null_escape.json", ErrorCode::NulCharacter},
};

// The contract's verdict on each i_ case that it refuses; the others are accepted.
const std::map<std::string, ErrorCode> kImplementationRefused = {
    {"i_number_huge_exp.json", ErrorCode::NumberTooLong},
    {"i_number_neg_int_huge_exp.json", ErrorCode::ExponentTooLarge},
    {"i_number_pos_double_huge_exp.json", ErrorCode::ExponentTooLarge},
    {"i_number_real_neg_overflow.json", ErrorCode::ExponentTooLarge},
    {"i_number_real_pos_overflow.json", ErrorCode::ExponentTooLarge},
    {"i_number_real_underflow.json", ErrorCode::ExponentTooLarge},
    {"i_object_key_lone_2nd_surrogate.json", ErrorCode::LoneSurrogate},
    {"i_string_1st_surrogate_but_2nd_missing.json", ErrorCode::LoneSurrogate},
    {"i_string_1st_valid_surrogate_2nd_invalid.json", ErrorCode::LoneSurrogate},
    {"i_string_UTF-16LE_with_BOM.json", ErrorCode::UnexpectedCharacter},
    {"i_string_UTF-8_invalid_sequence.json", ErrorCode::InvalidUtf8},
    {"i_string_UTF8_surrogate_U+D800.json", ErrorCode::InvalidUtf8},
    {"i_string_incomplete_surrogate_and_escape_valid.json", ErrorCode::LoneSurrogate},
    {"i_string_incomplete_surrogate_pair.json", ErrorCode::LoneSurrogate},
    {"i_string_incomplete_surrogates_escape_valid.json", ErrorCode::LoneSurrogate},
    {"i_string_invalid_lonely_surrogate.json", ErrorCode::LoneSurrogate},
    {"i_string_invalid_surrogate.json", ErrorCode::LoneSurrogate},
    {"i_string_invalid_utf-8.json", ErrorCode::InvalidUtf8},
    {"i_string_inverted_surrogates_U+1D11E.json", ErrorCode::LoneSurrogate},
    {"i_string_iso_latin_1.json", ErrorCode::InvalidUtf8},
    {"i_string_lone_second_surrogate.json", ErrorCode::LoneSurrogate},
    {"i_string_lone_utf8_continuation_byte.json", ErrorCode::InvalidUtf8},
    {"i_string_not_in_unicode_range.json", ErrorCode::InvalidUtf8},
    {"i_string_overlong_sequence_2_bytes.json", ErrorCode::InvalidUtf8},
    {"i_string_overlong_sequence_6_bytes.json", ErrorCode::InvalidUtf8},
    {"i_string_overlong_sequence_6_bytes_null.json", ErrorCode::InvalidUtf8},
    {"i_string_truncated-utf-8.json", ErrorCode::InvalidUtf8},
    {"i_string_utf16BE_no_BOM.json", ErrorCode::UnexpectedCharacter},
    {"i_string_utf16LE_no_BOM.json", ErrorCode::UnexpectedCharacter},
    {"i_structure_500_nested_arrays.json", ErrorCode::TooDeep},
    {"i_structure_UTF-8_BOM_empty_object.json", ErrorCode::UnexpectedCharacter},
};
constexpr std::size_t kImplementationCases = 35;

// Names in the lists above that the suite no longer has would make them say nothing.
constexpr std::size_t kCasesMin = 300;

std::filesystem::path suite_folder() {
  const char* folder = std::getenv("ASSAY_SUITES_DIR");
  const std::filesystem::path suites =
      folder != nullptr ? std::filesystem::path(folder) : std::filesystem::path(ASSAY_SOURCE_DIR) / "../shared/suites";
  return suites / "json-parsing";
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// With every kernel.
std::string verdict(const std::filesystem::path& file) {
  const std::string text = contents(file);
  const auto fault = first_fault(text, kBodyCaps, Dialect::Strict);
  for (const Kernel& kernel : kernels()) {
    EXPECT_EQ(KernelReading(kernel, text, kBodyCaps, Dialect::Strict).error(), fault) << kernel.name << " " << file;
  }
  return fault ? std::string(code_name(fault->code)) : "accepted";
}

std::string listed(const std::map<std::string, ErrorCode>& refused, const std::string& name) {
  const auto found = refused.find(name);
  return found == refused.end() ? "accepted" : std::string(code_name(found->second));
}

TEST(JsonParsingSuite, EveryCaseGetsTheContractsVerdict) {
  const std::filesystem::path folder = suite_folder();
  if (!std::filesystem::is_directory(folder)) {
    if (std::getenv("CI") != nullptr) FAIL() << "the JSON parsing suite is missing: " << folder;
    GTEST_SKIP() << "THE JSON PARSING SUITE DID NOT RUN: no folder " << folder << " (set ASSAY_SUITES_DIR)";
  }
  std::map<char, std::size_t> counts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".json")) continue;
    ++counts[name[0]];
    if (name[0] == 'y') {
      EXPECT_EQ(verdict(entry.path()), listed(kRefusedByContract, name)) << name;
    } else if (name[0] == 'i') {
      EXPECT_EQ(verdict(entry.path()), listed(kImplementationRefused, name)) << name;
    } else {
      EXPECT_NE(verdict(entry.path()), "accepted") << name;
    }
  }
  EXPECT_GE(counts['y'] + counts['n'] + counts['i'], kCasesMin);
  EXPECT_EQ(counts['i'], kImplementationCases);
  for (const auto* list : {&kRefusedByContract, &kImplementationRefused}) {
    for (const auto& [name, code] : *list) EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  }
}

}  // namespace
}  // namespace assay::json
