#pragma once
// RFC 6455 as a server that never takes data needs it: the handshake's answer, frames out, control frames in. Pure.
// Written here because idle sockets are the server's bulk: the general implementation costs 4 KiB more per connection,
// and most of this room's compile time.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::net {

// Close codes (RFC 6455 section 7.4.1).
inline constexpr std::uint16_t kCloseNormal = 1000;
inline constexpr std::uint16_t kCloseGoingAway = 1001;
inline constexpr std::uint16_t kCloseProtocolError = 1002;
inline constexpr std::uint16_t kClosePolicyViolation = 1008;
inline constexpr std::uint16_t kCloseInternalError = 1011;

// Sec-WebSocket-Accept for a client's key (section 4.2.2).
std::string websocket_accept(std::string_view key);
// Whether the key is base64 of 16 bytes (section 4.2.1).
bool is_websocket_key(std::string_view key);

// Whole unmasked frames, as servers send them. Payloads of pong and ping hold at most 125 bytes; close reasons are cut
// to kCloseReasonBytesMax at a code point's edge.
std::string text_frame(std::string_view payload);
std::string ping_frame(std::string_view payload);
std::string pong_frame(std::string_view payload);
std::string close_frame(std::uint16_t code, std::string_view reason);

// Reads a client's frames from bytes split anywhere. Holds at most one control frame.
class ControlFrameReader {
 public:
  enum class Kind : std::uint8_t { Ping, Pong, Close, Data, Malformed };
  struct Frame {
    Kind kind;
    std::string payload;           // of Ping and Pong
    std::uint16_t close_code = 0;  // of Close; 0 where the frame gave none
  };

  // Takes bytes off the front of `input` until a frame is complete or input is used up. Data and Malformed are final:
  // Data is reported at its header, its payload is never read.
  std::optional<Frame> read(std::string_view& input);

 private:
  static constexpr std::size_t kHeaderBytes = 6;  // two, and the mask
  static constexpr std::size_t kPayloadBytesMax = 125;

  [[nodiscard]] std::optional<Kind> judge_header() const;
  Frame take_frame();

  std::array<char, kHeaderBytes + kPayloadBytesMax> bytes_;
  std::size_t held_ = 0;
};

}  // namespace assay::net
