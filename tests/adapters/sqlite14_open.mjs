// The published SQLite store of schema 14, asked whether it opens a database. Arguments: FOLDER with node_modules.
//
// The store opens its file when its plugin starts; the first read waits for that and tells what went wrong.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.argv[2], 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { Context } = await load('@deepseek-ai/cordis');
const { SessionStore } = await load('@deepseek-ai/dsh-session');
const plugin = (await load('@deepseek-ai/dsh-session-persistence-sqlite')).default;

const HELLO = {
  protocol: 1,
  implementation: { name: 'published SQLite store', language: 'JavaScript' },
  capabilities: ['sqlite.open@14'],
  editions: ['v0'],
};

async function open(path) {
  const context = new Context();
  try {
    await context.plugin(SessionStore);
    await context.plugin(plugin, { path });
    const store = context.sessionPersistence;
    await store.ready;
    await store.close();
    return { result: { opened: true } };
  } catch (error) {
    // It asks an identity for its length. Of a null that breaks, and the store is not opened all the same.
    const noIdentity = error instanceof TypeError && error.message.includes("of null (reading 'length')");
    return { rejected: { message: error.message, ...(noIdentity && { condition: 'db-store-identity' }) } };
  }
}

process.on('unhandledRejection', () => {});
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const answer = request.op === 'hello' ? { result: HELLO } : await open(request.path);
  process.stdout.write(`${JSON.stringify({ id: request.id, ...answer })}\n`);
}
