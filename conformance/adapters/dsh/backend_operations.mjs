// The operation `backend`: a session persistence plugin, opened in the folder of a request and closed again.

import { AdapterError, answerToThrown, need } from './answers.mjs';

/** Stands in the configuration of a plugin for the folder of the store. */
const ROOT = '{root}';

/** What a reader puts before the text of a refusal that it passes on; a TypeError in there stays a crash. */
const WRAPPER = /^stored session ".*?" failed validation: Error: /s;

/** What stands in front of a surface fault in there. */
const SURFACE_FAULT = /^invalid seed event at index \d+: /;

/** Texts that another operation has as well: the condition that they stand for here. */
const SAME_TEXT = new Map([['fork-not-found', 'session-not-found']]);

/** @returns {(message: string) => string | undefined} the conditions of messages, wrapped ones too. */
function conditionsHere(conditionOf) {
  return (message) => {
    const inner = message.replace(WRAPPER, '');
    const found = conditionOf(inner) ?? conditionOf(inner.replace(SURFACE_FAULT, ''));
    return SAME_TEXT.get(found) ?? found;
  };
}

/** @returns {unknown} a configuration with the folder in its place, however deep. */
function withRoot(value, root) {
  if (typeof value === 'string') return value.replaceAll(ROOT, root);
  if (Array.isArray(value)) return value.map((element) => withRoot(element, root));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withRoot(member, root)]));
}

/** Changes a batch as a careless caller would, once the call has returned control. */
function spoil(events) {
  for (const event of events) event.data = { spoilt: true };
  events.push({ spoilt: true });
}

/**
 * @param {object} parts - what the runtime and the plugin give: the classes Context and SessionStore, the
 *   plugin, and its configuration.
 * @param {(message: string) => string | undefined} conditionOf - the known texts.
 * @returns {[string, object][]} operations by name.
 */
export function backendOperations({ Context, SessionStore, plugin, config }, conditionOf) {
  /** A runtime of its own over a folder; nothing of it outlives `close`. */
  async function open(root) {
    const context = new Context();
    await context.plugin(SessionStore);
    const fiber = await context.plugin(plugin, withRoot(config, root));
    const store = context.get('sessionPersistence');
    if (store === undefined) throw new AdapterError('the plugin has not registered sessionPersistence');
    return { store, sessions: context.sessions, close: () => fiber.dispose() };
  }

  async function backend(request) {
    const steps = need(request, 'steps');
    const opened = await open(need(request, 'root'));
    const answers = [];
    try {
      for (const step of steps) answers.push(await answerTo(step, opened));
    } finally {
      await opened.close();
    }
    return { steps: answers };
  }

  async function answerTo(step, opened) {
    try {
      if (step.aborted) return { result: await whetherAborted(step, opened) };
      return { result: await take(step, opened) };
    } catch (thrown) {
      if (thrown instanceof AdapterError) throw thrown;
      return answerToThrown(thrown, conditionsHere(conditionOf), () => undefined);
    }
  }

  /** A step with a signal that was aborted before: is its very reason what comes back? */
  async function whetherAborted(step, opened) {
    const reason = new Error('aborted by the test');
    try {
      await take(step, opened, AbortSignal.abort(reason));
      return { aborted: false };
    } catch (thrown) {
      return { aborted: thrown === reason };
    }
  }

  async function take(step, { store, sessions }, signal) {
    if ('create' in step) await store.create(step.create);
    else if ('append' in step) await append(store, step);
    else if ('load' in step) return view(await store.load(step.load));
    else if ('inspect' in step) return view(await store.inspect(step.inspect, signal));
    else if ('readFrom' in step) {
      return view(await store.readFrom(step.readFrom.id, step.readFrom.from, signal));
    } else if ('list' in step) return { headers: (await store.list(signal)).sort(byId) };
    else if ('revision' in step) return revision(store, step.revision, signal);
    else if ('live' in step) await goLive(sessions, step.live);
    else if ('prepare' in step) (await store.prepare(step.prepare))[Symbol.dispose]();
    else throw new AdapterError(`no step ${Object.keys(step)}`);
    return {};
  }

  return [['backend', { run: backend }]];
}

async function append(store, { append: { id, events }, spoil: spoilt }) {
  const done = store.append(id, events);
  if (spoilt) spoil(events);
  await done;
}

async function goLive(sessions, { header, events }) {
  const session = sessions.create(header.id, { seed: events, meta: header });
  await sessions.flush(session);
}

async function revision(store, id, signal) {
  const found = (await store.listSnapshots(signal)).find(({ header }) => header.id === id);
  return { revision: found?.revision ?? null };
}

function view({ meta, events }) {
  return { header: meta, events };
}

function byId(one, other) {
  return one.id < other.id ? -1 : 1;
}
