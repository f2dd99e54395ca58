// The parent of the sandbox Workers in a Deno process: carries texts between them and the kernel's pipe.
//
// Started without any permission but to read the files of the sandbox's Python, which no Worker has. A line is three
// words parted by single blanks, the last of which goes to the end of the line. Standard input brings `open ID LANGUAGE`,
// `close ID` and `send ID TEXT`, and first of all `init SECRET SOURCE` (the Workers' source as JSON); before the first
// program in Python, `python SECRET {source, folder}`; right after `open`, `packages ID [{name, path, place}]`. Standard
// output takes `SECRET KIND ID TEXT`: what does not begin with the secret was not written here; `loaded` says that a Worker
// with an engine of its own has that. A program's text is never looked into but for what no runtime sends: a line break
// would end its line.

/** @typedef {{worker: Worker, port: MessagePort, textsInARow: number, loaded: Promise<void>}} Sandbox */

/** Longest text of a Worker, in UTF-16 units. */
const MAX_TEXT_LENGTH = 16 * 2 ** 20;
/** All texts of one pass together, in UTF-16 units. */
const MAX_TOTAL_LENGTH = 64 * 2 ** 20;
/** Texts of one pass without a word of the kernel between them: who awaits calls one by one gets one for each. */
const MAX_TEXTS_IN_A_ROW = 20_000;

/**
 * Milliseconds from giving a sandbox away to making the next one: making it holds up all texts for as long as a short
 * program takes.
 */
const SPARE_DELAY = 50;

/**
 * The process was started with V8's `--disallow-code-generation-from-strings`, so neither `eval` nor `Function` works in
 * it. The runtime, and nothing else, gets the evaluator of Deno's own console, before it deletes all that leads there.
 */
const EVALUATOR = `{
  const { evalContext } = Deno[Deno.internal].core;
  globalThis.eval = (text) => {
    const [value, fault] = evalContext(text, "file:///");
    if (fault) throw fault.thrown;
    return value;
  };
}
`;

/** @type {any} */
const { Deno } = /** @type {any} */ (globalThis);
const encoder = new TextEncoder();
/** @type {Map<string, Sandbox>} */
const sandboxes = new Map();
/** What the Workers of a language are made of: their script, and what they are handed with their port. */
class Workers {
  /** @type {Sandbox | null} */
  #spare = null;
  #url;
  #assets;

  /**
   * @param {string} source
   * @param {unknown} assets
   */
  constructor(source, assets) {
    this.#url = URL.createObjectURL(new Blob([EVALUATOR, source], { type: "text/javascript" }));
    this.#assets = assets;
  }

  /** Have one ready for the next program. */
  prepare() {
    this.#spare ??= makeSandbox(this.#url, this.#assets);
  }

  /** @returns {Sandbox} */
  take() {
    const sandbox = this.#spare ?? makeSandbox(this.#url, this.#assets);
    this.#spare = null;
    setTimeout(() => this.prepare(), SPARE_DELAY);
    return sandbox;
  }
}

/** By language. @type {Map<string, Workers>} */
const workers = new Map();
let secret = "";

/**
 * @param {string} kind
 * @param {string} id
 * @param {string} text
 */
function tell(kind, id, text) {
  const line = encoder.encode(`${secret} ${kind} ${id} ${text}\n`);
  for (let written = 0; written < line.length; ) written += Deno.stdout.writeSync(line.subarray(written));
}

/**
 * @param {string} url
 * @param {unknown} assets
 * @returns {Sandbox}
 */
function makeSandbox(url, assets) {
  const options = { type: "module", deno: { permissions: "none" } };
  const worker = new Worker(url, /** @type {WorkerOptions} */ (options));
  const { port1, port2 } = new MessageChannel();
  worker.onerror = (event) => event.preventDefault();
  /** @type {Promise<void>} */
  const loaded = new Promise((resolve) => {
    worker.onmessage = () => resolve();
  });
  worker.postMessage(assets, [port2]);
  return { worker, port: port1, textsInARow: 0, loaded };
}

/**
 * @param {string} id
 * @param {string} language
 */
function open(id, language) {
  // The runtime for JavaScript says itself that it runs nothing else.
  const sandbox = (workers.get(language) ?? workers.get("javascript"))?.take();
  if (sandbox === undefined) return;
  sandboxes.set(id, sandbox);
  sandbox.loaded.then(() => {
    if (sandboxes.has(id)) tell("loaded", id, "");
  });
  let total = 0;
  sandbox.port.onmessage = ({ data }) => {
    if (typeof data !== "string") return fail(id, "protocol", "The sandbox sent something that is not text.");
    sandbox.textsInARow += 1;
    total += data.length;
    if (data.length > MAX_TEXT_LENGTH || total > MAX_TOTAL_LENGTH) fail(id, "too_large", "The sandbox sent too much text.");
    else if (sandbox.textsInARow > MAX_TEXTS_IN_A_ROW) fail(id, "protocol", "The sandbox sent too many texts.");
    else if (data.includes("\n") || !data.isWellFormed()) fail(id, "protocol", "The sandbox sent a text that no runtime would send.");
    else tell("text", id, data);
  };
  sandbox.worker.onerror = (event) => {
    event.preventDefault();
    fail(id, "lost", `The sandbox failed: ${event.message}`);
  };
}

/**
 * @param {string} source
 * @param {unknown} assets
 * @returns {Workers}
 */
function prepared(source, assets) {
  const made = new Workers(source, assets);
  made.prepare();
  return made;
}

/** @param {{source: string, folder: string}} python */
function preparePython({ source, folder }) {
  const read = (/** @type {string} */ name) => Deno.readFileSync(`${folder}/${name}`);
  const assets = {
    module: new WebAssembly.Module(read("pyodide.asm.wasm")),
    library: read("python_stdlib.zip"),
    lock: new TextDecoder().decode(read("lock.json")),
    snapshot: read("snapshot.bin"),
  };
  workers.set("python", prepared(source, assets));
}

/**
 * Hand a sandbox the packages of its program, before the program.
 *
 * @param {string} id
 * @param {{name: string, path: string, place: string}[]} files
 */
function sendPackages(id, files) {
  try {
    const packages = files.map(({ name, path, place }) => ({ name, place, bytes: Deno.readFileSync(path) }));
    sandboxes.get(id)?.port.postMessage(packages);
  } catch (error) {
    fail(id, "lost", `The program's packages cannot be read: ${error}`);
  }
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
  tell(kind, id, reason);
}

/**
 * @param {string} id
 * @param {string} text
 */
function send(id, text) {
  const sandbox = sandboxes.get(id);
  if (sandbox === undefined) return;
  sandbox.textsInARow = 0;
  sandbox.port.postMessage(text);
}

/** @param {string} line */
function obey(line) {
  const blank = line.indexOf(" ");
  const second = line.indexOf(" ", blank + 1);
  const id = line.slice(blank + 1, second);
  switch (line.slice(0, blank)) {
    case "send":
      send(id, line.slice(second + 1));
      break;
    case "open":
      open(id, line.slice(second + 1));
      break;
    case "close":
      close(id);
      break;
    case "init":
      secret = id;
      workers.set("javascript", prepared(JSON.parse(line.slice(second + 1)), null));
      break;
    case "packages":
      sendPackages(id, JSON.parse(line.slice(second + 1)));
      break;
    case "python":
      preparePython(JSON.parse(line.slice(second + 1)));
      break;
  }
}

const decoder = new TextDecoder();
/** As much as a pipe holds. */
const chunk = new Uint8Array(2 ** 16);
/** The part of a line whose end has not come yet. */
let begun = "";
// Not `Deno.stdin.readable`: its streams cost as much again as the whole way from the kernel and back.
for (let length = await Deno.stdin.read(chunk); length !== null; length = await Deno.stdin.read(chunk)) {
  const text = decoder.decode(chunk.subarray(0, length), { stream: true });
  let start = 0;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
    obey(begun + text.slice(start, end));
    begun = "";
    start = end + 1;
  }
  begun += text.slice(start);
}
// The kernel closed the pipe: it is gone, and so are we.
Deno.exit(0);

export {};
