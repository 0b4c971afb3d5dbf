#include "json/kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::json {
namespace {

// One bit for each byte of a block, the lowest for the first.
struct Classes {
  std::uint64_t quote;
  std::uint64_t backslash;
  std::uint64_t structural;  // {}[]:,
  std::uint64_t space;
  std::uint64_t control;  // below U+0020
  std::uint64_t high;     // beyond ASCII
};

// Which backslashes escape what follows them: of each run the first, the third, and so on.
[[gnu::always_inline]] inline std::uint64_t escapes(std::uint64_t backslash) {
  constexpr std::uint64_t kEven = 0x5555'5555'5555'5555;
  const std::uint64_t first = backslash & ~(backslash << 1);
  // Adding its first bit to a run clears the run.
  const std::uint64_t from_even = backslash & ~(backslash + (first & kEven));
  return (from_even & kEven) | (backslash & ~from_even & ~kEven);
}

// Each bit the parity of those up to it.
[[gnu::always_inline]] inline std::uint64_t prefix_parity(std::uint64_t bits) {
  for (int distance = 1; distance < 64; distance *= 2) bits ^= bits << distance;
  return bits;
}

// The quotes that open or close strings; the rest of a block's work has to wait for them.
[[gnu::always_inline]] inline std::uint64_t quotes_of(const Classes& block, std::uint64_t& escape, BlockState& state) {
  escape = 0;
  // Where it is predicted that there is none, no block waits for the one before.
  if ((block.backslash | state.escape) == 0) [[likely]]
    return block.quote;
  escape = escapes(block.backslash & ~state.escape);
  const std::uint64_t quotes = block.quote & ~(escape << 1 | state.escape);
  state.escape = escape >> 63;
  return quotes;
}

// Where tokens begin. `parity`: that of the quotes.
[[gnu::always_inline]] inline std::uint64_t tokens_of(const Classes& block, std::uint64_t quotes, std::uint64_t parity,
                                                      std::uint64_t escape, BlockState& state) {
  // An opening quote belongs to it, a closing one does not.
  const std::uint64_t in_string = parity ^ state.in_string;
  state.in_string = -(in_string >> 63);
  state.controls |= block.control & in_string;
  state.high |= block.high;
  const std::uint64_t scalar = ~(block.structural | block.space | in_string | quotes);
  const std::uint64_t begins_scalar = scalar & ~(scalar << 1 | state.scalar);
  state.scalar = scalar >> 63;
  return (block.structural & ~in_string) | quotes | (escape & in_string) | begins_scalar;
}

[[gnu::always_inline]] inline std::uint32_t* write_tokens(std::uint64_t bits, std::uint32_t offset,
                                                          std::uint32_t* tokens) {
  if (bits == 0) return tokens;
  std::uint32_t* const end = tokens + std::popcount(bits);
  // Eight at a time, as their number is hard to predict.
  do {
    for (int i = 0; i < 8; ++i, bits &= bits - 1) {
      *tokens++ = offset + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
  } while (tokens < end);
  return end;
}

// Vectors of the language; the compiler maps them to those of the target.
using Bytes [[gnu::vector_size(kBlockBytes)]] = unsigned char;

[[gnu::always_inline]] inline void load(Bytes& bytes, const char* p) { std::memcpy(&bytes, p, sizeof bytes); }

// Adds to `faults` where the block at `p` does not go on from what precedes it (Unicode 15, table 3-7). Requires: three
// bytes before `p` can be read.
[[gnu::always_inline]] inline void find_faults(const char* p, Bytes& faults) {
  Bytes bytes;
  Bytes before;
  Bytes second_before;
  Bytes third_before;
  load(bytes, p);
  load(before, p - 1);
  load(second_before, p - 2);
  load(third_before, p - 3);
  // A continuation byte stands exactly where a lead byte one, two or three places before asks for one.
  const auto continues = (bytes & 0xC0) == 0x80;
  const auto asked = (before >= 0xC0) | (second_before >= 0xE0) | (third_before >= 0xF0);
  const auto never = ((bytes & 0xFE) == 0xC0) | (bytes >= 0xF5);
  // Second bytes with a range of their own: overlong forms, surrogates, beyond U+10FFFF. Below A0 none may follow E0,
  // from there on none ED; below 90 none F0, from there on none F4.
  const auto three = (before ^ (reinterpret_cast<Bytes>(bytes >= 0xA0) & (0xE0 ^ 0xED))) == 0xE0;
  const auto four = (before ^ (reinterpret_cast<Bytes>(bytes >= 0x90) & (0xF0 ^ 0xF4))) == 0xF0;
  faults |= reinterpret_cast<Bytes>((continues ^ asked) | never | three | four);
}

[[gnu::always_inline]] inline bool has_no_fault(std::string_view text) {
  // The first and the last bytes are read from between zeros.
  std::array<char, 3 + kBlockBytes> edge{};
  std::size_t at = std::min(text.size(), kBlockBytes);
  std::copy_n(text.data(), at, edge.data() + 3);
  Bytes faults{};
  find_faults(edge.data() + 3, faults);
  if (at == kBlockBytes) {
    for (; at + kBlockBytes <= text.size(); at += kBlockBytes) find_faults(text.data() + at, faults);
    edge = {};
    std::memcpy(edge.data(), text.data() + at - 3, text.size() - at + 3);
    find_faults(edge.data() + 3, faults);
  }
  std::array<std::uint64_t, kBlockBytes / 8> words;
  std::memcpy(words.data(), &faults, sizeof faults);
  std::uint64_t any = 0;
  for (const std::uint64_t word : words) any |= word;
  return any == 0;
}

// The incomplete block at the end of a text, filled up with white space.
struct LastBlock {
  LastBlock(const char* from, std::size_t size) {
    std::memset(bytes, ' ', sizeof bytes);
    std::memcpy(bytes, from, size);
  }
  char bytes[kBlockBytes];
};

// Any processor.

[[gnu::always_inline]] inline std::uint64_t mask(const Bytes& all_or_no_bits) {
  static_assert(std::endian::native == std::endian::little);
  std::array<std::uint64_t, 8> words;
  std::memcpy(words.data(), &all_or_no_bits, sizeof words);
  std::uint64_t bits = 0;
  // The product gathers the lowest bits of eight bytes in its highest byte.
  for (std::size_t i = 0; i < 8; ++i) {
    bits |= ((words[i] & 0x0101'0101'0101'0101) * 0x0102'0408'1020'4080 >> 56) << 8 * i;
  }
  return bits;
}

std::uint32_t* find_tokens(BlockState& shared_state, const char* from, char* to, std::size_t bytes,
                           std::uint32_t offset, std::uint32_t* tokens) {
  BlockState state = shared_state;
  const auto read_block = [&](const char* block, char* copy) __attribute__((always_inline)) {
    Bytes v;
    load(v, block);
    if (copy != nullptr) std::memcpy(copy, &v, sizeof v);
    const auto is = [](const auto& comparison) { return mask(reinterpret_cast<Bytes>(comparison)); };
    const Classes classes = {
        .quote = is(v == '"'),
        .backslash = is(v == '\\'),
        .structural = is(((v | 0x20) == '{') | ((v | 0x20) == '}') | (v == ':') | (v == ',')),
        .space = is((v == ' ') | (v == '\n') | (v == '\t') | (v == '\r')),
        .control = is(v < 0x20),
        .high = is(v >= 0x80),
    };
    std::uint64_t escape;
    const std::uint64_t quotes = quotes_of(classes, escape, state);
    tokens = write_tokens(tokens_of(classes, quotes, prefix_parity(quotes), escape, state), offset, tokens);
    offset += kBlockBytes;
  };
  std::size_t at = 0;
  for (; at + kBlockBytes <= bytes; at += kBlockBytes) read_block(from + at, to == nullptr ? nullptr : to + at);
  if (at < bytes) {
    const LastBlock last(from + at, bytes - at);
    read_block(last.bytes, nullptr);
    if (to != nullptr) std::memcpy(to + at, last.bytes, bytes - at);
  }
  shared_state = state;
  return tokens;
}

bool is_utf8(std::string_view text) { return has_no_fault(text); }

#if defined(__x86_64__)

[[gnu::target("pclmul"), gnu::always_inline]] inline std::uint64_t prefix_parity_clmul(std::uint64_t bits) {
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(bits)), _mm_set1_epi8(-1), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

#define ASSAY_AVX2 target("avx2,bmi,popcnt,pclmul")

// Bits of a class byte, so chosen that each is a set of low halves combined with a set of high ones.
enum : char {
  kQuote = 1,
  kBackslash = 2,
  kComma = 4,
  kColon = 8,
  kBracket = 16,
  kBlank = 32,
  kLineEnd = 64,  // and the tab
  kControl = -128,
};

[[gnu::ASSAY_AVX2, gnu::always_inline]] inline std::uint64_t mask_avx2(__m256i low, __m256i high) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(low)) | static_cast<std::uint64_t>(_mm256_movemask_epi8(high))
                                                                     << 32;
}

// Which bytes have one of the bits, kControl aside.
[[gnu::ASSAY_AVX2, gnu::always_inline]] inline std::uint64_t any_bit_avx2(__m256i low, __m256i high, char bits) {
  const __m256i wanted = _mm256_set1_epi8(bits);
  const __m256i zero = _mm256_setzero_si256();
  return mask_avx2(_mm256_cmpgt_epi8(_mm256_and_si256(low, wanted), zero),
                   _mm256_cmpgt_epi8(_mm256_and_si256(high, wanted), zero));
}

[[gnu::ASSAY_AVX2, gnu::always_inline]] inline std::uint64_t equal_avx2(__m256i low, __m256i high, char c) {
  return mask_avx2(_mm256_cmpeq_epi8(low, _mm256_set1_epi8(c)), _mm256_cmpeq_epi8(high, _mm256_set1_epi8(c)));
}

[[gnu::ASSAY_AVX2, gnu::always_inline]] inline __m256i class_bytes_avx2(__m256i bytes) {
  constexpr char kAny = kControl;
  const __m256i by_low_half = _mm256_broadcastsi128_si256(_mm_setr_epi8(
      kBlank | kAny, kAny, kQuote | kAny, kAny, kAny, kAny, kAny, kAny, kAny, kLineEnd | kAny, kColon | kLineEnd | kAny,
      kBracket | kAny, kBackslash | kComma | kAny, kBracket | kLineEnd | kAny, kAny, kAny));
  const __m256i by_high_half =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(kLineEnd | kControl, kControl, kQuote | kComma | kBlank, kColon, 0,
                                                kBackslash | kBracket, 0, kBracket, 0, 0, 0, 0, 0, 0, 0, 0));
  const __m256i high_half = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
  return _mm256_and_si256(_mm256_shuffle_epi8(by_low_half, bytes), _mm256_shuffle_epi8(by_high_half, high_half));
}

[[gnu::ASSAY_AVX2]] std::uint32_t* find_tokens_avx2(BlockState& shared_state, const char* from, char* to,
                                                    std::size_t bytes, std::uint32_t offset, std::uint32_t* tokens) {
  BlockState state = shared_state;
  const auto read_block = [&](const char* block, char* copy) __attribute__((ASSAY_AVX2, always_inline)) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + 32));
    if (copy != nullptr) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(copy), low);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(copy + 32), high);
    }
    const __m256i low_classes = class_bytes_avx2(low);
    const __m256i high_classes = class_bytes_avx2(high);
    const Classes classes = {
        .quote = equal_avx2(low, high, '"'),
        .backslash = equal_avx2(low, high, '\\'),
        .structural = any_bit_avx2(low_classes, high_classes, kComma | kColon | kBracket),
        .space = any_bit_avx2(low_classes, high_classes, kBlank | kLineEnd),
        .control = mask_avx2(low_classes, high_classes),
        .high = mask_avx2(low, high),
    };
    std::uint64_t escape;
    const std::uint64_t quotes = quotes_of(classes, escape, state);
    tokens = write_tokens(tokens_of(classes, quotes, prefix_parity_clmul(quotes), escape, state), offset, tokens);
    offset += kBlockBytes;
  };
  std::size_t at = 0;
  for (; at + kBlockBytes <= bytes; at += kBlockBytes) read_block(from + at, to == nullptr ? nullptr : to + at);
  if (at < bytes) {
    const LastBlock last(from + at, bytes - at);
    read_block(last.bytes, nullptr);
    if (to != nullptr) std::memcpy(to + at, last.bytes, bytes - at);
  }
  shared_state = state;
  return tokens;
}

[[gnu::ASSAY_AVX2]] bool is_utf8_avx2(std::string_view text) { return has_no_fault(text); }

#define ASSAY_AVX512 target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi,popcnt,pclmul")

[[gnu::ASSAY_AVX512, gnu::always_inline]] inline std::uint32_t* write_tokens_avx512(std::uint64_t bits,
                                                                                    std::uint32_t offset,
                                                                                    std::uint32_t* tokens) {
  alignas(kBlockBytes) static constexpr auto kPlaces = [] {
    std::array<std::uint8_t, kBlockBytes> places{};
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::uint8_t>(i);
    return places;
  }();
  if (bits == 0) return tokens;
  const __m512i places = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(kPlaces.data()));
  const __m512i first = _mm512_set1_epi32(static_cast<int>(offset));
  const int count = std::popcount(bits);
  _mm512_storeu_si512(tokens, _mm512_add_epi32(first, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(places))));
  if (count > 16) [[unlikely]] {
    _mm512_storeu_si512(tokens + 16,
                        _mm512_add_epi32(first, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(places, 1))));
    if (count > 32) {
      _mm512_storeu_si512(tokens + 32,
                          _mm512_add_epi32(first, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(places, 2))));
    }
    if (count > 48) {
      _mm512_storeu_si512(tokens + 48,
                          _mm512_add_epi32(first, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(places, 3))));
    }
  }
  return tokens + count;
}

[[gnu::ASSAY_AVX512]] std::uint32_t* find_tokens_avx512(BlockState& shared_state, const char* from, char* to,
                                                        std::size_t bytes, std::uint32_t offset,
                                                        std::uint32_t* tokens) {
  // The class of each ASCII character.
  alignas(kBlockBytes) static constexpr auto kClasses = [] {
    std::array<char, 128> classes{};
    for (std::size_t c = 0; c < 0x20; ++c) classes[c] = kControl;
    for (const char c : {' ', '\n', '\t', '\r'}) classes[static_cast<std::size_t>(c)] |= kBlank;
    for (const char c : {'{', '}', '[', ']', ':', ','}) classes[static_cast<std::size_t>(c)] = kBracket;
    classes['"'] = kQuote;
    classes['\\'] = kBackslash;
    return classes;
  }();
  const __m512i front = _mm512_load_si512(kClasses.data());
  const __m512i back = _mm512_load_si512(kClasses.data() + 64);
  BlockState state = shared_state;
  const auto read_block = [&](__m512i block) __attribute__((ASSAY_AVX512, always_inline)) {
    const __mmask64 high = _mm512_movepi8_mask(block);
    const __m512i bits = _mm512_maskz_permutex2var_epi8(~high, front, block, back);
    const Classes classes = {
        .quote = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(kQuote)),
        .backslash = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(kBackslash)),
        .structural = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(kBracket)),
        .space = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(kBlank)),
        .control = _mm512_movepi8_mask(bits),
        .high = high,
    };
    std::uint64_t escape;
    const std::uint64_t quotes = quotes_of(classes, escape, state);
    tokens =
        write_tokens_avx512(tokens_of(classes, quotes, prefix_parity_clmul(quotes), escape, state), offset, tokens);
    offset += kBlockBytes;
  };
  std::size_t at = 0;
  for (; at + kBlockBytes <= bytes; at += kBlockBytes) {
    const __m512i block = _mm512_loadu_si512(from + at);
    if (to != nullptr) _mm512_storeu_si512(to + at, block);
    read_block(block);
  }
  if (at < bytes) {
    const __mmask64 rest = (__mmask64{1} << (bytes - at)) - 1;
    const __m512i block = _mm512_mask_loadu_epi8(_mm512_set1_epi8(' '), rest, from + at);
    if (to != nullptr) _mm512_mask_storeu_epi8(to + at, rest, block);
    read_block(block);
  }
  shared_state = state;
  return tokens;
}

[[gnu::ASSAY_AVX512]] bool is_utf8_avx512(std::string_view text) { return has_no_fault(text); }

#endif

}  // namespace

std::span<const Kernel> kernels() {
  static constexpr Kernel kAll[] = {
#if defined(__x86_64__)
      {"avx512", find_tokens_avx512, is_utf8_avx512},
      {"avx2", find_tokens_avx2, is_utf8_avx2},
#endif
      {"portable", find_tokens, is_utf8},
  };
  static const std::size_t first_usable = [] {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool has_shared =
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("pclmul");
    if (has_shared && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512vbmi2"))
      return 0;
    return has_shared && __builtin_cpu_supports("avx2") ? 1 : 2;
#else
    return 0;
#endif
  }();
  return std::span(kAll).subspan(first_usable);
}

}  // namespace assay::json
