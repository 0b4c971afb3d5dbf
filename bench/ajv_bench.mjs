// Measures ajv's compiled functions: ajv_bench.mjs MODULES SET, where SET holds schema.json and documents.jsonl. Prints one
// JSON object of CPU nanoseconds a document, and a schema. The functions are warm, each document is seen many times.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [modules, set] = process.argv.slice(2);
const Ajv = createRequire(resolve(modules, 'package.json'))('ajv').default;
// Formats are not asserted, which spares it work that assay does.
const options = { strict: false, validateFormats: false, addUsedSchema: false, logger: false };
const schemaText = readFileSync(join(set, 'schema.json'), 'utf8');
const texts = readFileSync(join(set, 'documents.jsonl'), 'utf8').trimEnd().split('\n');
const validate = new Ajv(options).compile(JSON.parse(schemaText));

let sink = 0;
function cpuNanoseconds(run, leastMs) {
  let calls = 0;
  const wallStart = performance.now();
  const start = process.cpuUsage();
  do {
    run();
    calls += 1;
  } while (performance.now() - wallStart < leastMs);
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1000) / calls;
}

function measure(run) {
  cpuNanoseconds(run, 150); // warm
  return cpuNanoseconds(run, 250) / texts.length;
}

// From bytes, as they come from a socket or a file.
const bytes = texts.map((text) => Buffer.from(text));
const both = measure(() => {
  for (const document of bytes) sink += validate(JSON.parse(document.toString('utf8'))) ? 1 : 0;
});
const values = texts.map((text) => JSON.parse(text));
const alone = measure(() => {
  for (const value of values) sink += validate(value) ? 1 : 0;
});
const ajv = new Ajv(options);
const compile = cpuNanoseconds(() => ajv.compile(JSON.parse(schemaText)), 300);
console.log(JSON.stringify({ 'parse+validate': both, validate: alone, compile, sink: sink > 0 }));
