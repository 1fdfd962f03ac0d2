// Logs in files: jsonl.scan and jsonl.path, put to the JSONL backend of the package where it can run.

import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import * as zlib from 'node:zlib';

import { need } from './answers.mjs';
import { withFolder } from './work_folders.mjs';

const BACKEND = '@deepseek-ai/dsh-session-persistence-jsonl';

/** The id that a log is stored under, and asked for by. */
const ID = 's';

/** Where a message names a place: a line of events, or a byte of a compressed file. */
const PLACE = /^corrupt .*\b(?:line|byte) (\d+)\b/;

/**
 * What makes a backend over a folder; undefined where the version has none, or this Node cannot run it.
 * @param {(specifier: string) => Promise<object>} load - imports from the package under test.
 * @returns {Promise<undefined | ((root: string, compression: string) => Promise<object>)>} maker of backends.
 */
export async function backendMaker(load) {
  if (typeof zlib.zstdCompress !== 'function') return undefined;
  let backend;
  try {
    backend = await load(BACKEND);
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
  const { Context } = await load('@deepseek-ai/cordis');
  const { SessionStore } = await load('@deepseek-ai/dsh-session');
  return async (root, compression) => {
    const context = new Context();
    await context.plugin(SessionStore);
    return new backend.JsonlSessionPersistence(context, { root, compression });
  };
}

/**
 * Stores the file of a request where the backend looks for the log of `header`.
 * @param {object} backend - a backend.
 * @param {Record<string, unknown>} request - with the bytes as `hex`, or a `path`.
 * @param {object} header - the id, and perhaps the cwd, that the place comes from.
 */
export async function storeFile(backend, request, header) {
  const { path } = backend.locate(header);
  await mkdir(dirname(path), { recursive: true });
  if (request.path !== undefined) await copyFile(request.path, path);
  else await writeFile(path, Buffer.from(need(request, 'hex'), 'hex'));
  return path;
}

/**
 * @param {(specifier: string) => Promise<object>} load - imports from the package under test.
 * @returns {Promise<[string, object][]>} operations by name.
 */
export async function jsonlOperations(load) {
  const makeBackend = await backendMaker(load);
  if (makeBackend === undefined) return [];

  function scan(request) {
    return withFolder(async (root) => {
      const backend = await makeBackend(root, need(request, 'compression'));
      // A scan reads bytes; whether the header belongs to the place is asked by who loads.
      backend.assertStoredIdentity = async () => {};
      await storeFile(backend, request, { id: ID });
      const { meta, events, tornMarker } = await backend.loadStored(ID);
      return { header: meta, events, tornFrom: tornMarker?.truncateTo ?? null };
    });
  }

  /** The three names of a place below the root. */
  function namesOf(root, path) {
    const [project, segment, file] = relative(root, path).split(sep);
    return { project, segment, file };
  }

  /** Looks for the log of a session among files; what they hold plays no part. */
  async function lookFor(id, files, root, backend) {
    for (const name of files) {
      const file = join(root, ...name.split('/'));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, '');
    }
    await backend.readStoredRevision(id);
  }

  function path(request) {
    const { cwd } = request;
    const header = { id: need(request, 'session'), ...(cwd === undefined ? {} : { cwd }) };
    const compression = need(request, 'compression');
    return withFolder(async (root) => {
      const backend = await makeBackend(root, compression);
      const place = namesOf(root, backend.locate(header).path);
      if (request.files !== undefined) await lookFor(header.id, request.files, root, backend);
      if (request.found === undefined) return place;
      const { project, segment } = request.found;
      const line = { type: 'session', version: 0, createdAt: 1, delegationDepth: 0, ...header };
      const content = Buffer.from(`${JSON.stringify(line)}\n`);
      const file = join(root, project, segment, place.file);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, compression === 'zstd' ? zlib.zstdCompressSync(content) : content);
      await backend.list(); // asks every log whether it lies where its header says
      return place;
    });
  }

  function locatePlace(_request, message) {
    const place = PLACE.exec(message);
    return place === null ? undefined : Number(place[1]);
  }

  return [
    ['jsonl.scan', { run: scan, locate: locatePlace }],
    ['jsonl.path', { run: path }],
  ];
}
