// Puts an installed @deepseek-ai/dsh-session under test: conformance protocol 1 over stdin and stdout.
// Use: node dsh_adapter.mjs PACKAGE_DIR TEXTS_FILE
//   PACKAGE_DIR  the folder that holds node_modules
//   TEXTS_FILE   JSON: {"conditions": [{"condition": NAME, "texts": [TEMPLATE, ...]}, ...]}

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { admissionOperations } from './admission_operations.mjs';
import { answerLine, capabilitiesOf } from './answers.mjs';
import { chunkOperations } from './chunk_operations.mjs';
import { headerOperations } from './header_operations.mjs';
import { jsonlOperations } from './jsonl_operations.mjs';
import { knownTexts } from './known_texts.mjs';
import { serveLines } from './line_server.mjs';
import { liveOperations } from './live_operations.mjs';
import { loadOperations } from './load_operations.mjs';
import { repairOperations } from './repair_operations.mjs';
import { PUBLISHED_BACKEND, publishedBackend } from './published_backend.mjs';
import { surfaceOperations } from './surface_operations.mjs';

const PACKAGE = '@deepseek-ai/dsh-session';

/** One module per area; each gives its operations as [name, {run, locate?, variant?: {member, values}}]. */
const AREAS = [
  surfaceOperations,
  liveOperations,
  repairOperations,
  chunkOperations,
  headerOperations,
  admissionOperations,
  jsonlOperations,
  loadOperations,
  publishedBackend,
];

/** Capabilities that are no operation; spec/protocol.md says what each of them is. */
const BESIDE_OPERATIONS = ['isolation', 'text', 'seed'];

async function start([packageDir, textsFile]) {
  if (textsFile === undefined) throw new Error('two arguments are needed: PACKAGE_DIR TEXTS_FILE');
  const conditionOf = knownTexts(JSON.parse(readFileSync(textsFile, 'utf8')));
  const require = createRequire(resolve(packageDir, 'package.json'));
  const load = (specifier) => import(pathToFileURL(require.resolve(specifier)));
  const manifest = require(`${PACKAGE}/package.json`);

  const operations = (await Promise.all(AREAS.map((area) => area(load, conditionOf)))).flat();
  const hello = {
    protocol: 1,
    implementation: {
      name: PACKAGE,
      version: manifest.version,
      language: 'JavaScript',
      url: manifest.repository?.url?.replace(/^git\+|\.git$/g, ''),
    },
    capabilities: [
      ...capabilitiesOf(operations),
      ...BESIDE_OPERATIONS,
      ...(operations.some(([name]) => name === 'backend') ? PUBLISHED_BACKEND : []),
    ],
    editions: ['v0'],
  };
  const adapter = { operations: new Map(operations), conditionOf, hello };
  console.log = console.info = console.debug = console.error; // stdout carries answers only
  Error.stackTraceLimit = 0; // nobody sees the traces, and refusals are frequent
  serveLines((line) => answerLine(line, adapter));
}

try {
  await start(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`dsh adapter: cannot start: ${error.message.split('\n', 1)[0]}\n`);
  process.exit(2);
}
