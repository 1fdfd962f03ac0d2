// Folders for one request each, below one of this process that goes when it ends.

import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let own;

/** The folder of this process, made when it is first needed. */
function ownFolder() {
  if (own === undefined) {
    own = mkdtempSync(join(tmpdir(), 'session-conformance-'));
    process.on('exit', () => rmSync(own, { recursive: true, force: true }));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  }
  return own;
}

/**
 * @param {(folder: string) => Promise<T>} use - what is done with an empty folder.
 * @returns {Promise<T>} what came of it; the folder is gone by then.
 * @template T
 */
export async function withFolder(use) {
  const folder = await mkdtemp(join(ownFolder(), 'request-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
