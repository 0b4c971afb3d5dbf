// Judges lines {"schema": ..., "instances": [...]} from standard input with ajv, one line of letters each: V valid,
// I invalid, E an error while validating; C alone where the schema does not compile. The argument names the folder with
// node_modules.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { resolve } from 'node:path';

const Ajv = createRequire(resolve(process.argv[2], 'package.json'))('ajv').default;
// Formats are compared by the official suite; strict mode is about style, not about validity.
const options = { strict: false, validateFormats: false, validateSchema: false, addUsedSchema: false, logger: false };

function judge(validate, instance) {
  try {
    return validate(instance) ? 'V' : 'I';
  } catch {
    return 'E';
  }
}

let ajv = new Ajv(options);
let compiled = 0;
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { schema, instances } = JSON.parse(line);
  if (++compiled % 500 === 0) ajv = new Ajv(options); // it keeps every schema
  let validate;
  try {
    validate = ajv.compile(schema);
  } catch {
    console.log('C');
    continue;
  }
  console.log(instances.map((instance) => judge(validate, instance)).join(''));
}
