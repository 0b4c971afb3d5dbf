#pragma once
// Properties of code points for IDNA2008 (RFC 5892), each as ascending ranges. Generated: scripts/generate-idna-tables.
#include <span>

namespace assay::schema {

struct CodePointRange {
  char32_t first;
  char32_t last;
};

extern const std::span<const CodePointRange> kIdnaValid;  // PVALID, and CONTEXTJ and CONTEXTO before their rules
extern const std::span<const CodePointRange> kCombiningMarks;
extern const std::span<const CodePointRange> kViramas;
extern const std::span<const CodePointRange> kJoinsLeft;   // joining type L or D
extern const std::span<const CodePointRange> kJoinsRight;  // joining type R or D
extern const std::span<const CodePointRange> kJoinTransparent;
extern const std::span<const CodePointRange> kGreek;
extern const std::span<const CodePointRange> kHebrew;
extern const std::span<const CodePointRange> kKanaOrHan;

}  // namespace assay::schema
