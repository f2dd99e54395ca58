// Runs the same programs in the sandbox's page code and in the reference executor, by turns, in one bare page.
//
// The kernel is a few lines here: it hands programs over and answers each call at once, so what is measured is the
// sandbox alone. Tools of the reference answer at once as well.

import definition from "/module.js";
import { IframeSandboxExecutor } from "@cloudflare/codemode/browser";

const traits = await (await fetch("/traits.json")).json();
const owner = "bench";

/** The page's model, and what answers it in a kernel's place. */
class Kernel {
  #listeners = { "msg:custom": new Set(), comm_live_update: new Set() };
  #page = "";
  #runs = new Map();
  #pieces = new Map();
  #over = [];
  #count = 0;

  constructor() {
    const model = {
      get: (name) => traits[name],
      send: (message) => this.#receive(message),
      on: (event, listener) => void this.#listeners[event].add(listener),
      off: (event, listener) => void this.#listeners[event].delete(listener),
    };
    this.ready = new Promise((resolve, reject) => {
      this.#prepared = resolve;
      setTimeout(() => reject(new Error("the page did not prepare its sandbox")), 20_000);
    });
    definition.initialize({ model });
  }

  #prepared;

  /** A program's end; `begin` is its whole first message. */
  run(begin) {
    this.#count += 1;
    const run = `run${this.#count}`;
    return new Promise((resolve) => {
      this.#runs.set(run, resolve);
      this.#send({ type: "start", run, policy: "", text: begin, over: this.#over.splice(0) });
    });
  }

  #send(message) {
    for (const listener of this.#listeners["msg:custom"]) listener({ to: this.#page, owner, ...message });
  }

  #receive(message) {
    if (message.type === "hello") {
      this.#page = message.from;
      // Not within the constructor of the page's side, which says hello.
      queueMicrotask(() => this.#send({ type: "prepare", policy: "" }));
    } else if (message.type === "prepared") this.#prepared();
    else if (message.type === "texts") for (const [run, piece, isMoreComing] of message.texts) this.#take(run, piece, isMoreComing);
    else if (message.type !== "pong") throw new Error(JSON.stringify(message));
  }

  #take(run, piece, isMoreComing) {
    const text = (this.#pieces.get(run) ?? "") + piece;
    this.#pieces.set(run, isMoreComing ? text : "");
    if (isMoreComing) return;
    const told = JSON.parse(text);
    if (told.type === "calls") {
      const replies = told.calls.map(({ seq }) => ({ seq, state: "applied", value: "1" }));
      this.#send({ type: "text", run, text: JSON.stringify({ type: "replies", replies }) });
    } else if (told.type === "done") {
      this.#pieces.delete(run);
      this.#over.push(run);
      if (told.status !== "completed") throw new Error(text);
      this.#runs.get(run)(JSON.parse(told.value));
      this.#runs.delete(run);
    }
  }
}

const tools = { ping: async () => 1 };

async function timed(work, wanted) {
  const started = performance.now();
  const result = await work();
  const milliseconds = performance.now() - started;
  if (result !== wanted) throw new Error(`${result} is not ${wanted}`);
  return milliseconds;
}

/** Time for what a sandbox prepares after a run, as between two programs of a person. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 200));

let kernel;
let reference;

/** Make the sandbox, and the reference's executor, which makes one for each run. */
window.prepare = async () => {
  kernel = new Kernel();
  reference = new IframeSandboxExecutor({ timeout: 60_000 });
  await kernel.ready;
  await pause();
};

/** Milliseconds that each program took, by its name: `{ ours: […], reference: […] }`. */
window.measure = async (programs, rounds) => {
  const taken = {};
  const inReference = async (code) => {
    const { result, error } = await reference.execute(code, { ping: tools.ping });
    if (error !== undefined) throw new Error(error);
    return result;
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, { begin, code, result }] of Object.entries(programs)) {
      const times = (taken[name] ??= { ours: [], reference: [] });
      await pause();
      times.ours.push(await timed(() => kernel.run(begin), result));
      await pause();
      times.reference.push(await timed(() => inReference(code), result));
    }
  }
  return taken;
};
