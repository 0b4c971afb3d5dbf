#pragma once
// Where the official suite and the contract part: one entry each, checked both ways by official_suite_test.cc.
#include <array>
#include <string_view>

namespace assay::schema {

// A group whose schema must be refused at admission, with that code.
struct RefusedGroup {
  std::string_view file;
  std::string_view group;
  std::string_view code;
};

constexpr std::array kRefusedGroups = {
    RefusedGroup{"const.json", "nul characters in strings", "nul_character"},
    RefusedGroup{"definitions.json", "validate definition against metaschema", "unsupported_keyword"},
    RefusedGroup{"enum.json", "nul characters in strings", "nul_character"},
    RefusedGroup{"format.json", "idn-hostname format", "unsupported_format"},
    RefusedGroup{"format.json", "regex format", "unsupported_format"},
    RefusedGroup{
        "infinite-loop-detection.json",
        "evaluating the same schema location against the same data location twice is not a sign of an infinite loop",
        "unsupported_keyword"},
    RefusedGroup{"items.json", "items and subitems", "unsupported_keyword"},
    RefusedGroup{"optional/cross-draft.json", "refs to future drafts are processed as future drafts",
                 "unsupported_keyword"},
    RefusedGroup{"optional/ecmascript-regex.json", "ECMA 262 regex escapes control codes with \\c and lower letter",
                 "unsupported_pattern"},
    RefusedGroup{"optional/ecmascript-regex.json", "ECMA 262 regex escapes control codes with \\c and upper letter",
                 "unsupported_pattern"},
    RefusedGroup{"optional/ecmascript-regex.json", "pattern with non-ASCII digits", "unsupported_pattern"},
    RefusedGroup{"optional/ecmascript-regex.json", "patternProperties with non-ASCII digits", "unsupported_pattern"},
    RefusedGroup{"optional/ecmascript-regex.json", "patterns always use unicode semantics with pattern",
                 "unsupported_pattern"},
    RefusedGroup{"optional/ecmascript-regex.json", "patterns always use unicode semantics with patternProperties",
                 "unsupported_pattern"},
    RefusedGroup{"optional/format/ecmascript-regex.json", "ECMA 262 character classes and escapes",
                 "unsupported_format"},
    RefusedGroup{"optional/format/ecmascript-regex.json", "ECMA 262 lookbehind is valid, including variable width",
                 "unsupported_format"},
    RefusedGroup{"optional/format/ecmascript-regex.json", "ECMA 262 named groups and backreferences are valid",
                 "unsupported_format"},
    RefusedGroup{"optional/format/ecmascript-regex.json",
                 "Python-specific regular expression syntax is not valid ECMA 262", "unsupported_format"},
    RefusedGroup{"optional/format/ecmascript-regex.json", "\\a is not an ECMA 262 control escape",
                 "unsupported_format"},
    RefusedGroup{"optional/format/ecmascript-regex.json", "global inline flag groups are not valid ECMA 262",
                 "unsupported_format"},
    RefusedGroup{"optional/format/idn-hostname.json", "validation of internationalized host names",
                 "unsupported_format"},
    RefusedGroup{"optional/format/idn-hostname.json", "validation of separators in internationalized host names",
                 "unsupported_format"},
    RefusedGroup{"optional/format/regex.json", "validation of regular expressions", "unsupported_format"},
    RefusedGroup{"optional/format/unknown.json", "unknown format", "unsupported_format"},
    RefusedGroup{"optional/id.json", "id inside an enum is not a real identifier", "unsupported_keyword"},
    RefusedGroup{"optional/id.json", "non-schema object containing a plain-name $id property", "unsupported_keyword"},
    RefusedGroup{"optional/id.json", "non-schema object containing an $id property", "unsupported_keyword"},
    RefusedGroup{"optional/unknownKeyword.json", "$id inside an unknown keyword is not a real identifier",
                 "unsupported_keyword"},
    RefusedGroup{"ref.json", "$id must be resolved against nearest parent, not just immediate parent",
                 "unsupported_keyword"},
    RefusedGroup{"ref.json", "$id with file URI still resolves pointers - *nix", "unsupported_keyword"},
    RefusedGroup{"ref.json", "$id with file URI still resolves pointers - windows", "unsupported_keyword"},
    RefusedGroup{"ref.json", "$ref prevents a sibling $id from changing the base uri", "unsupported_keyword"},
    RefusedGroup{"ref.json", "$ref to boolean schema false", "unsupported_keyword"},
    RefusedGroup{"ref.json", "$ref to boolean schema true", "unsupported_keyword"},
    RefusedGroup{"ref.json", "Location-independent identifier", "unsupported_keyword"},
    RefusedGroup{"ref.json", "Location-independent identifier with base URI change in subschema",
                 "unsupported_keyword"},
    RefusedGroup{"ref.json", "Recursive references between schemas", "unsupported_keyword"},
    RefusedGroup{"ref.json", "Reference an anchor with a non-relative URI", "unsupported_keyword"},
    RefusedGroup{"ref.json", "URN base URI with NSS", "unsupported_keyword"},
    RefusedGroup{"ref.json", "URN base URI with URN and JSON pointer ref", "unsupported_keyword"},
    RefusedGroup{"ref.json", "URN base URI with URN and anchor ref", "unsupported_keyword"},
    RefusedGroup{"ref.json", "URN base URI with q-component", "unsupported_keyword"},
    RefusedGroup{"ref.json", "URN base URI with r-component", "unsupported_keyword"},
    RefusedGroup{"ref.json", "empty tokens in $ref json-pointer", "unsupported_keyword"},
    RefusedGroup{"ref.json", "escaped pointer ref", "unsupported_keyword"},
    RefusedGroup{"ref.json", "naive replacement of $ref with its destination is not correct", "unsupported_keyword"},
    RefusedGroup{"ref.json", "nested refs", "unsupported_keyword"},
    RefusedGroup{"ref.json", "property named $ref, containing an actual $ref", "unsupported_keyword"},
    RefusedGroup{"ref.json", "ref overrides any sibling keywords", "unsupported_keyword"},
    RefusedGroup{"ref.json", "ref to else", "unsupported_keyword"},
    RefusedGroup{"ref.json", "ref to if", "unsupported_keyword"},
    RefusedGroup{"ref.json", "ref to then", "unsupported_keyword"},
    RefusedGroup{"ref.json", "ref with absolute-path-reference", "unsupported_keyword"},
    RefusedGroup{"ref.json", "refs with quote", "unsupported_keyword"},
    RefusedGroup{"ref.json", "refs with relative uris and defs", "unsupported_keyword"},
    RefusedGroup{"ref.json", "relative pointer ref to array", "unsupported_keyword"},
    RefusedGroup{"ref.json", "relative pointer ref to object", "unsupported_keyword"},
    RefusedGroup{"ref.json", "relative refs with absolute uris and defs", "unsupported_keyword"},
    RefusedGroup{"ref.json", "remote ref, containing refs itself", "unsupported_keyword"},
    RefusedGroup{"ref.json", "root pointer ref", "unsupported_keyword"},
    RefusedGroup{"ref.json", "simple URN base URI with $ref via the URN", "unsupported_keyword"},
    RefusedGroup{"ref.json", "simple URN base URI with JSON pointer", "unsupported_keyword"},
    RefusedGroup{"refRemote.json", "$ref to $ref finds location-independent $id", "unsupported_keyword"},
    RefusedGroup{"refRemote.json", "Location-independent identifier in remote ref", "unsupported_keyword"},
    RefusedGroup{"refRemote.json", "base URI change", "unsupported_keyword"},
    RefusedGroup{"refRemote.json", "base URI change - change folder", "unsupported_keyword"},
    RefusedGroup{"refRemote.json", "base URI change - change folder in subschema", "unsupported_keyword"},
    RefusedGroup{"refRemote.json", "fragment within remote ref", "unsupported_keyword"},
    RefusedGroup{"refRemote.json", "ref within remote ref", "unsupported_keyword"},
    RefusedGroup{"refRemote.json", "remote ref", "unsupported_keyword"},
    RefusedGroup{"refRemote.json", "remote ref with ref to definitions", "unsupported_keyword"},
    RefusedGroup{"refRemote.json", "retrieved nested refs resolve relative to their URI not $id",
                 "unsupported_keyword"},
    RefusedGroup{"refRemote.json", "root ref in remote ref", "unsupported_keyword"},
};

// A case whose verdict differs by contract.
struct DifferentCase {
  std::string_view file;
  std::string_view group;
  std::string_view test;
  std::string_view reason;
};

constexpr std::string_view kContent = "contentMediaType and contentEncoding are annotations";
constexpr std::string_view kWhiteSpace = "RE2's \\s is [\\t\\n\\f\\r ] where ECMA 262 has more";
constexpr std::string_view kNul = "the raw boundary refuses U+0000 in an instance";

constexpr std::array kDifferentCases = {
    DifferentCase{"optional/content.json", "validation of binary string-encoding",
                  "an invalid base64 string (% is not a valid character)", kContent},
    DifferentCase{"optional/content.json", "validation of binary-encoded media type documents",
                  "a validly-encoded invalid JSON document", kContent},
    DifferentCase{"optional/content.json", "validation of binary-encoded media type documents",
                  "an invalid base64 string that is valid JSON", kContent},
    DifferentCase{"optional/content.json", "validation of string-encoded content based on media type",
                  "an invalid JSON document", kContent},
    DifferentCase{"optional/ecmascript-regex.json", "ECMA 262 \\S matches everything but whitespace",
                  "EM SPACE does not match (Space_Separator)", kWhiteSpace},
    DifferentCase{"optional/ecmascript-regex.json", "ECMA 262 \\S matches everything but whitespace",
                  "Line tabulation does not match", kWhiteSpace},
    DifferentCase{"optional/ecmascript-regex.json", "ECMA 262 \\S matches everything but whitespace",
                  "latin-1 non-breaking-space does not match", kWhiteSpace},
    DifferentCase{"optional/ecmascript-regex.json", "ECMA 262 \\S matches everything but whitespace",
                  "paragraph separator does not match (line terminator)", kWhiteSpace},
    DifferentCase{"optional/ecmascript-regex.json", "ECMA 262 \\S matches everything but whitespace",
                  "zero-width whitespace does not match", kWhiteSpace},
    DifferentCase{"optional/ecmascript-regex.json", "ECMA 262 \\s matches whitespace",
                  "EM SPACE matches (Space_Separator)", kWhiteSpace},
    DifferentCase{"optional/ecmascript-regex.json", "ECMA 262 \\s matches whitespace", "Line tabulation matches",
                  kWhiteSpace},
    DifferentCase{"optional/ecmascript-regex.json", "ECMA 262 \\s matches whitespace",
                  "latin-1 non-breaking-space matches", kWhiteSpace},
    DifferentCase{"optional/ecmascript-regex.json", "ECMA 262 \\s matches whitespace",
                  "paragraph separator matches (line terminator)", kWhiteSpace},
    DifferentCase{"optional/ecmascript-regex.json", "ECMA 262 \\s matches whitespace", "zero-width whitespace matches",
                  kWhiteSpace},
    DifferentCase{"optional/format/json-pointer.json", "validation of JSON-pointers (JSON String Representation)",
                  "valid JSON-pointer (control characters allowed after JSON unescaping)", kNul},
};

}  // namespace assay::schema
