// The parent of the sandbox Workers in a Deno process: carries texts between them and the kernel's pipe.
//
// Started without any permission. Standard input brings one JSON array a line; standard output takes one JSON array a
// line, after a secret that came with the first line: what does not begin with it was not written here. A program's
// text is never looked into.

/** @typedef {["init", secret: string, source: string] | ["open" | "close", id: string] | ["send", id: string, text: string]} Order */
/** @typedef {{worker: Worker, port: MessagePort}} Sandbox */

/** Longest text of a Worker, in UTF-16 units. */
const MAX_TEXT_LENGTH = 16 * 2 ** 20;

/** @type {any} */
const { Deno } = /** @type {any} */ (globalThis);
const encoder = new TextEncoder();
/** @type {Map<string, Sandbox>} */
const sandboxes = new Map();
/** @type {Sandbox | null} */
let spare = null;
let secret = "";
let runtimeUrl = "";

/** @param {[kind: string, id: string, text: string]} message */
function tell(message) {
  const line = encoder.encode(`${secret}${JSON.stringify(message)}\n`);
  for (let written = 0; written < line.length; ) written += Deno.stdout.writeSync(line.subarray(written));
}

/** @returns {Sandbox} */
function makeSandbox() {
  const options = { type: "module", deno: { permissions: "none" } };
  const worker = new Worker(runtimeUrl, /** @type {WorkerOptions} */ (options));
  const { port1, port2 } = new MessageChannel();
  worker.onerror = (event) => event.preventDefault();
  worker.postMessage(null, [port2]);
  return { worker, port: port1 };
}

/** @param {string} id */
function open(id) {
  const sandbox = spare ?? makeSandbox();
  spare = null;
  sandboxes.set(id, sandbox);
  sandbox.port.onmessage = ({ data }) => {
    if (typeof data !== "string") fail(id, "protocol", "The sandbox sent something that is not text.");
    else if (data.length > MAX_TEXT_LENGTH) fail(id, "too_large", "The sandbox sent a text that is too long.");
    else tell(["text", id, data]);
  };
  sandbox.worker.onerror = (event) => {
    event.preventDefault();
    fail(id, "lost", `The sandbox failed: ${event.message}`);
  };
  setTimeout(() => (spare ??= makeSandbox()), 0);
}

/** @param {string} id */
function close(id) {
  const sandbox = sandboxes.get(id);
  if (sandbox === undefined) return;
  sandboxes.delete(id);
  sandbox.port.close();
  sandbox.worker.terminate();
}

/**
 * @param {string} id
 * @param {string} kind
 * @param {string} reason
 */
function fail(id, kind, reason) {
  if (!sandboxes.has(id)) return;
  close(id);
  tell([kind, id, reason]);
}

/** @param {Order} order */
function obey(order) {
  switch (order[0]) {
    case "init":
      secret = order[1];
      runtimeUrl = URL.createObjectURL(new Blob([order[2]], { type: "text/javascript" }));
      spare = makeSandbox();
      tell(["ready", "", ""]);
      break;
    case "open":
      open(order[1]);
      break;
    case "send":
      sandboxes.get(order[1])?.port.postMessage(order[2]);
      break;
    case "close":
      close(order[1]);
      break;
  }
}

const decoder = new TextDecoder();
/** Pieces of a line whose end has not come yet. @type {string[]} */
let pieces = [];
for await (const chunk of Deno.stdin.readable) {
  const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
  pieces.push(first);
  for (const line of others) {
    obey(JSON.parse(pieces.join("")));
    pieces = [line];
  }
}
// The kernel closed the pipe: it is gone, and so are we.
Deno.exit(0);

export {};
