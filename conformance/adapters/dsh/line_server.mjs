// JSON lines on stdin and stdout. A chunk of input is answered by one write: a write per line is slow.

const LINE_FEED = 0x0a;

/** Cuts bytes at line feeds before it decodes them, so a character split over two chunks stays whole. */
class LineCutter {
  #pending = [];

  /** @returns {string[]} the lines that this chunk completes. */
  push(chunk) {
    const end = chunk.lastIndexOf(LINE_FEED);
    if (end === -1) {
      this.#pending.push(chunk);
      return [];
    }
    const complete = Buffer.concat([...this.#pending, chunk.subarray(0, end)]).toString('utf8');
    this.#pending = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : [];
    return complete.split('\n');
  }

  /** @returns {string[]} what stood after the last line feed. */
  rest() {
    const rest = Buffer.concat(this.#pending).toString('utf8');
    this.#pending = [];
    return rest === '' ? [] : [rest];
  }
}

/**
 * Serves until the end of input, then ends the process with status 0.
 * @param {(line: string) => string | Promise<string>} answer - gives the answer line to a request line, now or
 *   later; must neither throw nor reject.
 */
export function serveLines(answer) {
  const { stdin, stdout } = process;
  const lines = new LineCutter();
  const open = new Set();

  /** Answers what can be answered now by one write, and the rest when it is ready. */
  function respond(requests) {
    let text = '';
    for (const request of requests) {
      if (request === '' || request === '\r') continue;
      const line = answer(request);
      if (typeof line === 'string') text += `${line}\n`;
      else writeLater(line);
    }
    return text === '' || stdout.write(text);
  }

  function writeLater(promise) {
    const done = promise.then((line) => {
      open.delete(done);
      stdout.write(`${line}\n`);
    });
    open.add(done);
  }

  stdout.on('error', (error) => {
    if (error.code === 'EPIPE') process.exit(0); // nobody reads any more: there is nothing left to say
    process.stderr.write(`dsh adapter: cannot write answers: ${error.message}\n`);
    process.exit(1);
  });
  stdin.on('error', (error) => {
    process.stderr.write(`dsh adapter: cannot read requests: ${error.message}\n`);
    process.exit(1);
  });
  stdout.on('drain', () => stdin.resume());
  stdin.on('data', (chunk) => {
    if (!respond(lines.push(chunk))) stdin.pause();
  });
  stdin.on('end', async () => {
    respond(lines.rest());
    await Promise.all(open);
    stdout.write('', () => process.exit(0));
  });
}
