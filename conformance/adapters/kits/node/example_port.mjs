// @ts-check
// WORKED EXAMPLE, not your port: fold, messages and project, written from the pages of the specification.

/** @typedef {Record<string, any>} Json */

export const implementation = { name: "worked example", version: "1", language: "JavaScript" };
/** @type {(text: string) => any} */
export const parse = JSON.parse;

const ELIGIBLE = ["user/message", "assistant/message", "tool/result"];

// The log is refused. `condition` is the ledger's name; `at` is set by whoever knows the index.
export class Refusal extends Error {
  /** @param {string} condition */
  constructor(condition) {
    super(condition);
    this.condition = condition;
    /** @type {number | undefined} */
    this.at = undefined;
  }
}

/**
 * @param {boolean} broken
 * @param {string} condition
 */
function refuseIf(broken, condition) {
  if (broken) throw new Refusal(condition);
}

/**
 * @template T
 * @param {number} at
 * @param {() => T} work
 */
function refusedAt(at, work) {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof Refusal) thrown.at = at;
    throw thrown;
  }
}

/**
 * @param {unknown} value
 * @returns {value is Json}
 */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// Number.isSafeInteger takes -0, and Array.includes and indexOf find 0 for it.
/** @type {(value: any) => boolean} */
const isSeq = (value) => Number.isSafeInteger(value) && value >= 0;

// Own members only: an object from JSON.parse inherits names such as `constructor`.
/** @type {(holder: Json, name: string) => boolean} */
const has = (holder, name) => Object.hasOwn(holder, name);

/**
 * Equal as JSON. An absent member is not null, and names such as `__proto__` are names like any other.
 * @param {any} a
 * @param {any} b
 * @returns {boolean}
 */
function same(a, b) {
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((element, index) => same(element, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length && names.every((name) => has(b, name) && same(a[name], b[name]))
  );
}

/** @param {any[]} events */
export function fold(events) {
  /** @type {number[]} */
  const nodes = [];
  /** @type {Json[]} */
  const replacements = [];
  events.forEach((event, seq) => {
    const stretch = refusedAt(seq, () => check(event, seq, nodes, events));
    if (!stretch) return; // log-only
    const [first, behind] = stretch;
    const shadowedSeqs = nodes.splice(first, behind - first, seq);
    const { start, end } = event.surfaceOp;
    if (event.surfaceOp !== "append") replacements.push({ seq, start, end, shadowedSeqs });
  });
  return { nodes, replacements, replaceGeneration: replacements.length };
}

/**
 * The stretch of nodes that the event replaces, empty and at the tail for an append; null if log-only.
 * @param {any} event
 * @param {number} seq
 * @param {number[]} nodes
 * @param {any[]} events
 * @returns {[number, number] | null}
 */
function check(event, seq, nodes, events) {
  refuseIf(!isObject(event), "event-shapeless");
  refuseIf(event.seq !== seq, "seq-not-contiguous"); // -0 === 0
  if (!ELIGIBLE.includes(event.type)) {
    refuseIf(has(event, "surfaceOp"), "surface-op-forbidden");
    refuseIf(has(event, "sourceEventSeqs"), "sources-forbidden");
    return null;
  }
  refuseIf(!has(event, "surfaceOp"), "surface-op-missing");
  const marker = event.surfaceOp;
  let first = nodes.length;
  let behind = nodes.length;
  if (marker !== "append") {
    refuseIf(!isObject(marker), "surface-op-invalid");
    const exact = Object.keys(marker).sort().join() === "end,op,start" && marker.op === "replace";
    refuseIf(!(exact && isSeq(marker.start) && isSeq(marker.end)), "replace-op-invalid");
    first = nodes.indexOf(marker.start);
    behind = nodes.indexOf(marker.end) + 1;
    refuseIf(first < 0, "replace-start-absent");
    refuseIf(behind === 0, "replace-end-absent");
    refuseIf(first >= behind, "replace-reversed");
  }
  const cited = checkSources(event, seq);
  refuseIf(!nodes.slice(first, behind).every((node) => cited.has(node)), "sources-incomplete");
  if (event.type === "tool/result" && marker !== "append") {
    refuseIf(behind - first !== 1, "tool-result-span");
    const target = events[nodes[first]];
    refuseIf(target.type !== "tool/result", "tool-result-target");
    refuseIf(!same(withoutContent(target), withoutContent(event)), "tool-result-changed");
  }
  return [first, behind];
}

/**
 * Each check over the whole list before the next begins. A Set takes -0 and 0 for one.
 * @param {Json} event
 * @param {number} seq
 * @returns {Set<number>}
 */
function checkSources(event, seq) {
  if (!has(event, "sourceEventSeqs")) return new Set();
  const sources = event.sourceEventSeqs;
  refuseIf(!Array.isArray(sources), "sources-not-array");
  refuseIf(sources.length === 0 && event.type !== "assistant/message", "sources-empty");
  refuseIf(!sources.every(isSeq), "source-not-seq");
  const cited = new Set(sources);
  refuseIf(cited.size !== sources.length, "sources-duplicate");
  refuseIf(!sources.every((/** @type {number} */ source) => source < seq), "source-not-earlier");
  return cited;
}

/**
 * The data of a tool result with its first block only, and with null for that block's content.
 * @param {Json} event
 */
function withoutContent(event) {
  const data = inner(event, "data");
  const message = inner(data, "message");
  refuseIf(!Array.isArray(message.content), "event-shapeless");
  const first = message.content.length ? message.content[0] : {};
  refuseIf(!isObject(first), "event-shapeless");
  return { ...data, message: { ...message, content: [{ ...first, content: null }] } };
}

/**
 * @param {Json} holder
 * @param {string} name
 * @returns {Json}
 */
function inner(holder, name) {
  refuseIf(!has(holder, name) || !isObject(holder[name]), "event-shapeless");
  return holder[name];
}

/** @param {any} event */
export function project(event) {
  refuseIf(!isObject(event), "event-shapeless");
  if (!ELIGIBLE.includes(event.type)) return { message: null };
  const data = inner(event, "data");
  if (event.type === "user/message") return { message: data };
  const message = inner(data, "message");
  if (event.type === "assistant/message") {
    refuseIf(!Array.isArray(message.content), "event-shapeless");
    if (message.content.length === 0) return { message: null };
  }
  return { message };
}

/** @param {any[]} events */
export function messages(events) {
  const { nodes } = fold(events);
  const found = nodes.map((seq) => refusedAt(seq, () => project(events[seq]).message));
  return { messages: found.filter((message) => message !== null) };
}

/** @type {Record<string, (...members: any[]) => Json>} */
export const operations = { fold, messages, project };
