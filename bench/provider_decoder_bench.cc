// How fast an answer is decoded, by wire: a long text, and a finalizer call of 64 KiB in small deltas.
#include <benchmark/benchmark.h>

#include <string>
#include <string_view>

#include "providers/wire.h"

namespace assay {
namespace {

constexpr std::size_t kDeltas = 20'000;
constexpr std::size_t kArgumentBytes = 64 * 1024;
constexpr std::string_view kWord = "certainly ";
constexpr std::size_t kPieceBytes = 16 * 1024;  // of one read

std::string replaced(std::string_view pattern, std::string_view text) {
  std::string line(pattern);
  line.replace(line.find('@'), 1, text);
  return line;
}

// What one wire says: around a text and around a call, `@` where the delta's text stands.
struct Spelling {
  std::string_view wire;
  std::string_view text_begin, text_delta, text_end;
  std::string_view call_begin, call_delta, call_end;
};
constexpr Spelling kSpellings[] = {
    {"openai_chat", "",
     R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"@"},"finish_reason":null}]})"
     "\n\n",
     "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
     "data: "
     "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\"}}]}}"
     "]}"
     "\n\n",
     R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"@"}}]},"finish_reason":null}]})"
     "\n\n",
     "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"},
    {"openai_responses",
     "data: "
     "{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"m\"}}\n\n",
     "event: response.output_text.delta\ndata: "
     R"({"type":"response.output_text.delta","sequence_number":7,"item_id":"m","output_index":0,"content_index":0,"delta":"@","logprobs":[]})"
     "\n\n",
     "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n",
     "data: "
     "{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"id\":\"i\","
     "\"call_id\":\"c\",\"name\":\"f\"}}\n\n",
     "event: response.function_call_arguments.delta\ndata: "
     R"({"type":"response.function_call_arguments.delta","sequence_number":7,"item_id":"i","output_index":0,"delta":"@"})"
     "\n\n",
     "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n"},
    {"anthropic",
     "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
     "event: content_block_delta\ndata: "
     R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"@"}})"
     "\n\n",
     "data: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: "
     "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
     "\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
     "data: "
     "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c\",\"name\":"
     "\"f\","
     "\"input\":{}}}\n\n",
     "event: content_block_delta\ndata: "
     R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"@"}})"
     "\n\n",
     "data: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: "
     "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
     "\"tool_use\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"},
};

std::string text_answer(const Spelling& wire) {
  std::string body(wire.text_begin);
  for (std::size_t i = 0; i < kDeltas; ++i) body += replaced(wire.text_delta, kWord);
  return body + std::string(wire.text_end);
}
std::string call_answer(const Spelling& wire) {
  std::string body = std::string(wire.call_begin) + replaced(wire.call_delta, R"({\"output\":\")");
  for (std::size_t bytes = 0; bytes < kArgumentBytes; bytes += kWord.size()) body += replaced(wire.call_delta, kWord);
  return body + replaced(wire.call_delta, R"(\"})") + std::string(wire.call_end);
}

void decode(benchmark::State& state, providers::Wire wire, const std::string& body) {
  providers::ProviderConfig provider;
  provider.name = "bench";
  provider.wire = wire;
  std::size_t events = 0;
  const providers::EventCallback count = [&](const providers::Event&) { ++events; };
  for (auto _ : state) {
    const auto decoder = providers::make_decoder(provider, {}, {});
    for (std::size_t at = 0; at < body.size(); at += kPieceBytes) {
      decoder->feed(std::string_view(body).substr(at, kPieceBytes), count);
    }
    if (!decoder->finish(providers::BodyEnd::Clean, count)) state.SkipWithError("the answer is none");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * body.size()));
  state.counters["events/s"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

void register_all() {
  for (const Spelling& spelling : kSpellings) {
    const auto wire = providers::parse_wire(spelling.wire);
    if (!wire) continue;
    for (const bool is_call : {false, true}) {
      const std::string name = std::string(spelling.wire) + (is_call ? "/call" : "/text");
      const std::string body = is_call ? call_answer(spelling) : text_answer(spelling);
      benchmark::RegisterBenchmark(name.c_str(), [wire, body](benchmark::State& state) {
        decode(state, *wire, body);
      })->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  assay::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
