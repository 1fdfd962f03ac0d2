// @ts-check
// The adapter in a headless browser: starts Chromium, opens a page with a worker, and carries the lines.
//
//   session-conformance run stdio:'node browser_bridge.mjs'              your port, port.mjs
//   session-conformance run stdio:'node browser_bridge.mjs --example'    the worked example
//
// The environment variable CHROMIUM names another browser. No package is needed: the browser is spoken to
// over two pipes, its file descriptors 3 and 4, in messages of JSON that end with a NUL.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const here = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const profile = mkdtempSync(join(tmpdir(), "conformance-browser-"));

// Says what is wrong, once, and ends as soon as the browser has.
/** @param {string} sentence */
function fail(sentence) {
  if (!failed) console.error(`browser_bridge: ${sentence}`);
  failed = true;
  endBrowser();
}

// The browser ends when its pipes do, also if this process is killed; the shell then clears up behind it.
function endBrowser() {
  toBrowser.end();
  setTimeout(() => process.kill(-Number(chromium.pid), "SIGKILL"), 2000);
}

// A page and a worker need an origin, so the files of this folder are served, to this machine only.
const server = createServer((request, response) => {
  const name = (request.url ?? "").replace(/\?.*/, "");
  try {
    const body = name === "/" ? "<!doctype html>" : readFileSync(join(here, new URL(name, "http://x").pathname));
    response.setHeader("content-type", name === "/" ? "text/html" : "text/javascript");
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
});

const flags =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking " +
  "--disable-component-update --disable-sync --disable-dev-shm-usage --no-proxy-server --remote-debugging-pipe";
const script = '"$@"; status=$?; rm -rf "$0" || { sleep 1; rm -rf "$0"; }; exit $status';
const browser = [process.env.CHROMIUM ?? "chromium", ...flags.split(" "), `--user-data-dir=${profile}`];
const chromium = spawn("sh", ["-c", script, profile, ...browser], {
  stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
  detached: true, // a group of its own: whoever kills this process leaves the clearing up alone
});
chromium.on("exit", (status) => {
  if (!closing) fail(`the browser did not start, or ended by itself (status ${status}); CHROMIUM names another`);
  process.exit(failed ? 1 : 0);
});
const [toBrowser, fromBrowser] = /** @type {any[]} */ (chromium.stdio.slice(3));
toBrowser.on("error", () => {}); // it has ended; said above

let ended = false; // no more input
let closing = false; // and every answer is written
let failed = false;
let open = 0; // requests without an answer
let calls = 0;
/** @type {Map<number | string, (result: any) => void>} who waits for the result of a call, or for an event */
const waiting = new Map();

/** @type {(method: string, params?: object, sessionId?: string) => Promise<any>} */
function call(method, params = {}, sessionId = undefined) {
  calls += 1;
  toBrowser.write(`${JSON.stringify({ id: calls, method, params, sessionId })}\0`);
  return new Promise((resolve) => waiting.set(calls, resolve));
}

/** @param {any} message */
function hear({ id, method, params, result, error }) {
  if (error) fail(`the browser refused a command: ${error.message}`);
  if (result?.exceptionDetails) fail(`the page broke: ${result.exceptionDetails.exception?.description}`);
  if (params?.name === "broken") fail(`the worker broke: ${params.payload}`);
  if (params?.name === "answered") {
    process.stdout.write(`${params.payload}\n`);
    open -= 1;
    closeIfDone();
  }
  waiting.get(id ?? method)?.(result);
  waiting.delete(id ?? method);
}

let heard = "";
fromBrowser.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
  const messages = (heard + chunk).split("\0");
  heard = messages.pop() ?? "";
  for (const message of messages) hear(JSON.parse(message));
});

function closeIfDone() {
  closing = ended && open === 0;
  if (closing) endBrowser();
}

await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
const { targetId } = await call("Target.createTarget", { url: "about:blank" });
const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
for (const domain of ["Runtime", "Page"]) await call(`${domain}.enable`, {}, sessionId);
for (const name of ["answered", "broken"]) await call("Runtime.addBinding", { name }, sessionId);
const loaded = new Promise((resolve) => waiting.set("Page.loadEventFired", resolve));
await call("Page.navigate", { url: `http://127.0.0.1:${port}/` }, sessionId);
await loaded;
const name = process.argv.includes("--example") ? "example_port.mjs" : "port.mjs";
const expression = `
  const worker = new Worker("/worker.mjs?${name}", { type: "module" });
  worker.onmessage = ({ data }) => answered(data);
  worker.onerror = (event) => broken(String(event.message ?? "a module of it cannot be loaded"));
`;
await call("Runtime.evaluate", { expression }, sessionId);

for await (const line of createInterface({ input: process.stdin })) {
  open += 1;
  call("Runtime.evaluate", { expression: `worker.postMessage(${JSON.stringify(line)})` }, sessionId);
}
ended = true;
closeIfDone();
