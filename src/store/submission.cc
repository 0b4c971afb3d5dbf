#include "store/submission.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

namespace assay::store {

namespace {

using Digest = std::array<std::uint8_t, SHA256_DIGEST_LENGTH>;

// The length of each text goes in before it: no two lists of texts hash the same bytes.
Digest digest_of(std::initializer_list<std::string_view> texts) {
  std::string joined;
  for (const std::string_view text : texts) {
    joined += fmt::format("{}:", text.size());
    joined += text;
  }
  Digest digest{};
  SHA256(reinterpret_cast<const std::uint8_t*>(joined.data()), joined.size(), digest.data());
  return digest;
}

}  // namespace

std::string request_digest(std::string_view target, std::string_view body) {
  std::string digits;
  for (const std::uint8_t byte : digest_of({target, body})) digits += fmt::format("{:02x}", byte);
  return digits;
}

ChatId chat_id_of(const Submission& submission) {
  const Digest digest = digest_of({"assay chat", submission.user.to_string(), submission.route, submission.key});
  Uuid id;
  std::copy_n(digest.begin(), id.bytes.size(), id.bytes.begin());
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0FU) | 0x80U);  // version 8
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3FU) | 0x80U);  // variant of RFC 9562
  return ChatId{id};
}

}  // namespace assay::store
