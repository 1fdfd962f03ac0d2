// Chunk rows as JSONL has them; the packing of SQLite, with its bounds, is in no published package.

import { need } from './answers.mjs';

/** The row types whose members are `args`; those of all others are `texts`. */
const membersOf = (row) => (row.type === 'tool-call-chunks' ? row.data.args : row.data.texts);

/** The event with `times` copies of its text in place of the one. */
function withLongText(event, times) {
  const long = structuredClone(event);
  const { chunk } = long.data;
  const name = chunk.type === 'tool-call-delta' ? 'argumentsDelta' : 'text';
  chunk[name] = chunk[name].repeat(times);
  return long;
}

/**
 * @param {(specifier: string) => Promise<object>} load - imports from the package under test.
 * @returns {Promise<[string, object][]>} operations by name; a row is refused as a whole, so none has a position.
 */
export async function chunkOperations(load) {
  const { packChunkRuns, decodeStorageRecord } = await load('@deepseek-ai/dsh-session');

  function pack(request) {
    let events = need(request, 'events');
    if (request.repeats) events = events.map((event, index) => withLongText(event, request.repeats[index]));
    const records = packChunkRuns(events);
    if (request.level === undefined) return { records };
    const asTheyAre = new Set(events);
    if (request.level === 'layout') {
      const placeOf = (record) =>
        asTheyAre.has(record) ? [record.seq, 0] : [record.seq0, membersOf(record).length];
      return { layout: records.map(placeOf) };
    }
    const rows = records.filter((record) => !asTheyAre.has(record));
    return { lines: rows.map((row) => JSON.stringify(row)) };
  }

  function unpack(request) {
    const record = need(request, 'record');
    for (const [index, times] of (request.repeats ?? []).entries()) {
      membersOf(record)[index] = membersOf(record)[index].repeat(times);
    }
    const events = decodeStorageRecord(record);
    return request.level === undefined ? { events } : { layout: events.length };
  }

  const variant = { member: 'store', values: ['jsonl'] };
  return [
    ['chunks.pack', { run: pack, variant }],
    ['chunks.unpack', { run: unpack, variant }],
  ];
}
