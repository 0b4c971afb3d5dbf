#include "providers/anthropic_decoder.h"
#include "split_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return assay::fuzz::check_any_cut(data, size, [] {
    assay::providers::AnthropicDecoder::Options options;
    options.provider = "fuzz";
    return assay::providers::AnthropicDecoder(std::move(options));
  });
}
