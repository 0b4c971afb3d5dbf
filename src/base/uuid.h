#pragma once
// 128-bit identifiers (RFC 9562) and the strong types made of them.
#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

class Random;

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  // Version 4, from the given source.
  static Uuid random(Random& source);
  // Reads the 36-character hyphenated form, in either case. Anything else is nullopt.
  static std::optional<Uuid> parse(std::string_view text);
  // Lower-case hyphenated form.
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] bool is_nil() const { return *this == Uuid{}; }
  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

// A Uuid that names one kind of object and does not convert into another kind.
template <class Tag>
struct UuidOf {
  Uuid value;

  static UuidOf random(Random& source) { return UuidOf{Uuid::random(source)}; }
  static std::optional<UuidOf> parse(std::string_view text) {
    auto parsed = Uuid::parse(text);
    if (!parsed) return std::nullopt;
    return UuidOf{*parsed};
  }
  [[nodiscard]] std::string to_string() const { return value.to_string(); }
  friend auto operator<=>(const UuidOf&, const UuidOf&) = default;
};

using ChatId = UuidOf<struct ChatTag>;
using UserId = UuidOf<struct UserTag>;
using OrganizationId = UuidOf<struct OrganizationTag>;
using ModelConfigId = UuidOf<struct ModelConfigTag>;
using RequestId = UuidOf<struct RequestTag>;  // one structured request
using ReplicaId = UuidOf<struct ReplicaTag>;  // one running `assay serve` (the schema's worker_id)
using RunnerId = UuidOf<struct RunnerTag>;    // one ownership of one chat

}  // namespace assay

template <>
struct std::hash<assay::Uuid> {
  std::size_t operator()(const assay::Uuid& id) const noexcept {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
  }
};
template <class Tag>
struct std::hash<assay::UuidOf<Tag>> {
  std::size_t operator()(const assay::UuidOf<Tag>& id) const noexcept { return std::hash<assay::Uuid>{}(id.value); }
};
