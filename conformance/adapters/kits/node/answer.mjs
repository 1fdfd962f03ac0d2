// @ts-check
// The glue between session-conformance and a port, for any place where JavaScript runs. It needs no change.

/**
 * @typedef {Record<string, any>} Json
 * @typedef {{
 *   implementation: Json,
 *   operations: Record<string, (...members: any[]) => Json>,
 *   parse: (text: string) => any,
 *   Refusal: new (...args: any[]) => Error,
 * }} Port
 */

// What each operation is called with. An operation of the protocol that is missing here needs one line.
/** @type {Record<string, string[]>} */
const MEMBERS = {
  fold: ["events"],
  messages: ["events"],
  project: ["event"],
  classify: ["event"],
  transcript: ["events"],
  window: ["events", "baseSeq"],
  "messages.linear-fallback": ["events"],
};
// Passed on from the input, so they may hold what no plain answer can: they are answered as NAME_text.
const PASSED_ON = ["messages", "message"];

/**
 * The answer to one line, as one line without its end.
 * @param {Port} port
 * @param {string} line
 */
export function answerLine(port, line) {
  let id = null;
  try {
    const request = JSON.parse(line);
    if (!Number.isInteger(request?.id)) return JSON.stringify({ id, error: "the request has no id" });
    id = request.id;
    return JSON.stringify({ id, ...answer(port, request) });
  } catch (error) {
    return JSON.stringify({ id, error: `the request cannot be answered: ${error}` });
  }
}

/**
 * Exactly one of result, rejected, crashed, unsupported and error.
 * @param {Port} port
 * @param {Json} request
 * @returns {Json}
 */
function answer(port, request) {
  const { op, edition, protocol } = request;
  if (op === "hello") {
    if (protocol !== 1) return { error: "this adapter speaks protocol 1" };
    const { implementation } = port;
    const capabilities = Object.keys(port.operations);
    return { result: { protocol: 1, implementation, capabilities, editions: ["v0"] } };
  }
  if (!Object.hasOwn(port.operations, op) || edition !== "v0") {
    return { unsupported: `operation ${op} of edition ${edition}` };
  }
  const missing = MEMBERS[op].find((name) => !(name in request) && !(`${name}_text` in request));
  if (missing) return { error: `${op} needs ${missing} or ${missing}_text` };
  try {
    // A text is for the port's own parser: how it reads 1.0, -0 or a name twice is part of the test.
    const values = MEMBERS[op].map((name) =>
      name in request ? request[name] : port.parse(request[`${name}_text`]),
    );
    return { result: spell(port.operations[op](...values)) };
  } catch (thrown) {
    // This type only: whatever else is thrown is a crash, and must be told as one.
    if (!(thrown instanceof port.Refusal)) return { crashed: String(thrown) };
    const { condition, at, message } = /** @type {Json} */ (thrown);
    return { rejected: { condition, at, message } };
  }
}

/**
 * A lone surrogate survives as an escape inside a text; JSON.stringify writes it as one.
 * @param {Json} result
 */
function spell(result) {
  return Object.fromEntries(
    Object.entries(result).map(([name, value]) =>
      PASSED_ON.includes(name) ? [`${name}_text`, JSON.stringify(value)] : [name, value],
    ),
  );
}
