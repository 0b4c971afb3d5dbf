#include "net/websocket_frame.h"

#include <openssl/evp.h>

#include <algorithm>

#include "base/check.h"
#include "net/http_server.h"

namespace assay::net {
namespace {

constexpr std::uint8_t kOpContinuation = 0x0, kOpText = 0x1, kOpBinary = 0x2, kOpClose = 0x8, kOpPing = 0x9,
                       kOpPong = 0xA;
constexpr std::uint8_t kFinal = 0x80, kReservedBits = 0x70, kOpcodeBits = 0x0F, kMasked = 0x80, kLengthBits = 0x7F;
constexpr std::size_t kControlPayloadMax = 125;
constexpr std::size_t kKeyBytes = 16, kKeyCharacters = 24;

std::string frame(std::uint8_t opcode, std::string_view payload) {
  std::string bytes;
  bytes.reserve(payload.size() + 10);
  bytes.push_back(static_cast<char>(kFinal | opcode));
  std::size_t length_bytes = 0;
  if (payload.size() <= kControlPayloadMax) {
    bytes.push_back(static_cast<char>(payload.size()));
  } else if (payload.size() <= 0xFFFF) {
    bytes.push_back(126);
    length_bytes = 2;
  } else {
    bytes.push_back(127);
    length_bytes = 8;
  }
  for (std::size_t i = length_bytes; i > 0; --i) {
    bytes.push_back(static_cast<char>((payload.size() >> (8 * (i - 1))) & 0xFF));
  }
  bytes.append(payload);
  return bytes;
}

bool is_utf8_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Codes that may stand in a close frame (section 7.4).
bool is_close_code(std::uint16_t code) {
  const bool defined = code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
  return defined || (code >= 3000 && code <= 4999);
}

}  // namespace

std::string websocket_accept(std::string_view key) {
  std::string text(key);
  text.append("258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int digest_bytes = 0;
  const int done = EVP_Digest(text.data(), text.size(), digest.data(), &digest_bytes, EVP_sha1(), nullptr);
  ASSAY_CHECK(done == 1, "SHA-1 must be available");
  std::array<unsigned char, 4 * ((EVP_MAX_MD_SIZE + 2) / 3) + 1> encoded;
  const int characters = EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(digest_bytes));
  return std::string(reinterpret_cast<const char*>(encoded.data()), static_cast<std::size_t>(characters));
}

bool is_websocket_key(std::string_view key) {
  if (key.size() != kKeyCharacters || !key.ends_with("==")) return false;
  std::array<unsigned char, kKeyBytes + 2> decoded;
  return EVP_DecodeBlock(decoded.data(), reinterpret_cast<const unsigned char*>(key.data()), kKeyCharacters) ==
         static_cast<int>(decoded.size());
}

std::string text_frame(std::string_view payload) { return frame(kOpText, payload); }

std::string ping_frame(std::string_view payload) { return frame(kOpPing, payload.substr(0, kControlPayloadMax)); }

std::string pong_frame(std::string_view payload) { return frame(kOpPong, payload.substr(0, kControlPayloadMax)); }

std::string close_frame(std::uint16_t code, std::string_view reason) {
  std::size_t length = std::min(reason.size(), kCloseReasonBytesMax);
  while (length < reason.size() && length > 0 && is_utf8_continuation(reason[length])) --length;
  std::string payload;
  payload.push_back(static_cast<char>(code >> 8));
  payload.push_back(static_cast<char>(code & 0xFF));
  payload.append(reason.substr(0, length));
  return frame(kOpClose, payload);
}

std::optional<ControlFrameReader::Frame> ControlFrameReader::read(std::string_view& input) {
  while (!input.empty()) {
    const std::size_t payload = held_ < 2 ? 0 : static_cast<std::size_t>(bytes_[1] & kLengthBits);
    const std::size_t wanted = held_ < 2 ? 2 : kHeaderBytes + payload;
    const std::size_t taken = std::min(input.size(), wanted - held_);
    std::copy_n(input.begin(), taken, bytes_.begin() + static_cast<std::ptrdiff_t>(held_));
    input.remove_prefix(taken);
    held_ += taken;
    if (held_ == 2) {
      if (const auto refused = judge_header()) return Frame{.kind = *refused, .payload = "", .close_code = 0};
    } else if (held_ == wanted && held_ >= kHeaderBytes) {
      return take_frame();
    }
  }
  return std::nullopt;
}

// What the first two bytes already decide (sections 5.2 and 5.5).
std::optional<ControlFrameReader::Kind> ControlFrameReader::judge_header() const {
  const auto first = static_cast<std::uint8_t>(bytes_[0]);
  const auto second = static_cast<std::uint8_t>(bytes_[1]);
  if ((first & kReservedBits) != 0 || (second & kMasked) == 0) return Kind::Malformed;
  switch (first & kOpcodeBits) {
    case kOpContinuation:
    case kOpText:
    case kOpBinary:
      return Kind::Data;
    case kOpClose:
    case kOpPing:
    case kOpPong:
      if ((first & kFinal) == 0 || (second & kLengthBits) > kPayloadBytesMax) return Kind::Malformed;
      return std::nullopt;
    default:
      return Kind::Malformed;
  }
}

ControlFrameReader::Frame ControlFrameReader::take_frame() {
  Frame taken{.kind = Kind::Pong, .payload = "", .close_code = 0};
  for (std::size_t i = kHeaderBytes; i < held_; ++i) {
    taken.payload.push_back(static_cast<char>(bytes_[i] ^ bytes_[2 + (i - kHeaderBytes) % 4]));
  }
  const auto opcode = static_cast<std::uint8_t>(bytes_[0]) & kOpcodeBits;
  held_ = 0;
  if (opcode == kOpPing) taken.kind = Kind::Ping;
  if (opcode != kOpClose) return taken;

  taken.kind = Kind::Close;
  if (taken.payload.empty()) return taken;
  if (taken.payload.size() >= 2) {
    taken.close_code = static_cast<std::uint16_t>((static_cast<unsigned char>(taken.payload[0]) << 8) |
                                                  static_cast<unsigned char>(taken.payload[1]));
  }
  if (!is_close_code(taken.close_code)) taken.kind = Kind::Malformed;
  taken.payload.clear();
  return taken;
}

}  // namespace assay::net
