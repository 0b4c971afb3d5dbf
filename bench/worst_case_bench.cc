// The most that an accepted schema can ask of validating an accepted value: CPU time and peak allocation of each case,
// and how far real documents stay away from the work budget. Every case compiles afresh, so that automata start cold.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "json/document.h"
#include "schema/limits.h"
#include "schema/schema.h"

namespace {

std::size_t allocated_bytes = 0;
std::size_t peak_bytes = 0;

void* counted(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  allocated_bytes += malloc_usable_size(memory);
  peak_bytes = std::max(peak_bytes, allocated_bytes);
  return memory;
}

void release(void* memory) {
  if (memory != nullptr) allocated_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }

namespace assay::bench {
namespace {

constexpr double kMillisecondsAim = 5;
constexpr double kMebibytesAim = 8;

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

struct Cost {
  double ms = 0;
  double mebibytes = 0;
};

template <class Action>
Cost cost_of(Action action) {
  const std::size_t before = allocated_bytes;
  peak_bytes = before;
  const double start = cpu_ms();
  action();
  return {cpu_ms() - start, static_cast<double>(peak_bytes - before) / (1 << 20)};
}

// The median of some runs.
Cost median(std::vector<Cost> costs) {
  std::ranges::sort(costs, {}, &Cost::ms);
  return costs[costs.size() / 2];
}

struct Case {
  std::string name;
  std::string schema;
  std::string instance;
};

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

// "[e,e,...]" nested twice, as many elements as the output caps allow, each made by `element(i)`.
std::string wide(std::size_t count, const std::function<std::string(std::size_t)>& element) {
  constexpr std::size_t kRow = 255;
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kRow == 0) text += i == 0 ? "[" : "],[";
    if (i % kRow != 0) text += ',';
    text += element(i);
  }
  return text + "]]";
}

std::string object_of(std::size_t count, const std::function<std::string(std::size_t)>& member) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + member(i);
  return text + "}";
}

// The schema on the root and in seven branches of it: as often as one value can be judged.
std::string eightfold(const std::string& schema) {
  std::string all = R"({"allOf":[)";
  for (int i = 0; i < 8; ++i) all += (i == 0 ? "" : ",") + schema;
  return all + "]}";
}

std::string items_of_items(const std::string& schema) { return R"({"items":{"items":)" + schema + "}}"; }

// As much of a string (in JSON, without escapes) as the work budget allows.
std::string affordable(const std::string& schema_text, const std::string& text) {
  const auto schema = schema::Schema::compile(schema_text);
  if (!schema) return text;
  const auto cut = [&](std::size_t bytes) {
    while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
    return bytes >= text.size() ? text : text.substr(0, bytes) + '"';
  };
  std::size_t enough = 2;
  std::size_t too_much = text.size() + 1;
  while (enough + 1 < too_much) {
    const std::size_t bytes = (enough + too_much) / 2;
    const auto document = json::Document::parse(cut(bytes), json::kOutputCaps);
    const bool is_exceeded = schema->check(document->root()) == schema::Outcome::BudgetExceeded;
    (is_exceeded ? too_much : enough) = bytes;
  }
  return cut(enough);
}

void add_number_cases(std::vector<Case>& cases) {
  const std::string divisor = repeated("7", 110) + "3";
  const std::string bounds =
      fmt::format(R"({{"minimum":-1e1024,"maximum":1e1024,"exclusiveMinimum":-{0}e900,"exclusiveMaximum":{0}e900}})",
                  repeated("9", 110));
  cases.push_back({"numbers/multipleOf of 111 digits, 128 digits",
                   items_of_items(eightfold(R"({"multipleOf":)" + divisor + "}")),
                   wide(500, [](std::size_t) { return repeated("9", 128); })});
  cases.push_back({"numbers/multipleOf of 111 digits, 1e1024",
                   items_of_items(eightfold(R"({"multipleOf":)" + divisor + "}")),
                   wide(4000, [](std::size_t i) { return fmt::format("{}e1024", i); })});
  cases.push_back(
      {"numbers/multipleOf of 2^366, 1e1024",
       items_of_items(eightfold(
           R"({"multipleOf":150306725297525326584926758194517569752043683130132471725266622178061377607334940381676735896625196994048})")),
       wide(4000, [](std::size_t i) { return fmt::format("{}e1024", i); })});
  cases.push_back({"numbers/multipleOf 1e-1024 of 1e1024", items_of_items(eightfold(R"({"multipleOf":3e-1024})")),
                   wide(4000, [](std::size_t i) { return fmt::format("{}e1024", i); })});
  cases.push_back({"numbers/bounds, 128 digits", items_of_items(eightfold(bounds)),
                   wide(500, [](std::size_t) { return repeated("9", 128); })});
  cases.push_back({"numbers/bounds, 1e999", items_of_items(eightfold(bounds)),
                   wide(4000, [](std::size_t i) { return fmt::format("{}e999", i); })});
  cases.push_back({"numbers/long bounds, short numbers", items_of_items(eightfold(bounds)),
                   wide(4000, [](std::size_t i) { return std::to_string(i); })});
  cases.push_back({"numbers/multipleOf 0.0001, short numbers", items_of_items(eightfold(R"({"multipleOf":0.0001})")),
                   wide(4000, [](std::size_t i) { return fmt::format("{}.25", i); })});
  cases.push_back({"numbers/integer, fractions", items_of_items(eightfold(R"({"type":"integer"})")),
                   wide(4000, [](std::size_t i) { return fmt::format("{}00e-2", i + 1); })});
  cases.push_back({"numbers/integer, fractions in eight branches", items_of_items(eightfold(R"({"type":"integer"})")),
                   wide(500, [](std::size_t) { return repeated("9", 118) + ".0e10"; })});
  std::string numbers;
  for (int i = 0; i < 200; ++i) numbers += fmt::format("{}1{:03}.5e-1000", i == 0 ? "" : ",", i);
  cases.push_back({"numbers/enum, 1e1024",
                   items_of_items(eightfold(R"({"enum":[1e0,)" + numbers.substr(0, 1200) + "]}")),
                   wide(4000, [](std::size_t i) { return fmt::format("{}e999", i); })});
}

void add_string_cases(std::vector<Case>& cases) {
  const std::string long_a = '"' + std::string(65000, 'a') + '"';
  const auto pattern = [](std::string_view text) { return fmt::format(R"({{"pattern":"{}"}})", text); };
  const std::string dna = [] {
    std::string text = "\"";
    std::uint64_t state = 1;
    for (int i = 0; i < 65000; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      text += static_cast<char>('a' + (state >> 60U) % 2);
    }
    return text + '"';
  }();
  const std::string cjk = '"' + repeated("中ā文b丁", 5000) + '"';
  for (const char* hostile : {"[ab]*a[ab]{200}c",
                              "(a?b?){100}c",
                              "(a|b|ab|ba|aab|bba){20}c",
                              "(?:(?:a|b)*c?){60}d",
                              ".{200}x",
                              "(.?){255}x",
                              "([ab]?.?[^c]?){80}x",
                              "\\\\b.{200}x",
                              "\\\\b(a?b?){50}c",
                              "(?:\\\\p{L}?\\\\p{N}?){12}x",
                              "[^\\\\p{L}]{3}",
                              "(?:\\\\pL|\\\\pM|\\\\pN|\\\\pP|\\\\pZ|\\\\pS|\\\\pC)*x",
                              "[\u0101\u0103\u0105\u0107]{50}x$",
                              "[\u4e01\u4e03\u5105\u6107\u7801\u8901\u9a01]{40}\\\\bx",
                              "\\\\b[ab]*a[ab]{200}c",
                              "(?i)[ab]*a[ab]{200}c",
                              "\\\\b(a?b?){100}c",
                              "a.*b.*a.*b.*c",
                              "(?i)a.*b",
                              "\\\\p{L}+$",
                              "^(Yes|No|Maybe): .+"}) {
    for (const auto& [kind, text] : {std::pair{"aaa", long_a}, std::pair{"random", dna}, std::pair{"CJK", cjk}}) {
      cases.push_back(
          {fmt::format("patterns/{}, {}", hostile, kind), pattern(hostile), affordable(pattern(hostile), text)});
    }
  }
  for (const char* hostile : {"\\\\pL*", "(?:\\\\pL|\\\\pM|\\\\pN|\\\\pP|\\\\pS)*"}) {
    cases.push_back({fmt::format("patterns/8 x {}, empty texts", hostile), items_of_items(eightfold(pattern(hostile))),
                     wide(4000, [](std::size_t) { return std::string("\"\""); })});
  }
  for (const char* hostile : {"^[ab]+$", "(a?b?){100}c", "[ab]*a[ab]{30}c"}) {
    cases.push_back({fmt::format("patterns/8 x {}", hostile), eightfold(pattern(hostile)), dna});
  }
  std::string many = R"({"properties":{)";
  for (int i = 0; i < 60; ++i) {
    many += fmt::format(R"({}"p{}":{{"pattern":"\\b[ab]*a[ab]{{{}}}c"}})", i == 0 ? "" : ",", i, 100 + i);
  }
  cases.push_back({"patterns/60 of RE2's", many + "}}",
                   object_of(60, [&](std::size_t i) { return fmt::format("\"p{}\":{}\"", i, dna.substr(0, 1000)); })});
  std::string unicode = R"({"properties":{)";
  for (int i = 0; i < 13; ++i) unicode += fmt::format(R"({}"p{}":{{"pattern":"\\p{{L}}{}"}})", i == 0 ? "" : ",", i, i);
  cases.push_back({"patterns/13 Unicode classes", unicode + "}}", "{}"});
  std::string many_jumps = R"({"properties":{)";
  for (int i = 0; i < 16; ++i)
    many_jumps += fmt::format(R"({}"p{}":{{"pattern":"(.?){{254}}{}"}})", i == 0 ? "" : ",", i, i);
  cases.push_back({"patterns/16 of most jumps", many_jumps + "}}", "{}"});
  const std::pair<const char*, std::string> formats[] = {
      {"date", "2024-02-29"},
      {"date-time", "2024-02-29T13:45:00." + std::string(64000, '1') + "Z"},
      {"hostname", std::string(65000, 'a')},
      {"hostname", repeated("xn--mnchen-3ya.", 4300) + "de"},
      {"hostname", repeated("xn--mnchen-3ya.", 16) + "de"},
      {"email", std::string(65000, 'a') + "@b"},
      {"email", "\\\"" + std::string(64000, 'a') + "\\\"@b"},
      {"idn-email", repeated("ä", 32000) + "@b"},
      {"idn-email", "a@" + repeated("äöüß.", 7000) + "de"},
      {"ipv6", "1:" + std::string(64000, '1')},
      {"uri", "http://" + repeated("%41", 21000)},
      {"uri", "http://[1:2]" + repeated("/a", 21000)},
      {"uri-reference", repeated("a/", 32000)},
      {"iri", "http://" + repeated("ä", 32000)},
      {"uri-template", repeated("{a}", 21000)},
      {"uri-template", "{" + repeated("a,", 32000) + "a}"},
      {"json-pointer", repeated("/~0", 21000)},
      {"relative-json-pointer", "1" + repeated("/~0", 21000)},
      {"uuid", std::string(65000, 'a')},
  };
  for (const auto& [format, value] : formats) {
    cases.push_back({fmt::format("formats/8 x {}, {} bytes {}", format, value.size(), value.substr(0, 12)),
                     eightfold(fmt::format(R"({{"format":"{}"}})", format)), '"' + value + '"'});
  }
  cases.push_back({"formats/8 x hostname, punycode labels", items_of_items(eightfold(R"({"format":"hostname"})")),
                   wide(800, [](std::size_t) { return '"' + repeated("xn--mnchen-3ya.", 4) + "de\""; })});
  cases.push_back({"formats/8 x hostname, long punycode", items_of_items(eightfold(R"({"format":"hostname"})")),
                   wide(900, [](std::size_t) { return "\"xn--" + repeated("0", 58) + "\""; })});
  cases.push_back(
      {"lengths/8 x both", eightfold(R"({"minLength":20000,"maxLength":64000})"), '"' + repeated("ä", 32000) + '"'});
}

void add_array_cases(std::vector<Case>& cases) {
  const auto small = [](std::size_t i) { return std::to_string(i % 10); };
  const auto unique = [](std::size_t i) { return std::to_string(i); };
  cases.push_back({"arrays/uniqueItems, 256 objects in other orders", R"({"uniqueItems":true})", [] {
                     std::string text = "[";
                     for (int i = 0; i < 256; ++i) {
                       text += i == 0 ? "" : ",";
                       text += object_of(7, [&](std::size_t k) {
                         return fmt::format(R"("key{}":{}.50)", (k + static_cast<std::size_t>(i)) % 7, k == 0 ? i : 1);
                       });
                     }
                     return text + "]";
                   }()});
  std::string nested_unique = R"({"uniqueItems":true})";
  for (int i = 0; i < 14; ++i) nested_unique = R"({"uniqueItems":true,"items":)" + nested_unique + "}";
  std::string deep = wide(4000, unique);
  for (int i = 0; i < 13; ++i) deep = "[" + deep + "]";
  deep.insert(1, "0,");
  cases.push_back({"arrays/uniqueItems in uniqueItems, 15 deep", nested_unique, deep});
  cases.push_back({"arrays/8 x uniqueItems of uniqueItems",
                   eightfold(R"({"uniqueItems":true,"items":{"uniqueItems":true}})"), wide(4000, unique)});
  cases.push_back({"arrays/8 x const of 4096 values", eightfold(R"({"const":[[0]]})"), wide(4000, small)});
  cases.push_back(
      {"arrays/8 x contains",
       items_of_items("true").substr(0, 9) + eightfold(R"({"contains":{"enum":["a",{"a":1}],"minLength":1}})") + "}",
       wide(4000, small)});
  cases.push_back(
      {"arrays/most branches over the widest value",
       items_of_items(
           R"({"anyOf":[{"type":"string"},{"anyOf":[{"minimum":10},{"anyOf":[{"maximum":-1},{"anyOf":[{"multipleOf":11},{"type":"null"}]}]}]}]})"),
       wide(4000, small)});
  cases.push_back(
      {"arrays/eight items, eight not",
       items_of_items(
           R"({"oneOf":[{"minimum":1},{"minimum":2},{"minimum":3},{"minimum":4},{"minimum":5},{"minimum":6},{"minimum":7},{"minimum":-1}]})"),
       wide(4000, small)});
}

void add_object_cases(std::vector<Case>& cases) {
  const auto member = [](std::size_t i) { return fmt::format("\"{}\":0", i); };
  const std::string patterns =
      R"("patternProperties":{"(0?1?){100}x":true,"[0-9]*a[0-9]{200}x":{},"2?3?4?5?6?y":{"minimum":1},"z$":true})";
  cases.push_back(
      {"objects/patternProperties, additionalProperties, propertyNames",
       "{" + patterns +
           R"(,"additionalProperties":{"type":"integer"},"propertyNames":{"pattern":"[0-9]$","format":"uri-reference","maxLength":10}})",
       object_of(2000, member)});
  cases.push_back(
      {"objects/patternProperties, one key of 64 KiB", "{" + patterns + "}", "{\"" + repeated("0", 65000) + "\":1}"});
  cases.push_back(
      {"objects/8 x propertyNames, additionalProperties",
       eightfold(
           R"({"propertyNames":{"format":"uri-reference","pattern":"^[0-9]+$"},"additionalProperties":{"maximum":5}})"),
       object_of(2000, member)});
  std::string runs = R"({"pattern":"^)";
  for (const char c :
       std::string_view("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#%&',;<=>@_`~:/ -")) {
    runs += {c, '?'};
  }
  runs += "\"}";
  cases.push_back({"objects/8 x patterns of 80 runs, names and values",
                   eightfold(R"({"propertyNames":)" + runs + R"(,"additionalProperties":)" + runs + "}"),
                   object_of(4000, [](std::size_t i) { return fmt::format(R"("{}":"~")", i); })});
  std::string properties;
  for (int i = 0; i < 250; ++i) properties += fmt::format("{}\"{}\":true", i == 0 ? "" : ",", i);
  cases.push_back({"objects/most properties, additionalProperties false",
                   R"({"properties":{)" + properties + R"(},"additionalProperties":false})", object_of(2000, member)});
  std::string required;
  for (int i = 0; i < 2400; ++i) required += fmt::format("{}\"{}\"", i == 0 ? "" : ",", i);
  cases.push_back({"objects/2400 required, 4000 empty objects",
                   R"({"items":{"items":{"anyOf":[{"required":[)" + required + R"(]},true]}}})",
                   wide(4000, [](std::size_t) { return "{}"; })});
  cases.push_back({"objects/2400 required, 4000 empty objects, said",
                   R"({"items":{"items":{"required":[)" + required + "]}}}",
                   wide(4000, [](std::size_t) { return "{}"; })});
  std::string dependencies;
  for (int i = 0; i < 1400; ++i) dependencies += fmt::format("{}\"{}\":[]", i == 0 ? "" : ",", i);
  cases.push_back({"objects/1400 dependencies, 4000 empty objects",
                   R"({"items":{"items":{"dependencies":{)" + dependencies + "}}}}",
                   wide(4000, [](std::size_t) { return "{}"; })});
  cases.push_back({"objects/required without a property, additionalProperties false, said",
                   R"({"required":[)" + required + R"(],"additionalProperties":false})",
                   object_of(2000, [](std::size_t i) { return fmt::format("\"{}\":0", i + 9000); })});
  std::string deep_schema = R"({"type":"string"})";
  std::string deep_value = "0";
  for (int i = 0; i < 7; ++i) deep_schema = R"({"properties":{"a":)" + deep_schema + "}}";
  for (int i = 0; i < 32; ++i) deep_value = R"({"a":)" + deep_value + "}";
  cases.push_back({"objects/deepest nesting", deep_schema, deep_value});
  cases.push_back({"objects/wrong everywhere, said", items_of_items(R"({"type":"string"})"),
                   wide(4000, [](std::size_t i) { return std::to_string(i % 10); })});
  cases.push_back({"objects/wrong everywhere in eight branches, said",
                   items_of_items(eightfold(R"({"type":"string"})")),
                   wide(4000, [](std::size_t i) { return std::to_string(i % 10); })});
}

const char* name_of(schema::Outcome outcome) {
  switch (outcome) {
    case schema::Outcome::Valid:
      return "valid";
    case schema::Outcome::Invalid:
      return "invalid";
    case schema::Outcome::BudgetExceeded:
      return "budget";
  }
  return "";
}

bool run(const Case& each) {
  constexpr int kRuns = 7;
  const auto document = json::Document::parse(each.instance, json::kOutputCaps);
  if (!document) {
    fmt::print("{:<58} the value is not accepted ({} bytes)\n", each.name, each.instance.size());
    return false;
  }
  std::vector<Cost> compiling;
  std::vector<Cost> checking;
  std::vector<Cost> validating;
  schema::Verdict verdict{};
  for (int i = 0; i < kRuns; ++i) {
    std::optional<Result<schema::Schema, schema::Refusal>> compiled;
    compiling.push_back(cost_of([&] { compiled.emplace(schema::Schema::compile(each.schema)); }));
    if (!*compiled) {
      fmt::print("{:<58} the schema is refused: {} {}\n", each.name, (*compiled).error().code_name,
                 (*compiled).error().detail);
      return true;
    }
    checking.push_back(cost_of([&] { (void)(*compiled)->check(document->root()); }));
    auto fresh = schema::Schema::compile(each.schema);
    validating.push_back(cost_of([&] { verdict = fresh->validate(document->root()); }));
  }
  const Cost compile = median(compiling);
  const Cost check = median(checking);
  const Cost validate = median(validating);
  const bool over = validate.ms > kMillisecondsAim || std::max(compile.mebibytes, validate.mebibytes) > kMebibytesAim;
  fmt::print("{:<58} {:>8.3f} {:>6.2f} {:>8.3f} {:>8.3f} {:>6.2f} {:>8} {:>6.1f} {:<8}{}\n", each.name.substr(0, 58),
             compile.ms, compile.mebibytes, check.ms, validate.ms, validate.mebibytes, verdict.work_units,
             verdict.work_units == 0 ? 0 : check.ms * 1e6 / static_cast<double>(verdict.work_units),
             name_of(verdict.outcome), over ? " OVER" : "");
  return !over;
}

// The most work that any of these values took, and the most CPU.
struct Margin {
  std::size_t values = 0;
  std::size_t exceeded = 0;
  std::uint64_t units = 0;

  void add(const schema::Schema& schema, std::string_view text) {
    const auto document = json::Document::parse(std::string(text), json::kOutputCaps);
    if (!document) return;
    ++values;
    const schema::Verdict verdict = schema.validate(document->root());
    units = std::max(units, verdict.work_units);
    if (verdict.outcome == schema::Outcome::BudgetExceeded) ++exceeded;
  }

  bool print(std::string_view name) const {
    fmt::print("{:<58} {:>8} values, at most {:>7} units: 1/{:.0f} of the budget{}\n", name, values, units,
               static_cast<double>(schema::kWorkUnitsMax) / static_cast<double>(std::max<std::uint64_t>(units, 1)),
               exceeded == 0 ? "" : " EXCEEDED");
    return exceeded == 0;
  }
};

// Real schemas with their values: a `schema` and an `instance` in each line of a file, and folders of one schema.
bool print_margins(const std::filesystem::path& data) {
  std::ifstream cases(data / "cases.jsonl");
  if (!cases) {
    fmt::print("ABSENT: real data. Set ASSAY_SUITE_DATA_DIR to the folder that holds cases.jsonl\n");
    return true;
  }
  bool all_within = true;
  Margin margin;
  for (std::string line; std::getline(cases, line);) {
    const auto entry = json::Document::parse(line, json::kEnvelopeCaps);
    const auto schema = schema::Schema::compile(entry->root().find("schema")->string());
    if (schema) margin.add(*schema, entry->root().find("instance")->string());
  }
  all_within = margin.print("real/cases.jsonl") && all_within;
  for (const auto& folder : std::filesystem::directory_iterator(data / "bench")) {
    std::ifstream file(folder.path() / "schema.json");
    const auto schema = schema::Schema::compile(std::string(std::istreambuf_iterator<char>(file), {}));
    if (!schema) continue;
    Margin of_set;
    std::ifstream instances(folder.path() / "instances.jsonl");
    for (std::string line; std::getline(instances, line);) of_set.add(*schema, line);
    all_within = of_set.print("real/" + folder.path().filename().string()) && all_within;
  }
  return all_within;
}

std::filesystem::path data_folder() {
  const char* configured = std::getenv("ASSAY_SUITE_DATA_DIR");
  return configured == nullptr ? std::filesystem::path(ASSAY_SOURCE_DIR) / ".." / "shared" / "data" : configured;
}

}  // namespace
}  // namespace assay::bench

int main() {
  using namespace assay::bench;
  std::vector<Case> cases;
  add_number_cases(cases);
  add_string_cases(cases);
  add_array_cases(cases);
  add_object_cases(cases);
  fmt::print("{:<58} {:>8} {:>6} {:>8} {:>8} {:>6} {:>8} {:>6}\n", "CPU ms, peak MiB", "compile", "MiB", "check",
             "validate", "MiB", "units", "ns/u");
  bool all_within = true;
  for (const Case& each : cases) all_within = run(each) && all_within;
  all_within = print_margins(data_folder()) && all_within;
  return all_within ? 0 : 1;
}
