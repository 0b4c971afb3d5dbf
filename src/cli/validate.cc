#include "cli/validate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <istream>
#include <ostream>

#include "cli/text_file.h"
#include "cli/validate_lines.h"
#include "json/document.h"
#include "json/error.h"
#include "json/member.h"
#include "json/writer.h"
#include "schema/schema.h"

namespace assay::cli {
namespace {

constexpr std::string_view kBudgetCode = "work_budget_exceeded";

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

bool is_line_stream(std::string_view path) { return path == "-" || path.ends_with(".jsonl"); }

ExitCode validate_line_stream(const schema::Schema& schema, const ValidateFiles& files, std::ostream& out,
                              std::ostream& err) {
  const bool is_standard_input = files.instance_path == "-";
  const int descriptor = is_standard_input ? STDIN_FILENO : ::open(files.instance_path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    err << unreadable(files.instance_path) << '\n';
    return kExitUsage;
  }
  const ExitCode code = validate_lines(schema,
                                       {.descriptor = descriptor,
                                        .name = is_standard_input ? "standard input" : files.instance_path,
                                        .is_quiet = files.is_quiet,
                                        .show_progress = files.show_progress,
                                        .stop = files.stop},
                                       out, err);
  if (!is_standard_input) ::close(descriptor);
  return code;
}

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

ExitCode validate_batch(std::istream& in, std::ostream& out, std::ostream& err) {
  for (std::string line; out && std::getline(in, line);) {
    if (line.empty()) continue;
    out << batch_verdict(line) << '\n';
    if (in.rdbuf()->in_avail() <= 0) out.flush();  // a caller that waits for each answer gets it
  }
  return after_writing(out, err, kExitOk);
}

ExitCode validate_files(const ValidateFiles& files, std::ostream& out, std::ostream& err) {
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
  if (is_line_stream(files.instance_path)) return validate_line_stream(*schema, files, out, err);
  auto value = read_text_file(files.instance_path);
  if (!value) {
    err << value.error() << '\n';
    return kExitUsage;
  }
  json::Reader reader;
  const std::string fault = complaint(*schema, reader.read(*value, json::kOutputCaps));
  if (!files.is_quiet) out << (fault.empty() ? std::string("valid") : "invalid: " + fault) << '\n';
  return after_writing(out, err, fault.empty() ? kExitOk : kExitNegative);
}

}  // namespace assay::cli
