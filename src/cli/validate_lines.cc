#include "cli/validate_lines.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ostream>

#include "json/error.h"

namespace assay::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kProgressInterval{200};
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Of a line over the cap, only the begin was seen.
bool is_blank(std::string_view line) {
  return line.size() <= json::kOutputCaps.bytes_max && line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// Of a regular file, else 0: a pipe has no size to be measured against.
std::uint64_t size_of(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

// Keys are the instance's: no control character of theirs may break the line or reach a terminal.
void append_printable(std::string& text, std::string_view path) {
  for (const char c : path) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) {
      text += c;
    } else {
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    }
  }
}

class LineRun {
 public:
  LineRun(const schema::Schema& schema, const LineValidation& input, std::ostream& out, std::ostream& err)
      : schema_(schema),
        input_(input),
        out_(out),
        err_(err),
        size_(size_of(input.descriptor)),
        lines_(input.descriptor,
               {.line_bytes_max = json::kOutputCaps.bytes_max, .on_refill = [this] { refill(); }, .stop = input.stop}) {
  }

  ExitCode run() {
    while (!input_.stop.is_made() && out_) {
      const auto line = lines_.next();
      if (!line) break;
      ++line_count_;
      check(*line);
    }
    out_.flush();
    if (input_.show_progress) err_ << "\r\x1b[K";
    if (const ExitCode code = after_writing(out_, err_, kExitOk); code != kExitOk) return code;
    if (input_.stop.is_made()) err_ << "interrupted: ";
    err_ << totals() << '\n';
    if (lines_.fault() != 0) {
      err_ << fmt::format("cannot read {} beyond line {}: {}\n", input_.name, line_count_,
                          std::strerror(lines_.fault()));
      return kExitUsage;
    }
    return values_ == valid_ ? kExitOk : kExitNegative;
  }

 private:
  void check(std::string_view line) {
    if ((line.empty() || line.front() <= ' ') && is_blank(line)) return;
    ++values_;
    const auto value = documents_.read_in_place(line, json::kOutputCaps);
    if (value && schema_.is_valid(*value)) [[likely]] {
      ++valid_;
      return;
    }
    if (input_.is_quiet) return;
    out_ << "line " << line_count_ << ": ";
    if (line_count_ == 1 && line.starts_with(kByteOrderMark)) {
      out_ << "begins with a byte order mark, which JSON text must not have\n";
    } else {
      out_ << complaint(schema_, value) << '\n';
    }
  }

  // The next read may wait for whoever writes the other end: what is known must be out by then.
  void refill() {
    if (size_ == 0) out_.flush();
    if (!input_.show_progress) return;
    const auto now = SteadyClock::now();
    if (now - shown_ < kProgressInterval) return;
    shown_ = now;
    err_ << '\r' << totals();
    if (size_ != 0)
      err_ << fmt::format(", {:.0f} %", 100.0 * static_cast<double>(lines_.bytes()) / static_cast<double>(size_));
    err_ << "\x1b[K" << std::flush;
  }

  [[nodiscard]] std::string totals() const {
    const double seconds = std::max(std::chrono::duration<double>(SteadyClock::now() - start_).count(), 1e-9);
    return fmt::format("{} values, {} valid, {} invalid, {} lines, {:.1f} MB/s, {:.0f} values/s", values_, valid_,
                       values_ - valid_, line_count_, static_cast<double>(lines_.bytes()) / seconds / 1e6,
                       static_cast<double>(values_) / seconds);
  }

  const schema::Schema& schema_;
  const LineValidation& input_;
  std::ostream& out_;
  std::ostream& err_;
  const std::uint64_t size_;
  const SteadyClock::time_point start_ = SteadyClock::now();
  SteadyClock::time_point shown_ = start_;
  std::uint64_t line_count_ = 0;
  std::uint64_t values_ = 0;
  std::uint64_t valid_ = 0;
  json::Reader documents_;
  LineReader lines_;
};

}  // namespace

std::string complaint(const schema::Schema& schema, const Result<json::Value, json::Error>& value) {
  if (!value && value.error().code == json::ErrorCode::TooLong) {
    return fmt::format("{}: a value may have {} bytes", json::describe(value.error()), json::kOutputCaps.bytes_max);
  }
  if (!value) return json::describe(value.error());
  const schema::Verdict verdict = schema.validate(*value);
  if (verdict.outcome == schema::Outcome::BudgetExceeded) return std::string(kBudgetDetail);
  std::string text;
  for (const schema::Issue& issue : verdict.issues) {
    if (!text.empty()) text += "; ";
    text += "at ";
    append_printable(text, issue.path.empty() ? std::string_view("the root") : issue.path);
    text += ": ";
    append_printable(text, issue.rule);
  }
  return text;
}

ExitCode after_writing(std::ostream& out, std::ostream& err, ExitCode code) {
  out.flush();
  if (out) return code;
  err << fmt::format("cannot write the results: {}\n", std::strerror(errno));
  return kExitInternal;
}

ExitCode validate_lines(const schema::Schema& schema, const LineValidation& input, std::ostream& out,
                        std::ostream& err) {
  return LineRun(schema, input, out, err).run();
}

}  // namespace assay::cli
