// Properties of the parser over seeded random documents and their mutations.
#include "json/parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "json/compact.h"
#include "json/equality.h"
#include "json/error.h"
#include "json/fault.h"
#include "json/kernel_fixture.h"
#include "json/utf8.h"
#include "json/writer.h"

namespace assay::json {
namespace {

class RandomJson {
 public:
  explicit RandomJson(std::uint64_t seed) : random_(seed) {}

  std::string document() {
    text_.clear();
    value(0);
    return text_;
  }

  // Some bytes deleted, inserted, replaced, doubled or cut.
  std::string mutated(std::string text) {
    for (std::uint64_t i = 1 + random_.below(3); i > 0 && !text.empty(); --i) {
      const std::size_t at = random_.below(text.size());
      switch (random_.below(6)) {
        case 0:
          text.erase(at, 1 + random_.below(4));
          break;
        case 1:
          text.insert(at, std::string(fragment()));
          break;
        case 2:
          text[at] = static_cast<char>(random_.next());
          break;
        case 3:
          text.insert(at, text.substr(at, random_.below(40)));
          break;
        case 4:
          text.resize(at);
          break;
        default:
          text[at] = fragment()[0];
      }
    }
    return text;
  }

  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }

 private:
  std::string_view fragment() {
    static constexpr std::string_view kFragments[] = {
        "\"",      "\\",      "{",        "}",    "[",    "]",      ",",     ":",       "0",
        "-",       "1e9",     ".5",       "true", "nul",  " ",      "\n",    "\\u0000", "\\ud800",
        "\\udc00", "\\u00e9", "\xc3\xa9", "\xff", "\xe2", "\"a\":", "\"\":", "\x1f"};
    return kFragments[random_.below(std::size(kFragments))];
  }

  void space() {
    while (random_.below(8) == 0) text_ += " \n\t\r"[random_.below(4)];
  }

  void string() {
    text_ += '"';
    for (std::uint64_t left = random_.below(random_.below(4) == 0 ? 90 : 12); left > 0; --left) {
      switch (random_.below(12)) {
        case 0: {
          static constexpr std::string_view kEscapes[] = {"\\n",     "\\\"",    "\\\\",           "\\/",
                                                          "\\u0041", "\\u20ac", "\\ud83d\\ude00", "\\u001f"};
          text_ += kEscapes[random_.below(std::size(kEscapes))];
          break;
        }
        case 1: {
          char bytes[4];
          auto scalar = static_cast<char32_t>(0x80 + random_.below(0x10FF80));
          if (scalar >= 0xD800 && scalar < 0xE000) scalar = kReplacementCharacter;
          text_.append(bytes, write_utf8(scalar, bytes));
          break;
        }
        default:
          text_ += static_cast<char>('a' + random_.below(26));
      }
    }
    text_ += '"';
  }

  void number() {
    if (random_.below(3) == 0) text_ += '-';
    text_ += std::to_string(random_.next() >> random_.below(64));
    if (random_.below(3) == 0) text_ += "." + std::to_string(random_.below(1000));
    if (random_.below(5) == 0) text_ += "e-" + std::to_string(random_.below(1024));
  }

  void value(int depth) {
    space();
    switch (random_.below(depth > 5 ? 5 : 8)) {
      case 0:
        text_ += "true";
        break;
      case 1:
        text_ += random_.below(2) == 0 ? "null" : "false";
        break;
      case 2:
        number();
        break;
      case 3:
      case 4:
        string();
        break;
      case 5:
        container('[', ']', depth);
        break;
      default:
        container('{', '}', depth);
    }
    space();
  }

  void container(char open, char close, int depth) {
    text_ += open;
    const std::uint64_t count = random_.below(random_.below(30) == 0 ? 50 : 5);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i > 0) text_ += ',';
      if (open == '{') {
        space();
        string();
        // Keys of one object differ by their number.
        text_.insert(text_.size() - 1, std::to_string(i));
        space();
        text_ += ':';
      }
      value(depth + 1);
    }
    if (count == 0) space();
    text_ += close;
  }

  SeededRandom random_;
  std::string text_;
};

// Enough of a text to see what failed.
std::string shown(const std::string& text) { return text.substr(0, 400); }

void print(const Value& value, Writer& writer) {
  switch (value.kind()) {
    case Kind::Null:
      writer.null();
      return;
    case Kind::Boolean:
      writer.boolean(value.boolean());
      return;
    case Kind::Number:
      writer.raw(value.number());
      return;
    case Kind::String:
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

TEST(JsonParser, ReadsBackWhatItPrints) {
  RandomJson source(11);
  for (int round = 0; round < 3000; ++round) {
    const std::string text = source.document();
    const auto document = Document::parse(text, {});
    ASSERT_TRUE(document) << describe(document.error()) << "\n" << shown(text);
    const auto reprinted = Document::parse(printed(document->root()), {});
    ASSERT_TRUE(reprinted) << shown(text);
    ASSERT_TRUE(equal(document->root(), reprinted->root())) << shown(text);
    ASSERT_EQ(hash(document->root(), 5), hash(reprinted->root(), 5)) << shown(text);
    const auto compacted = Document::parse(compact(document->root()), {});
    ASSERT_TRUE(compacted) << shown(text);
    ASSERT_TRUE(equal(document->root(), compacted->root())) << shown(text);
    ASSERT_EQ(compact(compacted->text()), compacted->text());
  }
}

constexpr Caps kTightCaps{.depth_max = 5, .values_max = 60, .elements_max = 20};

TEST(JsonParser, ReadsTheSameWithEveryKernelAndAgreesWithTheFaultFinder) {
  RandomJson source(12);
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = source.mutated(source.document());
    const Caps& caps = round % 2 == 0 ? kTightCaps : Caps{};
    for (const Dialect dialect : {Dialect::Strict, Dialect::Lenient}) {
      const auto fault = first_fault(text, caps, dialect);
      std::optional<std::string> values;
      for (const Kernel& kernel : kernels()) {
        const KernelReading reading(kernel, text, caps, dialect);
        ASSERT_EQ(reading.error(), fault) << kernel.name << "\n" << shown(text);
        if (fault) continue;
        const std::string read = printed(reading.root());
        if (!values) values = read;
        ASSERT_EQ(read, *values) << kernel.name << "\n" << shown(text);
        ++accepted;
      }
    }
  }
  EXPECT_GT(accepted, 1000);
}

// Longer than the parser looks ahead: each place of a long text is once where one window ends and the next begins.
TEST(JsonParser, ReadsOverTheEndsOfWindows) {
  const std::string piece = R"({"key":["a\n\\b",-1.5e3,true],"other":{"x":null,"y":"\ud83d\ude00"}})";
  for (std::size_t shift = 0; shift < piece.size() + 2; ++shift) {
    std::string text = "[" + std::string(shift, ' ');
    while (text.size() < 13'000) text += piece + ',';
    text += "0]";
    for (const Kernel& kernel : kernels()) {
      const KernelReading reading(kernel, text, {}, Dialect::Strict);
      ASSERT_FALSE(reading.error()) << kernel.name << " " << shift;
      ASSERT_EQ(printed(reading.root()), compact(printed(Document::parse(text, {})->root()))) << kernel.name;
      const Value first = *reading.root().elements().begin();
      for (const Value element : reading.root().elements()) {
        if (element.is(Kind::Number)) continue;
        ASSERT_TRUE(equal(element, first)) << kernel.name << " " << shift;
      }
    }
  }
}

TEST(JsonParser, ReadsTokensOfAnyLength) {
  for (const std::size_t bytes : {4000U, 4095U, 4096U, 4097U, 9000U, 70'000U}) {
    const std::string plain(bytes, 'x');
    const std::string spaces(bytes, ' ');
    for (const std::string& text : {"[\"" + plain + "\",\"" + plain + "\\n" + plain + "\"]",
                                    "{\"" + plain + "\"" + spaces + ":" + spaces + "1" + spaces + "}",
                                    spaces + "0" + spaces, "[" + std::string(bytes, '1') + "]"}) {
      for (const Kernel& kernel : kernels()) {
        const KernelReading reading(kernel, text, {}, Dialect::Lenient);
        ASSERT_FALSE(reading.error()) << kernel.name << " " << bytes;
        ASSERT_EQ(printed(reading.root()), compact(text)) << kernel.name << " " << bytes;
      }
    }
  }
}

TEST(JsonParser, FindsDuplicatesBelowAnyNumberOfContainers) {
  for (std::size_t depth = 0; depth < 40; ++depth) {
    for (const bool repeats : {false, true}) {
      std::string text;
      for (std::size_t i = 0; i < depth; ++i) text += R"({"a":)";
      text += "1";
      // The outermost object's first key came before all that is nested in it.
      for (std::size_t i = 0; i < depth; ++i) text += i + 1 == depth && repeats ? R"(,"a":2})" : R"(,"b":2})";
      const auto document = Document::parse(text, {});
      ASSERT_EQ(document.has_value(), !repeats || depth == 0) << depth;
      if (!document) {
        ASSERT_EQ(document.error(), (Error{ErrorCode::DuplicateKey, text.rfind("\"a")}));
      }
    }
  }
}

TEST(JsonParser, AllowsAnExactEndOnly) {
  for (const Kernel& kernel : kernels()) {
    for (const std::string_view text :
         {std::string_view("1\0", 2), std::string_view("true\0", 5), std::string_view("\"\"\0", 3),
          std::string_view("[]\0", 3), std::string_view("1 \0", 3)}) {
      const KernelReading reading(kernel, text, {}, Dialect::Strict);
      ASSERT_EQ(reading.error(), (Error{ErrorCode::TrailingData, text.size() - 1})) << kernel.name;
    }
  }
}

TEST(JsonParser, LenientAcceptsWhatStrictAccepts) {
  RandomJson source(13);
  for (int round = 0; round < 10'000; ++round) {
    const std::string text = source.mutated(source.document());
    const auto strict = Document::parse(text, {});
    const auto lenient = Document::parse(text, {}, Dialect::Lenient);
    if (!strict) continue;
    ASSERT_TRUE(lenient) << shown(text);
    ASSERT_EQ(printed(strict->root()), printed(lenient->root())) << shown(text);
  }
}

// Cutting the text right behind the fault, or anything that follows it, cannot change which fault comes first.
TEST(JsonParser, ReportsTheFirstFault) {
  RandomJson source(14);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = source.mutated(source.document());
    const auto document = Document::parse(text, kTightCaps);
    if (document) continue;
    ++refused;
    const Error error = document.error();
    ASSERT_LE(error.offset, text.size());
    // Nothing before the fault is at fault: with the rest cut off, only the end can be.
    const auto prefix = Document::parse(text.substr(0, error.offset), kTightCaps);
    if (!prefix) {
      const ErrorCode code = prefix.error().code;
      ASSERT_TRUE(code == ErrorCode::UnexpectedEnd || code == ErrorCode::Empty) << code_name(code) << "\n"
                                                                                << shown(text);
    }
    // Later faults do not hide it.
    const auto longer = Document::parse(text + "\xff\"{\"a\":1,\"a\":2}", kTightCaps);
    if (error.code == ErrorCode::UnexpectedEnd || error.offset == text.size()) continue;
    ASSERT_FALSE(longer) << shown(text);
    if (error.code != ErrorCode::InvalidUtf8) {
      ASSERT_EQ(longer.error(), error) << shown(text);
    }
  }
  EXPECT_GT(refused, 5000);
}

std::string object_of(std::size_t keys, std::size_t duplicate_of, std::string_view rest) {
  std::string text = "{";
  for (std::size_t i = 0; i < keys; ++i)
    text += "\"a rather long key " + std::to_string(i) + "\":" + std::to_string(i) + ",";
  text += "\"a rather long key " + std::to_string(duplicate_of) + "\":";
  return text + std::string(rest);
}

TEST(JsonParser, RefusesDuplicatesAmongFewAndManyKeys) {
  for (const std::size_t keys : {1U, 2U, 31U, 32U, 33U, 34U, 100U, 5000U}) {
    for (const std::size_t duplicate : {std::size_t{0}, keys / 2, keys - 1}) {
      const std::string text = object_of(keys, duplicate, "0}");
      const auto document = Document::parse(text, {});
      ASSERT_FALSE(document) << keys;
      EXPECT_EQ(document.error(), (Error{ErrorCode::DuplicateKey, text.rfind("\"a ")})) << keys;
      EXPECT_TRUE(Document::parse(text, {}, Dialect::Lenient));
    }
    EXPECT_TRUE(Document::parse(object_of(keys, keys, "0}"), {})) << keys;
  }
}

TEST(JsonParser, PrefersAnEarlierDuplicateToALaterFault) {
  for (const std::string_view rest :
       {"x", "[{\"b\":[1,", "\"\xff\"}", "\"\\ud800\"}", "[[[[[[1]]]]]]}", "{\"c\":1,\"c\":2}}", "0,"}) {
    for (const std::size_t keys : {3U, 40U}) {
      const std::string text = object_of(keys, 1, rest);
      const auto document = Document::parse(text, {.depth_max = 4});
      ASSERT_FALSE(document);
      EXPECT_EQ(document.error(), (Error{ErrorCode::DuplicateKey, text.rfind("\"a ")})) << keys << rest;
    }
  }
}

TEST(JsonParser, PrefersAnEarlierInvalidByteToALaterFault) {
  for (const std::string_view rest : {"x", "01]", "\"\\ud800\"]", "{\"c\":1,\"c\":2}]"}) {
    const std::string text = "[\"\xc3(\"," + std::string(rest);
    const auto document = Document::parse(text, {});
    ASSERT_FALSE(document);
    EXPECT_EQ(document.error(), (Error{ErrorCode::InvalidUtf8, 2})) << rest;
  }
}

TEST(JsonParser, ComparesKeysOfEqualEndsAndLength) {
  EXPECT_TRUE(Document::parse(R"({"prefix--1--postfix":1,"prefix--2--postfix":2})", {}));
  EXPECT_FALSE(Document::parse(R"({"prefix--1--postfix":1,"prefix--1--postfix":2})", {}));
  EXPECT_TRUE(Document::parse(R"({"":1,"a":2,"aa":3,"aaa":4,"aaaaaaaa":5,"aaaaaaaaa":6})", {}));
  EXPECT_FALSE(Document::parse(R"({"":1,"a":2,"":3})", {}));
}

TEST(JsonLenient, ReadsWhatOthersSend) {
  const auto document = Document::parse(
      R"({"a":1,"s":"x\ud800y\u0000z\udc00","a":2,"p":"\ud83d\ud83d\ude00","q":"\ud800\n"})", {}, Dialect::Lenient);
  ASSERT_TRUE(document);
  const Value root = document->root();
  EXPECT_EQ(root.size(), 5U);
  EXPECT_EQ(root.find("a")->number(), "2");
  EXPECT_EQ(root.find("s")->string(), "x\uFFFDy\uFFFDz\uFFFD");
  EXPECT_EQ(root.find("p")->string(), "\uFFFD\U0001F600");
  EXPECT_EQ(root.find("q")->string(), "\uFFFD\n");
  for (const char* text : {"\"\\ud800\\u12\"", "\"\\ud800\\", "\"\\ud800", "\"\xff\"", "[1,]", "\"\\ud800\\x\""}) {
    EXPECT_FALSE(Document::parse(text, {}, Dialect::Lenient)) << shown(text);
  }
}

// AddressSanitizer watches the ends of the source.
TEST(JsonReader, ReadsNothingBehindTheSource) {
  Reader reader;
  for (std::size_t bytes = 0; bytes < 300; ++bytes) {
    for (const char last : {'"', '1', ' ', '\\'}) {
      std::vector<char> source(bytes, 'x');
      if (bytes > 1) {
        source[0] = '"';
        source[bytes - 1] = last;
      }
      const auto value = reader.read({source.data(), source.size()}, {});
      ASSERT_EQ(value.has_value(), bytes > 1 && last == '"') << bytes << last;
    }
  }
}

TEST(JsonReader, ReadsOneDocumentAfterAnother) {
  Reader reader;
  RandomJson source(15);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = source.mutated(source.document());
    const auto value = reader.read(text, {});
    const auto document = Document::parse(text, {});
    ASSERT_EQ(value.has_value(), document.has_value()) << shown(text);
    if (!value) {
      ASSERT_EQ(value.error(), document.error());
    } else {
      ASSERT_EQ(printed(*value), printed(document->root()));
    }
  }
  EXPECT_EQ(reader.read("123", {.bytes_max = 2}).error().code, ErrorCode::TooLong);
}

}  // namespace
}  // namespace assay::json
