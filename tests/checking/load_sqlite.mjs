// Loads a session of a database with the published SQLite backend, which writes its repair into it.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, path, id] = process.argv.slice(2);
const require = createRequire(join(folder, 'package.json'));
const load = (specifier) => import(pathToFileURL(require.resolve(specifier)).href);

const { Context } = await load('@deepseek-ai/cordis');
const { SessionStore } = await load('@deepseek-ai/dsh-session');
const { SessionPersistenceSqlite } = await load('@deepseek-ai/dsh-session-persistence-sqlite');

const context = new Context();
await context.plugin(SessionStore);
const backend = new SessionPersistenceSqlite(context, { path, journalMode: 'delete' });
await backend.ready;
const { events } = await backend.load(id);
await backend.close();
console.log(events.length);
process.exit(0);
