#include "cli/validate.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <istream>
#include <ostream>

#include "cli/text_file.h"
#include "json/document.h"
#include "json/error.h"
#include "json/member.h"
#include "json/writer.h"
#include "schema/schema.h"

namespace assay::cli {
namespace {

constexpr std::string_view kBudgetCode = "work_budget_exceeded";
constexpr std::string_view kBudgetDetail = "validation needs more work than one value may cost";
constexpr std::size_t kProgressLines = 65'536;  // between two looks at the terminal

void write_fault(json::Writer& out, std::string_view code, std::string_view detail) {
  out.begin_object().member("code", code).member("detail", detail);
}

void write_issues(json::Writer& out, std::span<const schema::Issue> issues) {
  out.key("issues").begin_array();
  for (const schema::Issue& issue : issues) {
    out.begin_object().member("path", issue.path).member("rule", issue.rule).end_object();
  }
  out.end_array();
}

std::string refused_schema(std::string_view code, std::string_view detail, std::string_view path) {
  json::Writer out;
  out.begin_object().key("schema");
  write_fault(out, code, detail);
  out.member("path", path).end_object();
  out.key("instance").null();
  write_issues(out, {});
  out.end_object();
  return out.take();
}

std::string verdict_of(const schema::Schema& schema, std::string_view instance_text) {
  json::Writer out;
  out.begin_object().member("schema", "ok").key("instance");
  std::vector<schema::Issue> issues;
  if (auto instance = json::Document::parse(std::string(instance_text), json::kOutputCaps); !instance) {
    write_fault(out, json::code_name(instance.error().code), json::describe(instance.error()));
    out.end_object();
  } else {
    schema::Verdict verdict = schema.validate(instance->root());
    switch (verdict.outcome) {
      case schema::Outcome::Valid:
        out.string("valid");
        break;
      case schema::Outcome::Invalid:
        out.string("invalid");
        issues = std::move(verdict.issues);
        break;
      case schema::Outcome::BudgetExceeded:
        write_fault(out, kBudgetCode, kBudgetDetail);
        out.end_object();
        break;
    }
  }
  write_issues(out, issues);
  out.end_object();
  return out.take();
}

// What is wrong with one value, or nothing when it is valid.
std::string complaint(const schema::Schema& schema, std::string value) {
  auto document = json::Document::parse(std::move(value), json::kOutputCaps);
  if (!document) return json::describe(document.error());
  if (schema.is_valid(document->root())) return {};
  const schema::Verdict verdict = schema.validate(document->root());
  if (verdict.outcome == schema::Outcome::BudgetExceeded) return std::string(kBudgetDetail);
  std::string text;
  for (const schema::Issue& issue : verdict.issues) {
    if (!text.empty()) text += "; ";
    text += fmt::format("at {}: {}", issue.path.empty() ? "the root" : issue.path, issue.rule);
  }
  return text;
}

struct Totals {
  std::uint64_t lines = 0;  // blank ones excluded
  std::uint64_t valid = 0;
  std::uint64_t bytes = 0;
};

Totals validate_lines(const schema::Schema& schema, std::istream& values, std::ostream& out,
                      const std::function<void(const Totals&)>& progress) {
  Totals totals;
  std::uint64_t line_number = 0;
  for (std::string line; std::getline(values, line);) {
    ++line_number;
    totals.bytes += line.size() + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    ++totals.lines;
    const std::string fault = complaint(schema, std::move(line));
    if (fault.empty()) {
      ++totals.valid;
    } else {
      out << fmt::format("line {}: {}\n", line_number, fault);
    }
    line.clear();
    if (line_number % kProgressLines == 0) progress(totals);
  }
  return totals;
}

ExitCode validate_stream(const schema::Schema& schema, std::istream& values, bool show_progress, std::ostream& out,
                         std::ostream& err) {
  using SteadyClock = std::chrono::steady_clock;
  const auto start = SteadyClock::now();
  const auto report = [&](const Totals& totals) {
    const double seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
    const double rate = seconds > 0 ? static_cast<double>(totals.bytes) / seconds / 1e6 : 0;
    return fmt::format("{} values, {} valid, {} invalid, {:.1f} MB/s", totals.lines, totals.valid,
                       totals.lines - totals.valid, rate);
  };
  const Totals totals = validate_lines(schema, values, out, [&](const Totals& so_far) {
    if (show_progress) err << '\r' << report(so_far) << std::flush;
  });
  if (show_progress) err << '\r';
  err << report(totals) << '\n';
  return totals.lines == totals.valid ? kExitOk : kExitNegative;
}

bool is_line_stream(std::string_view path) { return path == "-" || path.ends_with(".jsonl"); }

}  // namespace

std::string batch_verdict(std::string_view line) {
  const auto request = json::Document::parse(std::string(line), json::kEnvelopeCaps, json::Dialect::Lenient);
  if (!request) return refused_schema("invalid_line", json::describe(request.error()), "");
  const auto schema_text = json::string_member(request->root(), "schema_text");
  const auto instance_text = json::string_member(request->root(), "instance_text");
  if (!schema_text || !instance_text) {
    return refused_schema("invalid_line", "a line is an object with the strings schema_text and instance_text", "");
  }
  const auto schema = schema::Schema::compile(*schema_text);
  if (!schema) return refused_schema(schema.error().code_name, schema.error().detail, schema.error().pointer);
  return verdict_of(*schema, *instance_text);
}

ExitCode validate_batch(std::istream& in, std::ostream& out) {
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    out << batch_verdict(line) << '\n';
    if (in.rdbuf()->in_avail() <= 0) out.flush();  // a caller that waits for each answer gets it
  }
  return kExitOk;
}

ExitCode validate_files(const ValidateFiles& files, std::istream& in, std::ostream& out, std::ostream& err) {
  const auto schema_text = read_text_file(files.schema_path);
  if (!schema_text) {
    err << schema_text.error() << '\n';
    return kExitUsage;
  }
  const auto schema = schema::Schema::compile(*schema_text);
  if (!schema) {
    const std::string& pointer = schema.error().pointer;
    err << fmt::format("{}: schema refused at {}: {} ({})\n", files.schema_path, pointer.empty() ? "the root" : pointer,
                       schema.error().detail, schema.error().code_name);
    return kExitUsage;
  }
  if (files.instance_path == "-") return validate_stream(*schema, in, files.show_progress, out, err);
  if (is_line_stream(files.instance_path)) {
    std::ifstream lines(files.instance_path, std::ios::binary);
    if (!lines) {
      err << unreadable(files.instance_path) << '\n';
      return kExitUsage;
    }
    return validate_stream(*schema, lines, files.show_progress, out, err);
  }
  auto value = read_text_file(files.instance_path);
  if (!value) {
    err << value.error() << '\n';
    return kExitUsage;
  }
  const std::string fault = complaint(*schema, std::move(*value));
  out << (fault.empty() ? std::string("valid") : "invalid: " + fault) << '\n';
  return fault.empty() ? kExitOk : kExitNegative;
}

}  // namespace assay::cli
