// @ts-check
// The adapter in a browser worker: a request line comes as a message, and so does its answer.
// The page starts it as a module: new Worker("worker.mjs?example_port.mjs", { type: "module" }).

import { answerLine } from "./answer.mjs";

const name = new URL(self.location.href).search.slice(1) || "port.mjs";
const port = import(`./${name}`); // a line that comes before the port is there waits for it
port.catch((error) => self.reportError(error));

self.onmessage = async ({ data }) => self.postMessage(answerLine(await port, data));
