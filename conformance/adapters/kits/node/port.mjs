// @ts-check
// YOUR PORT. Nothing is declared yet, so nothing is asked; take the operations that you have into `operations`.
// example_port.mjs is a whole port in this form.

export const implementation = { name: "my port", version: "0.0.0", language: "JavaScript" };

// The JSON parser that your port uses on stored logs.
/** @type {(text: string) => any} */
export const parse = JSON.parse;

// What your port throws for a log that it refuses, and for nothing else. If it has a class of its own, export
// that one as `Refusal`. `condition` (a name of the ledger) and `at` (index of the event) may be there.
export class Refusal extends Error {}

/**
 * Give `nodes`, `replacements` (each seq, start, end, shadowedSeqs) and `replaceGeneration`.
 * @param {any[]} events
 * @returns {Record<string, any>}
 */
export function fold(events) {
  throw new Error(`fold is not implemented (${events.length} events)`);
}

/**
 * Give `messages`: fold, then project the nodes.
 * @param {any[]} events
 * @returns {Record<string, any>}
 */
export function messages(events) {
  throw new Error(`messages is not implemented (${events.length} events)`);
}

// Take the // off a name once its function is filled in.
/** @type {Record<string, (...members: any[]) => Record<string, any>>} */
export const operations = {
  // fold,
  // messages,
};
