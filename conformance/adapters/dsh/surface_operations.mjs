// The surface and its projection: fold, messages, project, classify.

import { need } from './answers.mjs';

/**
 * @param {(specifier: string) => Promise<object>} load - imports from the package under test.
 * @returns {Promise<[string, object][]>} by name: `run` answers, `locate` finds the refused element.
 */
export async function surfaceOperations(load) {
  // This export has no imports of its own, so it loads even where the package's peers do not.
  const surface = await load('@deepseek-ai/dsh-session/surface');

  /** Index of the event that the incremental view refuses, with the events entering its log one by one. */
  function firstRefused(request) {
    const log = [];
    const view = new surface.SurfaceManager(log);
    for (const event of request.events) {
      log.push(event);
      try {
        void view.nodes;
      } catch {
        return log.length - 1;
      }
    }
    return undefined;
  }

  function fold(request) {
    const events = need(request, 'events');
    const { nodes, replacements } = surface.foldSurface(events);
    // The full fold does not count; the incremental view over the same log does.
    const { replaceGeneration } = new surface.SurfaceManager(events);
    return { nodes, replacements, replaceGeneration };
  }

  function messages(request) {
    const events = need(request, 'events');
    const projected = surface.foldSurface(events).nodes.map((seq) => surface.deriveEventMessage(events[seq]));
    return { messages: projected.filter((message) => message !== null && message !== undefined) };
  }

  function project(request) {
    return { message: surface.deriveEventMessage(need(request, 'event')) ?? null };
  }

  function classify(request) {
    const event = need(request, 'event');
    return {
      eligible: surface.isSurfaceEligibleType(event.type),
      surface: surface.isSurfaceEvent(event),
      append: surface.isAppendSurfaceEvent(event),
      replacement: surface.isReplacementSurfaceEvent(event),
    };
  }

  return [
    ['fold', { run: fold, locate: firstRefused }],
    ['messages', { run: messages, locate: firstRefused }],
    ['project', { run: project }],
    ['classify', { run: classify }],
  ];
}
