// What lives: windows, the incremental view over a growing log, and a session that is appended to.

import { AdapterError, answerToThrown, need } from './answers.mjs';

/**
 * @param {(specifier: string) => Promise<object>} load - imports from the package under test.
 * @param {(message: string) => string | undefined} conditionOf - the known texts.
 * @returns {Promise<[string, object][]>} operations by name.
 */
export async function liveOperations(load, conditionOf) {
  const surface = await load('@deepseek-ai/dsh-session/surface');
  const { Session } = await load('@deepseek-ai/dsh-session');

  /** Index of the first event of a window at which reading the view fails. */
  function firstRefused(request) {
    const log = [];
    const view = new surface.SurfaceManager(log, request.baseSeq);
    return request.events.findIndex((event) => {
      log.push(event);
      try {
        void view.nodes;
        return false;
      } catch {
        return true;
      }
    });
  }

  function window(request) {
    const view = new surface.SurfaceManager(need(request, 'events'), need(request, 'baseSeq'));
    return { nodes: [...view.nodes], replaceGeneration: view.replaceGeneration };
  }

  function transcript(request) {
    const shown = need(request, 'events').filter((event) => surface.isAppendSurfaceEvent(event));
    const messages = shown.map((event) => surface.deriveEventMessage(event));
    return { seqs: shown.map((event) => event.seq), messages: messages.filter((message) => message !== null) };
  }

  /** One answer per step; a step that throws is answered by what it threw, and the next one goes on. */
  function stepByStep(steps, take) {
    return {
      steps: steps.map((step) => {
        try {
          return { result: take(step) };
        } catch (thrown) {
          if (thrown instanceof AdapterError) throw thrown;
          return answerToThrown(thrown, conditionOf, () => undefined);
        }
      }),
    };
  }

  function surfaceLive(request) {
    const log = [];
    const view = new surface.SurfaceManager(log, need(request, 'baseSeq'));
    let validated;
    return stepByStep(need(request, 'steps'), (step) => {
      if ('push' in step) log.push(step.push);
      else if ('amend' in step) log[log.length - 1] = step.amend;
      else if ('pushValidated' in step) log.push(validated);
      else if ('validate' in step) {
        validated = step.validate;
        view.validateNext(validated);
      } else if ('observe' in step) {
        return { nodes: [...view.nodes], replaceGeneration: view.replaceGeneration };
      } else throw new AdapterError(`no step ${Object.keys(step)}`);
      return {};
    });
  }

  function sessionLive(request) {
    const { seed } = request;
    const session = Session.create ? Session.create('conformance', seed) : new Session('conformance', seed);
    const held = new Map();
    const read = {
      nodes: () => session.surface.nodes,
      replaceGeneration: () => session.surface.replaceGeneration,
      messages: () => session.deriveMessages(),
      events: () => session.events,
    };
    return stepByStep(need(request, 'steps'), (step) => {
      if ('append' in step) {
        const { type, data, ...marker } = step.append;
        return { seq: session.append(type, data, marker).seq };
      }
      if ('observe' in step) {
        // Detached: nodes are the live internal list, which goes on growing.
        return Object.fromEntries(step.observe.map((name) => [name, structuredClone(read[name]())]));
      }
      if ('hold' in step) {
        // A specification can promise of nodes only what they were when they were read.
        const value = step.hold === 'nodes' ? [...read.nodes()] : read[step.hold]();
        held.set(step.as, { value, text: JSON.stringify(value) });
        return {};
      }
      if ('recheck' in step) {
        const { value, text } = held.get(step.recheck);
        return { same: JSON.stringify(value) === text };
      }
      if ('mutate' in step) return { outcome: mutate(held.get(step.mutate).value, step.how) };
      throw new AdapterError(`no step ${Object.keys(step)}`);
    });
  }

  return [
    ['window', { run: window, locate: firstRefused }],
    ['transcript', { run: transcript }],
    ['surface.live', { run: surfaceLive }],
    ['session.live', { run: sessionLive }],
  ];
}

/** Tries to change what was kept; what came of it shows when the session is observed afterwards. */
function mutate(value, how) {
  try {
    if (how === 'grow') {
      value.push(structuredClone(value[0] ?? 0));
      return 'no-effect';
    }
    const tried = value.map(edit);
    return tried.length === 0 || tried.some((changed) => changed) ? 'no-effect' : 'refused';
  } catch (thrown) {
    if (thrown instanceof TypeError) return 'refused';
    throw thrown;
  }
}

/** Tries to change every text and to lengthen every list inside; true if any attempt went through. */
function edit(value) {
  if (typeof value !== 'object' || value === null) return false;
  let changed = false;
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'string') changed = Reflect.set(value, key, `${member} changed`) || changed;
    else changed = edit(member) || changed;
  }
  if (Array.isArray(value)) changed = Reflect.set(value, value.length, 'added') || changed;
  return changed;
}
