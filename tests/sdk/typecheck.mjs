// typecheck.mjs MODULES GOLDEN [--break]: compiles each golden request as a value of the vendor's request type. With
// --break each is first made wrong in one place, and must be refused.
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { tmpdir } from 'node:os';

const [modules, golden, flag] = process.argv.slice(2);
const wires = {
  openai_chat: {
    type: `import type { ChatCompletionCreateParamsStreaming as Request } from 'openai/resources/chat/completions';`,
    broken: [[/"role":"tool"/, '"role":"tools"'], [/"strict":false/, '"strict":"no"'], [/"type":"image_url"/, '"type":"image"']],
  },
  openai_responses: {
    type: `import type { ResponseCreateParamsStreaming as Request } from 'openai/resources/responses/responses';`,
    broken: [[/"type":"function_call_output"/, '"type":"function_output"'], [/,"strict":false/, ''],
      [/"detail":"auto"/, '"detail":"whole"'], [/"store":false/, '"stored":false'], [/"summary":\[/, '"summaries":[']],
  },
  anthropic: {
    type: `import type { MessageCreateParamsStreaming as Request } from '@anthropic-ai/sdk/resources/messages';`,
    broken: [[/"type":"tool_result"/, '"type":"tool_output"'], [/"signature":"[^"]*"/, '"signature":7'],
      [/"input_schema":/, '"schema":']],
  },
};

const folder = mkdtempSync(join(tmpdir(), 'assay-types-'));
try {
  symlinkSync(join(modules, 'node_modules'), join(folder, 'node_modules'));
  const expected = [];
  for (const file of readdirSync(golden)) {
    const name = file.replace(/\.json$/, '');
    const wire = wires[name];
    if (!wire) throw new Error(`no vendor's type is known for ${file}`);
    const request = readFileSync(join(golden, file), 'utf8');
    const texts = flag === '--break' ? wire.broken.map(([from, to]) => {
      if (!from.test(request)) throw new Error(`${file} holds no ${from}`);
      return request.replace(from, to);
    }) : [request];
    texts.forEach((text, i) => {
      writeFileSync(join(folder, `${name}_${i}.ts`), `${wire.type}\nexport const request: Request = ${text};\n`);
      expected.push(`${name}_${i}.ts`);
    });
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({
    compilerOptions: { strict: true, noEmit: true, skipLibCheck: true, module: 'nodenext', moduleResolution: 'nodenext',
      target: 'es2022', lib: ['es2022', 'dom'], types: [] }, include: ['*.ts'] }));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  let output = '';
  try {
    execFileSync(process.execPath, [join(modules, 'node_modules/typescript/bin/tsc'), '--pretty', 'false', '-p', folder],
      { cwd: folder, encoding: 'utf8' });
  } catch (error) {
    output = `${error.stdout ?? ''}${error.stderr ?? ''}`;
    if (!output) throw error;
  }
  const refused = expected.filter((name) => output.includes(name));
  const wrong = flag === '--break' ? expected.filter((name) => !refused.includes(name)) : refused;
  const isClean = flag === '--break' ? wrong.length === 0 : output === '';
  if (!isClean) console.error(flag === '--break' ? `not refused: ${wrong.join(', ')}\n${output}` : output);
  if (expected.length === 0) throw new Error('there is no golden request');
  console.log(`${expected.length} requests, ${refused.length} refused`);
  process.exitCode = isClean ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
