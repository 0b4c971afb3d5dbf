#include <optional>

#include "schema/ascii.h"
#include "schema/format_matchers.h"

namespace assay::schema {
namespace {

constexpr int kMinutesPerDay = 24 * 60;

// Reads fixed-width fields from the left.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  std::optional<int> number(std::size_t digits, int max) {
    if (rest_.size() < digits) return std::nullopt;
    int value = 0;
    for (const char c : rest_.substr(0, digits)) {
      if (!is_digit(c)) return std::nullopt;
      value = value * 10 + (c - '0');
    }
    if (value > max) return std::nullopt;
    rest_.remove_prefix(digits);
    return value;
  }
  bool skip(std::string_view one_of) {
    if (rest_.empty() || !is_one_of(rest_.front(), one_of)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::size_t skip_digits() {
    std::size_t count = 0;
    while (count < rest_.size() && is_digit(rest_[count])) ++count;
    rest_.remove_prefix(count);
    return count;
  }
  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] char peek() const { return rest_.empty() ? '\0' : rest_.front(); }

 private:
  std::string_view rest_;
};

struct Date {
  int day;
  int days_in_month;
};

int days_in(int year, int month) {
  if (month == 2) return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

std::optional<Date> full_date(Fields& fields) {
  const auto year = fields.number(4, 9999);
  if (!year || !fields.skip("-")) return std::nullopt;
  const auto month = fields.number(2, 12);
  if (!month || *month == 0 || !fields.skip("-")) return std::nullopt;
  const int days = days_in(*year, *month);
  const auto day = fields.number(2, days);
  if (!day || *day == 0) return std::nullopt;
  return Date{*day, days};
}

// A time's seconds, and its minute in UTC counted from the local midnight: negative on the day before.
struct Time {
  int second;
  int utc_minute;
};

std::optional<int> offset_minutes(Fields& fields) {
  if (fields.skip("Zz")) return 0;
  const bool negative = fields.peek() == '-';
  if (!fields.skip("+-")) return std::nullopt;
  const auto hours = fields.number(2, 23);
  if (!hours || !fields.skip(":")) return std::nullopt;
  const auto minutes = fields.number(2, 59);
  if (!minutes) return std::nullopt;
  return (negative ? -1 : 1) * (*hours * 60 + *minutes);
}

std::optional<Time> full_time(Fields& fields) {
  const auto hour = fields.number(2, 23);
  if (!hour || !fields.skip(":")) return std::nullopt;
  const auto minute = fields.number(2, 59);
  if (!minute || !fields.skip(":")) return std::nullopt;
  const auto second = fields.number(2, 60);
  if (!second || (fields.skip(".") && fields.skip_digits() == 0)) return std::nullopt;
  const auto offset = offset_minutes(fields);
  if (!offset || !fields.done()) return std::nullopt;
  return Time{*second, *hour * 60 + *minute - *offset};
}

constexpr int kLeapSecond = 60;
constexpr int kLastMinute = kMinutesPerDay - 1;

bool is_last_minute_of_a_day(int utc_minute) { return (utc_minute + kMinutesPerDay) % kMinutesPerDay == kLastMinute; }

// Leap seconds end a month (RFC 3339, section 5.7), in UTC.
bool is_last_minute_of_a_month(const Date& date, int utc_minute) {
  if (!is_last_minute_of_a_day(utc_minute)) return false;
  if (utc_minute < 0) return date.day == 1;
  if (utc_minute >= kMinutesPerDay) return date.day == date.days_in_month - 1;
  return date.day == date.days_in_month;
}

}  // namespace

bool is_date(std::string_view text) {
  Fields fields(text);
  return full_date(fields).has_value() && fields.done();
}

bool is_time(std::string_view text) {
  Fields fields(text);
  const auto time = full_time(fields);
  return time && (time->second < kLeapSecond || is_last_minute_of_a_day(time->utc_minute));
}

bool is_date_time(std::string_view text) {
  Fields fields(text);
  const auto date = full_date(fields);
  if (!date || !fields.skip("Tt")) return false;
  const auto time = full_time(fields);
  return time && (time->second < kLeapSecond || is_last_minute_of_a_month(*date, time->utc_minute));
}

}  // namespace assay::schema
