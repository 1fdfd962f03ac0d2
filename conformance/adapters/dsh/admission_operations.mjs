// How sessions come to be: admission of a header and a log, borrowed or restored, and forks.

import { AdapterError, need } from './answers.mjs';

/** What stands in front of a surface fault of a seed. The fault keeps its own name, so the text is cut. */
const SURFACE_FAULT = /^invalid seed event at index \d+: /;

/**
 * @param {(specifier: string) => Promise<object>} load - imports from the package under test.
 * @returns {Promise<[string, object][]>} operations by name.
 */
export async function admissionOperations(load) {
  const { Session, SessionStore } = await load('@deepseek-ai/dsh-session');
  const { Context } = await load('@deepseek-ai/cordis');

  /** Index of the event that the last refusal names; each message that is about an event has it. */
  let refusedAt;

  /** Runs what makes a session, and tells of it. */
  function told(make) {
    refusedAt = undefined;
    let session;
    try {
      session = make();
    } catch (thrown) {
      if (!(thrown instanceof Error)) throw thrown;
      const place = /^(?:invalid )?seed .*?at index (\d+)/s.exec(thrown.message);
      refusedAt = place === null ? undefined : Number(place[1]);
      if (SURFACE_FAULT.test(thrown.message)) throw new Error(thrown.message.replace(SURFACE_FAULT, ''));
      throw thrown;
    }
    return { events: session.events, firstLiveSeq: session.firstLiveSeq, header: session.header };
  }

  function admit(request) {
    const id = need(request, 'sessionId');
    const { events, header } = request;
    if (request.source === 'borrowed') return told(() => Session.create(id, events, header));
    return told(() => Session.fromRestore(id, events, need(request, 'header')));
  }

  /**
   * A store with sessions that hold what the request says. They are views of a session: a fork reads the
   * public members of its source, and a session of the package would time its events itself.
   */
  function storeWith(source, taken) {
    const store = new SessionStore(new Context());
    for (const session of [source, ...taken.map((id) => ({ id, header: { id }, events: [] }))]) {
      store.enter(session);
    }
    return store;
  }

  function fork(request) {
    const header = need(request, 'header');
    const { taken = [], sourceId = header.id, boundary, childId } = request;
    if (taken.includes(header.id)) throw new AdapterError('taken holds the id of the source');
    const store = storeWith({ id: header.id, header, events: need(request, 'events') }, taken);
    return told(() => store.fork(sourceId, boundary, childId));
  }

  /** The first version knows no `ignorable`, so its envelope is not that of the edition; it offers no `admit`. */
  function knowsTheEnvelope() {
    try {
      Session.create('probe', [{ type: 'note', seq: 0, time: 0, data: {}, ignorable: true }]);
      return true;
    } catch {
      return false;
    }
  }

  const locate = () => refusedAt;
  const variant = { member: 'source', values: ['borrowed', 'restored'] };
  return [
    ...(knowsTheEnvelope() ? [['admit', { variant, run: admit, locate }]] : []),
    ['fork', { run: fork, locate }],
  ];
}
