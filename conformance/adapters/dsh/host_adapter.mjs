// Hosts a session persistence plugin of DeepSeek Harness: conformance protocol 1 over stdin and stdout.
// Use: node host_adapter.mjs FOLDER MODULE CONFIG STORAGE TEXTS_FILE
//   FOLDER      where MODULE is looked for: the folder that holds node_modules, or the plugin's project
//   MODULE      the plugin: a package name, or the path of a module, from FOLDER
//   CONFIG      JSON: its configuration, in which {root} stands for the folder of the store
//   STORAGE     capabilities that say what the store keeps on disk, with commas between them; may be empty
//   TEXTS_FILE  as for dsh_adapter.mjs

import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as zlib from 'node:zlib';

import { answerLine, capabilitiesOf } from './answers.mjs';
import { backendOperations } from './backend_operations.mjs';
import { knownTexts } from './known_texts.mjs';
import { serveLines } from './line_server.mjs';

/** What the runtime offers beside reading and writing. */
const BESIDE_OPERATIONS = ['backend.borrowed', 'backend.live', 'backend.signal'];

/** @returns {string} the file of the plugin. */
function fileOf(folder, module) {
  if (isAbsolute(module) || module.startsWith('.')) return realpathSync(resolve(folder, module));
  return createRequire(resolve(folder, 'package.json')).resolve(module);
}

/** @returns {Record<string, unknown>} the manifest of the package that a file belongs to, if any. */
function manifestOf(file) {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, 'package.json');
    if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'));
  }
  return {};
}

async function start([folder, module, config, storage, textsFile]) {
  if (textsFile === undefined) {
    throw new Error('five arguments are needed: FOLDER MODULE CONFIG STORAGE TEXTS_FILE');
  }
  if (typeof zlib.zstdCompress !== 'function') {
    const told = `hosting a plugin needs Node 22.15 or newer, and this is ${process.version}`;
    throw new Error(`${told}; name a node program in SESSION_CONFORMANCE_NODE`);
  }
  const conditionOf = knownTexts(JSON.parse(readFileSync(textsFile, 'utf8')));
  const file = fileOf(folder, module);
  // The runtime has to be the one that the plugin itself imports: its classes are compared by identity.
  const require = createRequire(file);
  const load = (specifier) => import(pathToFileURL(require.resolve(specifier)));
  const { Context } = await load('@deepseek-ai/cordis');
  const { SessionStore } = await load('@deepseek-ai/dsh-session');
  const { default: plugin } = await import(pathToFileURL(file));
  if (plugin === undefined) throw new Error(`${module} has no default export, which has to be the plugin`);

  const operations = backendOperations({ Context, SessionStore, plugin, config: JSON.parse(config) }, conditionOf);
  const { name = module, version } = manifestOf(file);
  const hello = {
    protocol: 1,
    implementation: { name, version, language: 'JavaScript' },
    capabilities: [
      ...capabilitiesOf(operations),
      ...BESIDE_OPERATIONS,
      ...storage.split(',').filter((word) => word !== ''),
    ],
    editions: ['v0'],
  };
  const adapter = { operations: new Map(operations), conditionOf, hello };
  console.log = console.info = console.debug = console.error; // stdout carries answers only
  serveLines((line) => answerLine(line, adapter));
}

try {
  await start(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`host adapter: cannot start: ${error.message.split('\n', 1)[0]}\n`);
  process.exit(2);
}
