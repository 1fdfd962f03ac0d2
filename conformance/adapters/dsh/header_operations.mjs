// The request header in force, and whether two headers are the same.

import { need } from './answers.mjs';

/**
 * @param {(specifier: string) => Promise<object>} load - imports from the package under test.
 * @returns {Promise<[string, object][]>} operations by name.
 */
export async function headerOperations(load) {
  const { foldRequestHeader, headerEquals } = await load('@deepseek-ai/dsh-session');

  function requestHeader(request) {
    return { header: foldRequestHeader(need(request, 'events')) ?? null };
  }

  function equal(request) {
    return { equal: headerEquals(need(request, 'left'), need(request, 'right')) };
  }

  return [
    ['request-header', { run: requestHeader }],
    ['request-header.equal', { run: equal }],
  ];
}
