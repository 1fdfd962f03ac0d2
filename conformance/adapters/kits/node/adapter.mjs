// @ts-check
// The adapter as a program: one request per line in, one answer per line out, until the input ends.
//
//   session-conformance run stdio:'node adapter.mjs'              your port, port.mjs
//   session-conformance run stdio:'node adapter.mjs --example'    the worked example

import { createInterface } from "node:readline";
import { answerLine } from "./answer.mjs";

console.log = console.info = console.error; // what the port prints must not end up between the answers

const name = process.argv.includes("--example") ? "./example_port.mjs" : "./port.mjs";
const port = await import(name);
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${answerLine(port, line)}\n`); // not held back: stdout flushes after each write
}
