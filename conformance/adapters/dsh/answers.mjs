// From one request to one answer line: members in both spellings, the kinds of answer, and plain JSON.

/** The request cannot be put to the implementation at all; answered with `error`. */
export class AdapterError extends Error {}

/** A surrogate without its partner, as `JSON.stringify` writes it; after an escaped backslash it is none. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;

/**
 * Replaces each `NAME_text` of a request by `NAME`, parsed. A plain `NAME` beside it wins.
 * @param {Record<string, unknown>} request - changed in place.
 */
function parseTextMembers(request) {
  for (const member of Object.keys(request)) {
    if (!member.endsWith('_text')) continue;
    const name = member.slice(0, -'_text'.length);
    if (Object.hasOwn(request, name)) continue;
    if (typeof request[member] !== 'string') {
      throw new AdapterError(`${member} must be a string that holds JSON text`);
    }
    request[name] = JSON.parse(request[member]);
  }
}

/**
 * @param {Record<string, unknown>} request - a request whose text members are parsed.
 * @param {string} name - a member that the operation cannot do without.
 */
export function need(request, name) {
  if (!Object.hasOwn(request, name)) {
    throw new AdapterError(`${request.op} needs the member ${name} (or ${name}_text)`);
  }
  return request[name];
}

/**
 * What a thrown value says about the input. Messages keep to characters that every JSON reader takes.
 * @param {unknown} thrown - what the implementation threw.
 * @param {(message: string) => string | undefined} conditionOf - the known texts.
 * @param {() => number | undefined} locate - finds the offending element; asked for refusals only.
 */
export function answerToThrown(thrown, conditionOf, locate) {
  if (!(thrown instanceof Error)) {
    return { crashed: `threw a ${typeof thrown}: ${String(thrown)}`.toWellFormed() };
  }
  const message = String(thrown.message);
  const condition = conditionOf(message);
  if (condition === undefined) return { crashed: `${thrown.name}: ${message}`.toWellFormed() };
  return { rejected: { condition, at: locate(), message: message.toWellFormed() } };
}

/** What stands for an infinite number until its line is written; no text of a log begins like this. */
const INFINITE = '\u0000infinite number ';

/** Infinite numbers, which `JSON.stringify` would write as null. */
function marked(_name, value) {
  return value === Infinity || value === -Infinity ? `${INFINITE}${value}` : value;
}

/** @returns {string | undefined} the JSON text of a value, with `1e400` for an infinite number. */
function spelled(value) {
  return JSON.stringify(value, marked)?.replaceAll(`"\\u0000infinite number Infinity"`, '1e400')
    .replaceAll(`"\\u0000infinite number -Infinity"`, '-1e400');
}

/**
 * @param {unknown} id - the request's id.
 * @param {Record<string, unknown>} answer - one of the kinds of answer, as a member.
 * @returns {string} the line; result members that hold a lone surrogate or an infinite number travel as `NAME_text`.
 */
function lineOf(id, answer) {
  const line = JSON.stringify({ id, ...answer });
  if (answer.result === undefined || !(line.includes('\\ud') || line.includes('null'))) return line;
  const result = {};
  for (const [name, value] of Object.entries(answer.result)) {
    const text = spelled(value);
    const plain = text === undefined || (!LONE_SURROGATE.test(text) && text === JSON.stringify(value));
    result[plain ? name : `${name}_text`] = plain ? value : text;
  }
  return JSON.stringify({ id, result });
}

/**
 * @param {[string, object][]} operations - operations by name.
 * @returns {string[]} what they declare: the name, or `name@value` for each variant.
 */
export function capabilitiesOf(operations) {
  return operations.flatMap(([name, { variant }]) =>
    variant === undefined ? [name] : variant.values.map((value) => `${name}@${value}`));
}

/**
 * @returns {Record<string, unknown> | Promise<Record<string, unknown>>} the answer to one request that is an
 *   object; a promise if the operation gives one.
 */
function answerTo(request, { operations, conditionOf, hello }) {
  const { op, edition } = request;
  if (op === 'hello') {
    if (request.protocol === 1) return { result: hello };
    return { error: `protocol ${JSON.stringify(request.protocol)} is not spoken here, only 1` };
  }
  const operation = operations.get(op);
  if (operation === undefined) return { unsupported: `no operation ${JSON.stringify(op)}` };
  if (edition !== undefined && !hello.editions.includes(edition)) {
    return { unsupported: `no edition ${JSON.stringify(edition)}` };
  }
  const { variant, run, locate } = operation;
  if (variant !== undefined && !variant.values.includes(request[variant.member])) {
    return { unsupported: `no ${op} with ${variant.member} ${JSON.stringify(request[variant.member])}` };
  }
  try {
    parseTextMembers(request);
    const result = run(request);
    if (result instanceof Promise) return result.then((value) => ({ result: value }), told);
    return { result };
  } catch (thrown) {
    return told(thrown);
  }

  function told(thrown) {
    if (thrown instanceof AdapterError) return { error: thrown.message };
    return answerToThrown(thrown, conditionOf, () => locate?.(request, thrown.message));
  }
}

/**
 * @param {string} line - one request line.
 * @param {object} adapter - the operations, the known texts and the answer to hello.
 * @returns {string | Promise<string>} one answer line, without its line feed; a promise never rejects.
 */
export function answerLine(line, adapter) {
  let id = null;
  try {
    let request;
    try {
      request = JSON.parse(line);
    } catch (thrown) {
      return lineOf(null, { error: `the request line is not JSON: ${thrown.message}`.toWellFormed() });
    }
    if (typeof request !== 'object' || request === null || Array.isArray(request)) {
      return lineOf(null, { error: 'the request line is no JSON object' });
    }
    id = request.id ?? null;
    const answer = answerTo(request, adapter);
    if (answer instanceof Promise) return answer.then((value) => lineOf(id, value)).catch(unable);
    return lineOf(id, answer);
  } catch (thrown) {
    return unable(thrown);
  }

  // For instance a message nested too deeply to be written: the answer was there, the line was not.
  function unable(thrown) {
    return lineOf(id, { error: `the answer cannot be given: ${thrown}`.toWellFormed() });
  }
}
