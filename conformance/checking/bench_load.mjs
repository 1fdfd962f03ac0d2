// Loads one stored log with the published JSONL backend, and prints how long load() took, in seconds.

import { createRequire } from 'node:module';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, file, id, cwd] = process.argv.slice(2);
const require = createRequire(join(folder, 'package.json'));
const load = (specifier) => import(pathToFileURL(require.resolve(specifier)).href);

const { Context } = await load('@deepseek-ai/cordis');
const { SessionStore } = await load('@deepseek-ai/dsh-session');
const { JsonlSessionPersistence } = await load('@deepseek-ai/dsh-session-persistence-jsonl');

const root = await mkdtemp(join(tmpdir(), 'check-bench-'));
try {
  const context = new Context();
  await context.plugin(SessionStore);
  const backend = new JsonlSessionPersistence(context, { root, compression: 'none' });
  const { path } = backend.locate({ id, cwd });
  await mkdir(dirname(path), { recursive: true });
  await copyFile(file, path);
  const before = process.cpuUsage();
  const began = performance.now();
  const { events } = await backend.load(id);
  const took = performance.now() - began;
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ seconds: took / 1000, cpu: (user + system) / 1e6, events: events.length }));
} finally {
  await rm(root, { recursive: true, force: true });
}
