// official_clients.mjs MODULES BASE_URL WIRE: the vendor's client talks to the simulator, streamed and not.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [modules, baseURL, wire] = process.argv.slice(2);
const require = createRequire(join(modules, 'package.json'));
const parameters = { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } } };

// Each wire says the same in its own words: what came back, and how it ended.
const openaiChat = () => {
  const { OpenAI } = require('openai');
  const client = new OpenAI({ apiKey: 'sk-x', baseURL, maxRetries: 0 });
  const tools = [{ type: 'function', function: { name: 'add', parameters } }];
  const read = (completion) => {
    const { message, finish_reason } = completion.choices[0];
    return { text: message.content ?? '', refusal: message.refusal ?? '', end: finish_reason, usage: completion.usage,
      calls: (message.tool_calls ?? []).map((c) => [c.function.name, c.function.arguments]), message };
  };
  const request = (messages) => ({ model: 'assay-sim', messages, tools });
  return {
    errors: OpenAI,
    ask: async (messages) => read(await client.chat.completions.create(request(messages))),
    stream: async (messages) => {
      let text = '';
      const runner = client.chat.completions.stream({ ...request(messages), stream_options: { include_usage: true } });
      runner.on('content', (delta) => { text += delta; });
      const answer = read(await runner.finalChatCompletion());
      assert.equal(text, answer.text);
      return answer;
    },
    results: (messages, answer) => [...messages, answer.message,
      ...answer.message.tool_calls.map((c) => ({ role: 'tool', tool_call_id: c.id, content: '3' }))],
    ends: { text: 'stop', calls: 'tool_calls', refused: 'stop', cut: 'length' },
  };
};

const openaiResponses = () => {
  const { OpenAI } = require('openai');
  const client = new OpenAI({ apiKey: 'sk-x', baseURL, maxRetries: 0 });
  const tools = [{ type: 'function', name: 'add', parameters, strict: false }];
  const read = (response) => ({
    text: response.output_text,
    refusal: response.output.flatMap((i) => i.content ?? []).filter((p) => p.type === 'refusal').map((p) => p.refusal).join(''),
    end: response.incomplete_details?.reason ?? response.status, usage: response.usage,
    calls: response.output.filter((i) => i.type === 'function_call').map((i) => [i.name, i.arguments]), output: response.output,
  });
  const request = (input) => ({ model: 'assay-sim', input, tools, store: false, include: ['reasoning.encrypted_content'] });
  return {
    errors: OpenAI,
    ask: async (input) => read(await client.responses.create(request(input))),
    stream: async (input) => {
      let text = '';
      const stream = client.responses.stream(request(input));
      stream.on('response.output_text.delta', (event) => { text += event.delta; });
      const answer = read(await stream.finalResponse());
      assert.equal(text, answer.text);
      return answer;
    },
    results: (input, answer) => [...input, ...answer.output,
      ...answer.output.filter((i) => i.type === 'function_call')
        .map((i) => ({ type: 'function_call_output', call_id: i.call_id, output: '3' }))],
    ends: { text: 'completed', calls: 'completed', refused: 'completed', cut: 'max_output_tokens' },
  };
};

const anthropicMessages = () => {
  const { Anthropic } = require('@anthropic-ai/sdk');
  const client = new Anthropic({ apiKey: 'sk-x', baseURL: baseURL.replace(/\/v1$/, ''), maxRetries: 0 });
  const tools = [{ name: 'add', input_schema: parameters }];
  const read = (message) => ({
    text: message.content.filter((b) => b.type === 'text').map((b) => b.text).join(''),
    refusal: message.stop_reason === 'refusal' ? 'I will not.' : '', end: message.stop_reason, usage: message.usage,
    calls: message.content.filter((b) => b.type === 'tool_use').map((b) => [b.name, JSON.stringify(b.input)]), content: message.content,
  });
  const request = (messages) => ({ model: 'assay-sim', max_tokens: 2000, messages, tools,
    thinking: { type: 'enabled', budget_tokens: 1024 } });
  return {
    errors: Anthropic,
    ask: async (messages) => read(await client.messages.create(request(messages))),
    stream: async (messages) => read(await client.messages.stream(request(messages)).finalMessage()),
    results: (messages, answer) => [...messages, { role: 'assistant', content: answer.content },
      { role: 'user', content: answer.content.filter((b) => b.type === 'tool_use')
        .map((b) => ({ type: 'tool_result', tool_use_id: b.id, content: '3' })) }],
    ends: { text: 'end_turn', calls: 'tool_use', refused: 'refusal', cut: 'max_tokens' },
  };
};

const wires = { openai_chat: openaiChat, openai_responses: openaiResponses, anthropic: anthropicMessages };
const peer = wires[wire]();
const user = (content) => [{ role: 'user', content }];
for (const way of ['ask', 'stream']) {
  const hello = await peer[way](user('say hello'));
  assert.equal(hello.text, 'Hello there');
  assert.equal(hello.end, peer.ends.text);
  assert.ok(hello.usage, 'usage came');

  const called = await peer[way](user('use the tool'));
  assert.deepEqual(called.calls, [['add', '{"a":1,"b":2}'], ['add', '{"a":3}']]);
  assert.equal(called.end, peer.ends.calls);
  const after = await peer[way](peer.results(user('use the tool'), called));
  assert.equal(after.text, 'It is three.');

  const refused = await peer[way](user('refuse'));
  assert.equal(refused.refusal, 'I will not.');
  assert.equal(refused.end, peer.ends.refused);

  const cut = await peer[way](user('go on for ever'));
  assert.equal(cut.end, peer.ends.cut);

  await assert.rejects(peer[way](user('slow down')), peer.errors.RateLimitError);
  await assert.rejects(peer[way](user('bad key')), peer.errors.AuthenticationError);
}
await assert.rejects(peer.stream(user('break off')));
console.log(`${wire}: understood`);
