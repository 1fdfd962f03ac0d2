// Repair: the events that end a turn which a crash cut off.

import { need } from './answers.mjs';

/**
 * @param {(specifier: string) => Promise<object>} load - imports from the package under test.
 * @returns {Promise<[string, object][]>} operations by name.
 */
export async function repairOperations(load) {
  const { interruptedTurnClosers } = await load('@deepseek-ai/dsh-session');

  function closers(request) {
    return { closers: interruptedTurnClosers(need(request, 'events')) };
  }

  return [['closers', { run: closers }]];
}
