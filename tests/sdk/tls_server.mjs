// tls_server.mjs FOLDER: one Chat Completions answer over TLS, HTTP/2 where the client speaks it; says what it has seen.
import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { join } from 'node:path';

const folder = process.argv[2];
const server = createSecureServer({
  key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(join(folder, 'cert.pem')), allowHTTP1: true,
}, (request, response) => {
  request.resume();
  request.on('end', () => {
    const { 'openai-organization': organization, 'openai-project': project, 'x-title': title } = request.headers;
    const content = `over HTTP/${request.httpVersion} for ${organization}, ${project}, ${title}`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
    response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
  });
});
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
