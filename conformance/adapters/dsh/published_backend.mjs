// The JSONL backend that was published with the package, for the operation `backend`.

import * as zlib from 'node:zlib';

import { backendOperations } from './backend_operations.mjs';

const PLUGIN = '@deepseek-ai/dsh-session-persistence-jsonl';
const CONFIG = { root: '{root}', compression: 'none' };

/** What it offers beside reading and writing, and what it keeps on disk. */
export const PUBLISHED_BACKEND = ['backend.borrowed', 'backend.live', 'backend.signal', 'storage.jsonl'];

/**
 * @param {(specifier: string) => Promise<object>} load - imports from the package under test.
 * @param {(message: string) => string | undefined} conditionOf - the known texts.
 * @returns {Promise<[string, object][]>} operations by name; none where the version has no such backend, or
 *   this Node cannot run it.
 */
export async function publishedBackend(load, conditionOf) {
  if (typeof zlib.zstdCompress !== 'function') return [];
  let plugin;
  try {
    plugin = (await load(PLUGIN)).default;
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return [];
    throw error;
  }
  const { Context } = await load('@deepseek-ai/cordis');
  const { SessionStore } = await load('@deepseek-ai/dsh-session');
  return backendOperations({ Context, SessionStore, plugin, config: CONFIG }, conditionOf);
}
