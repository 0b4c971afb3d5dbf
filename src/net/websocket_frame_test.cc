#include "net/websocket_frame.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "net/http_server.h"

namespace assay::net {
namespace {

using Kind = ControlFrameReader::Kind;

std::string masked(unsigned char first, std::string_view payload) {
  constexpr std::string_view kMask = "\x11\x22\x33\x44";
  std::string frame;
  frame.push_back(static_cast<char>(first));
  frame.push_back(static_cast<char>(0x80 | payload.size()));
  frame.append(kMask);
  for (std::size_t i = 0; i < payload.size(); ++i) frame.push_back(static_cast<char>(payload[i] ^ kMask[i % 4]));
  return frame;
}

TEST(WebSocketHandshake, AnswersTheStandardsExample) {
  // RFC 6455 section 1.3.
  EXPECT_EQ(websocket_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocketHandshake, JudgesKeys) {
  EXPECT_TRUE(is_websocket_key("dGhlIHNhbXBsZSBub25jZQ=="));
  for (const char* key : {"", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ=x",
                          "!!!!IHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ====", "AAAAdGhlIHNhbXBsZSBub25jZQ=="}) {
    EXPECT_FALSE(is_websocket_key(key)) << key;
  }
}

TEST(WebSocketFrames, EncodeLengthsInTheShortestForm) {
  EXPECT_EQ(text_frame("hi"), "\x81\x02hi");
  EXPECT_EQ(text_frame(std::string(125, 'x')).substr(0, 2), "\x81\x7D");
  EXPECT_EQ(text_frame(std::string(126, 'x')).substr(0, 4), std::string("\x81\x7E\x00\x7E", 4));
  EXPECT_EQ(text_frame(std::string(65535, 'x')).substr(0, 4), "\x81\x7E\xFF\xFF");
  EXPECT_EQ(text_frame(std::string(65536, 'x')).substr(0, 10), std::string("\x81\x7F\0\0\0\0\0\x01\0\0", 10));
}

TEST(WebSocketFrames, CutCloseReasonsBetweenCodePoints) {
  EXPECT_EQ(close_frame(1008, "no"), "\x88\x04\x03\xF0no");
  const std::string exact(kCloseReasonBytesMax, 'x');
  EXPECT_EQ(close_frame(1000, exact + "y"), close_frame(1000, exact));
  const std::string before(kCloseReasonBytesMax - 1, 'x');
  EXPECT_EQ(close_frame(1000, before + "\xC3\xBC"), close_frame(1000, before));
}

TEST(ControlFrameReader, ReadsFramesSplitAnywhere) {
  const std::string bytes = masked(0x89, "ping") + masked(0x8A, "") +
                            masked(0x88,
                                   "\x03\xE8"
                                   "bye");
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    ControlFrameReader reader;
    std::vector<ControlFrameReader::Frame> frames;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      std::string_view piece = std::string_view(bytes).substr(at, step);
      while (auto frame = reader.read(piece)) frames.push_back(*frame);
    }
    ASSERT_EQ(frames.size(), 3u) << step;
    EXPECT_EQ(frames[0].kind, Kind::Ping);
    EXPECT_EQ(frames[0].payload, "ping");
    EXPECT_EQ(frames[1].kind, Kind::Pong);
    EXPECT_EQ(frames[1].payload, "");
    EXPECT_EQ(frames[2].kind, Kind::Close);
    EXPECT_EQ(frames[2].close_code, 1000);
  }
}

Kind kind_of(std::string_view bytes) {
  ControlFrameReader reader;
  const auto frame = reader.read(bytes);
  if (!frame) {
    ADD_FAILURE() << "no frame";
    return Kind::Pong;
  }
  return frame->kind;
}

TEST(ControlFrameReader, TakesTheLargestControlFrame) {
  EXPECT_EQ(kind_of(masked(0x89, std::string(125, 'x'))), Kind::Ping);
}

TEST(ControlFrameReader, TellsDataFromItsHeaderAlone) {
  for (const int first : {0x81, 0x82, 0x01, 0x00, 0x80}) {
    const std::string header = {static_cast<char>(first), static_cast<char>(0xFF)};
    EXPECT_EQ(kind_of(header), Kind::Data) << first;
  }
}

TEST(ControlFrameReader, RefusesWhatTheStandardForbids) {
  EXPECT_EQ(kind_of("\x89\x04ping"), Kind::Malformed) << "not masked";
  EXPECT_EQ(kind_of(masked(0xC9, "")), Kind::Malformed) << "a reserved bit";
  EXPECT_EQ(kind_of(masked(0x09, "")), Kind::Malformed) << "a fragmented control frame";
  EXPECT_EQ(kind_of("\x89\xFE"), Kind::Malformed) << "a control frame of more than 125 bytes";
  EXPECT_EQ(kind_of(masked(0x83, "")), Kind::Malformed) << "a reserved data opcode";
  EXPECT_EQ(kind_of(masked(0x8B, "")), Kind::Malformed) << "a reserved control opcode";
  EXPECT_EQ(kind_of(masked(0x88, "x")), Kind::Malformed) << "half a close code";
  EXPECT_EQ(kind_of(masked(0x88, "\x03\xED")), Kind::Malformed) << "1005 never stands in a frame";
}

TEST(ControlFrameReader, AcceptsACloseWithoutACode) { EXPECT_EQ(kind_of(masked(0x88, "")), Kind::Close); }

}  // namespace
}  // namespace assay::net
