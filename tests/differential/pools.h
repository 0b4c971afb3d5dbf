#pragma once
// What generated schemas and values are made of, as JSON text. Schemas and values share it, so that they meet.
#include <array>
#include <string>
#include <string_view>

#include "base/random.h"

namespace assay::differential {

inline constexpr auto kNumbers = std::to_array<std::string_view>({
    "0",
    "-0",
    "0.0",
    "-0.0e5",
    "1",
    "1.0",
    "10e-1",
    "-1",
    "2",
    "3",
    "0.1",
    "0.3",
    "0.30000000000000004",
    "4.35",
    "1.5",
    "15e-1",
    "-1.5",
    "100",
    "1e2",
    "12e1",
    "1e20",
    "1e21",
    "2e21",
    // Not doubles, or barely.
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "18446744073709551616",
    "18446744073709551617",
    "0.1000000000000000055511151231257827021181583404541015625",
    "0.10000000000000000000000001",
    "123456789012345678901234567890",
    "1e308",
    "1.7976931348623157e308",
    "1e309",
    "-1e309",
    "1e1024",
    "-1e1024",
    "5e-324",
    "1e-400",
    "1e-1024",
    "-1e-1024",
    "1.00000000000000000000000000000000000001",
});

inline constexpr auto kStrings = std::to_array<std::string_view>({
    R"("")",
    R"("a")",
    R"("\u0061")",
    R"("b")",
    R"("ab")",
    R"("abc")",
    R"("12")",
    R"("1")",
    R"("a.b")",
    R"("a b")",
    R"("é")",
    R"("e\u0301")",
    R"("😀")",
    R"("\ud83d\ude00")",
    R"("a😀b")",
    R"("😀😎")",
    R"("日本")",
    R"("foo")",
    R"("a-b_c")",
    // Where regular expressions and languages part.
    R"("b\n")",
    R"("a\nb")",
    R"("a\rb")",
    R"("a\u2028b")",
    R"("\u00a0")",
    R"("٣")",
    R"("\ufeff")",
    R"("\u0001")",
    R"("toString")",
    R"("__proto__")",
    R"("constructor")",
});

// Names of members. The last ones mean something to JavaScript.
inline constexpr auto kKeys = std::to_array<std::string_view>({
    R"("a")",
    R"("b")",
    R"("ab")",
    R"("")",
    R"("é")",
    R"("😀")",
    R"("1")",
    R"("a/b~c")",
    R"("foo")",
    R"("b\n")",
    R"("toString")",
    R"("__proto__")",
    R"("constructor")",
    R"("length")",
});

// Any value, nested at most `depth` deep.
[[nodiscard]] std::string value(SeededRandom& random, int depth);

}  // namespace assay::differential
