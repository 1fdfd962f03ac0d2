// What a reader does with a stored log: normalise and jsonl.load.

import { need } from './answers.mjs';
import { backendMaker, storeFile } from './jsonl_operations.mjs';
import { withFolder } from './work_folders.mjs';

const COORDINATOR = '@deepseek-ai/dsh-session-persistence';

/** What stands in front of a surface fault of a stored event. The fault keeps its own name, so the text is cut. */
const SURFACE_FAULT = /^invalid seed event at index \d+: /;

/** Where a message names its event, or the line of a file. */
const PLACES = [
  /^session ".*" contains .* at seq (\d+)$/s,
  /^session ".*" contains event type ".*" \(seq (\d+)\) unknown to this harness/s,
  /^session event at seq (\d+) /,
  /^(?:invalid )?seed .*?at index (\d+)/s,
  /^corrupt .*\b(?:line|byte) (\d+)\b/,
];

/** Where each refused request is at fault. */
const faults = new WeakMap();

/**
 * Runs what reads, and throws what was wrong with the log in place of what it was wrapped in.
 * @param {Record<string, unknown>} request - the request that is answered.
 * @param {() => Promise<object>} read - reads.
 */
async function unwrapped(request, read) {
  try {
    return await read();
  } catch (thrown) {
    const inner = thrown?.name === 'SessionPersistenceCorruptionError' ? thrown.cause : thrown;
    if (!(inner instanceof Error)) throw inner;
    const place = PLACES.map((pattern) => pattern.exec(inner.message)).find((found) => found !== null);
    if (place !== undefined) faults.set(request, Number(place[1]));
    if (SURFACE_FAULT.test(inner.message)) throw new Error(inner.message.replace(SURFACE_FAULT, ''));
    throw inner;
  }
}

/** @returns {Promise<object | undefined>} the package, or undefined where it was not published. */
async function loadIfThere(load, specifier) {
  try {
    return await load(specifier);
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/**
 * @param {(specifier: string) => Promise<object>} load - imports from the package under test.
 * @returns {Promise<[string, object][]>} operations by name.
 */
export async function loadOperations(load) {
  const coordinator = await loadIfThere(load, COORDINATOR);
  const makeBackend = await backendMaker(load);
  const locate = (request) => faults.get(request);

  /** A coordinator over a store that holds the events of the request, and nothing else. */
  async function normalise(request) {
    const id = need(request, 'sessionId');
    const stored = { meta: { version: 0, id }, events: need(request, 'events'), revision: '0' };
    const store = { name: 'memory', loadStored: async () => stored };
    const context = { effect() {}, on() {}, sessions: { list: () => [] } };
    const reader = new coordinator.PersistenceCoordinator(context, store);
    return unwrapped(request, async () => ({ events: (await reader.readFrom(id, 0)).events }));
  }

  /** The file is read once as bytes, which tells how many events it holds, and once as the log of its place. */
  function jsonlLoad(request) {
    const id = need(request, 'sessionId');
    const compression = need(request, 'compression');
    return withFolder((root) => unwrapped(request, async () => {
      const reader = await makeBackend(`${root}/read`, compression);
      reader.assertStoredIdentity = async () => {};
      await storeFile(reader, request, { id });
      const { meta, events, tornMarker } = await reader.loadStored(id);

      const backend = await makeBackend(`${root}/store`, compression);
      await storeFile(backend, request, placeOf(backend, id, meta.cwd));
      const loaded = await backend.load(id);
      return {
        header: loaded.meta,
        events: loaded.events.slice(0, events.length),
        closers: loaded.events.slice(events.length),
        tornFrom: tornMarker?.truncateTo ?? null,
      };
    }));
  }

  const operations = [];
  if (coordinator !== undefined) operations.push(['normalise', { run: normalise, locate }]);
  if (makeBackend !== undefined) operations.push(['jsonl.load', { run: jsonlLoad, locate }]);
  return operations;
}

/** What the log's place comes from; a cwd that can name none is left away, and refused by who loads. */
function placeOf(backend, id, cwd) {
  try {
    backend.locate({ id, cwd });
    return { id, cwd };
  } catch {
    return { id };
  }
}
