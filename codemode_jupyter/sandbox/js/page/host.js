// The page's end of the kernel's page channel: an anywidget module whose widget is never displayed.
//
// Every page that has the notebook open runs `initialize`, again after a reload. It says hello under a fresh random
// id; the kernel elects one page and addresses it. Nothing here is trusted by the kernel with a decision, and nothing
// from a program is ever put into the page.

/** How long passes may run with no word from the kernel (it pings every second), in ms: then nobody stops them but us. */
const KERNEL_SILENCE = 60_000;
/** How often the page looks for that, in ms. */
const SILENCE_CHECK = 5_000;

/** @returns {string | null} the address below which the server serves our files, where the page says it */
function servedFrom() {
  try {
    const { fullLabextensionsUrl } = JSON.parse(document.getElementById("jupyter-config-data")?.textContent ?? "{}");
    if (typeof fullLabextensionsUrl === "string") return new URL(fullLabextensionsUrl, location.href).href;
  } catch {
    // The page says nothing that we understand: it is none of Jupyter's own.
  }
  return null;
}

/**
 * Where the sandbox's frame may be put: into the page, or, where the page says what it is served from, beside it.
 *
 * @param {Model} model
 * @returns {FramePlace[]}
 */
function framePlaces(model) {
  const served = servedFrom();
  /** @type {FramePlace[]} */
  const places = [{ by: "srcdoc", text: model.get("_inline_frame") }];
  if (served !== null) places.push({ by: "src", text: `${served}/${model.get("_served_frame")}` });
  return places;
}

class PageHost {
  /** @type {Model} */
  #model;
  #id = randomId();
  /** @type {Outbox} */
  #outbox;
  /** By the policy of their frames; "" is ours. They stay when they are cleared. @type {Map<string, Sandboxes>} */
  #sandboxes = new Map();
  /** Which executor of the kernel a pass belongs to. @type {Map<string, string>} */
  #owners = new Map();
  /** How many texts the kernel sent to each pass, as far as they came. @type {Map<string, number>} */
  #texts = new Map();
  #python = new PythonLoader(servedFrom(), (of, file, start) => this.#outbox.send({ type: "want", of, file, start }));
  #isConnected = true;
  #heard = performance.now();
  #listening = new AbortController();
  /** @type {ReturnType<typeof setInterval>} */
  #watch;

  /** @param {Model} model */
  constructor(model) {
    this.#model = model;
    this.#outbox = new Outbox((message) => model.send({ ...message, from: this.#id }));
    this.#sandboxes.set("", this.#makeSandboxes("", framePlaces(model)));
    model.on("msg:custom", this.#receive);
    model.on("comm_live_update", this.#disconnect);
    const { signal } = this.#listening;
    addEventListener("pagehide", () => this.#leave(), { signal });
    addEventListener("pageshow", (event) => event.persisted && this.#comeBack(), { signal });
    this.#watch = setInterval(() => this.#checkKernel(), SILENCE_CHECK);
    this.hello();
  }

  hello() {
    this.#outbox.send({
      type: "hello",
      agent: navigator.userAgent,
      path: location.pathname,
      visible: document.visibilityState === "visible",
    });
  }

  /** Undo everything: the widget is gone, or its kernel. */
  close() {
    clearInterval(this.#watch);
    this.#listening.abort();
    this.#model.off("msg:custom", this.#receive);
    this.#model.off("comm_live_update", this.#disconnect);
    this.#free();
    this.#python.close();
    this.#outbox.close();
  }

  /**
   * @param {KernelMessage} message
   * @param {DataView[]} [buffers]
   */
  #receive = (message, buffers = []) => {
    if (message.to !== this.#id && message.to !== "*") return;
    this.#heard = performance.now();
    this.#isConnected = true;
    switch (message.type) {
      case "who":
        this.hello();
        break;
      case "prepare":
        this.#prepare(message.policy, message.frame);
        break;
      case "warm":
        this.#warm(message);
        break;
      case "packages":
        this.#fetchPackages(message);
        break;
      case "piece":
        this.#python.take(message.file, message.start, buffers[0]);
        break;
      case "start":
        this.#start(message);
        this.#end(message.over);
        break;
      case "text":
        if (this.#texts.has(message.run)) this.#texts.set(message.run, (this.#texts.get(message.run) ?? 0) + 1);
        for (const sandboxes of this.#sandboxes.values()) sandboxes.text(message.run, message.text);
        break;
      case "end":
        this.#end(message.runs);
        // A word back at once: until then the server's network stack holds its next small message back (Nagle).
        this.#outbox.send({ type: "pong" });
        break;
      case "kill":
        this.#kill(message.run);
        break;
      case "ping":
        for (const [run, owner] of this.#owners) {
          if (owner === message.owner) this.#compare(run, message.runs.indexOf(run), message.texts);
        }
        this.#outbox.send({
          type: "pong",
          runs: message.runs.map((run) => [run, this.#owners.has(run) ? this.#outbox.count(run) : -1]),
        });
        break;
    }
  };

  /**
   * @param {string} policy
   * @param {FramePlace[]} places
   * @returns {Sandboxes}
   */
  #makeSandboxes(policy, places) {
    return new Sandboxes(places, this.#model.get("_worker_source"), {
      ready: (by) => this.#outbox.send({ type: "prepared", policy, frame: by }),
      unusable: (message) => {
        for (const run of this.#sandboxes.get(policy)?.clear() ?? []) this.#forget(run);
        this.#outbox.send({ type: "unusable", policy, message });
      },
      warm: () => this.#tellOfPython(policy, { state: "warm", ...this.#python.found }),
      cold: (message) => this.#tellOfPython(policy, { state: "cold", message }),
      text: (run, text) => this.#outbox.text(run, text),
      cut: (run, kind) => {
        this.#forget(run);
        this.#outbox.send({ type: "cut", run, kind });
      },
      lost: (runs, reason) => this.#lose(runs, reason),
    });
  }

  /**
   * @param {string} policy
   * @param {string | undefined} frame markup of a frame with that policy; a server has files of our own policy only
   */
  #prepare(policy, frame) {
    let sandboxes = this.#sandboxes.get(policy);
    if (sandboxes === undefined) {
      if (frame === undefined) return;
      sandboxes = this.#makeSandboxes(policy, [{ by: "srcdoc", text: frame }]);
      this.#sandboxes.set(policy, sandboxes);
    }
    if (sandboxes.madeBy !== null) this.#outbox.send({ type: "prepared", policy, frame: sandboxes.madeBy });
    else sandboxes.prepare();
  }

  /** @param {Extract<KernelMessage, {type: "warm"}>} message */
  async #warm({ owner, policy, files }) {
    const sandboxes = this.#sandboxes.get(policy);
    const tell = (/** @type {PythonNews} */ news) => this.#tellOfPython(policy, news);
    try {
      const loaded = await this.#python.load(files, owner, tell);
      tell({ state: "starting" });
      sandboxes?.warm(loaded);
    } catch (error) {
      tell({ state: "cold", message: error instanceof Error ? error.message : `${error}` });
    }
  }

  /**
   * @param {string} policy
   * @param {PythonNews} news
   */
  #tellOfPython(policy, news) {
    this.#outbox.send({ type: "python", policy, news });
  }

  /** @param {Extract<KernelMessage, {type: "packages"}>} message */
  async #fetchPackages({ owner, policy, files }) {
    const tell = (/** @type {PythonNews} */ news) => this.#tellOfPython(policy, news);
    try {
      await this.#python.loadPackages(files, owner, tell);
    } catch (error) {
      tell({ state: "cold", message: error instanceof Error ? error.message : `${error}` });
    }
  }

  /** @param {Extract<KernelMessage, {type: "start"}>} message */
  #start({ run, owner, policy, language, text, packages = [] }) {
    const sandboxes = this.#sandboxes.get(policy);
    const given = packages.map((one) => this.#python.package(one)).filter((one) => one !== null);
    // Never in a frame with another policy, nor without what the program is to find.
    if (sandboxes === undefined || given.length < packages.length) return this.#lose([run], "moved");
    this.#owners.set(run, owner);
    this.#texts.set(run, 1);
    sandboxes.start(run, text, language, given);
  }

  /**
   * Kill a pass that the kernel forgot, or of which a message got lost on its way here.
   *
   * @param {string} run
   * @param {number} index where it is among the kernel's passes; -1: nowhere
   * @param {number[] | undefined} texts how many texts the kernel sent to each of them
   */
  #compare(run, index, texts) {
    const sent = index < 0 ? undefined : texts?.[index];
    if (index >= 0 && (sent === undefined || sent === this.#texts.get(run))) return;
    this.#kill(run);
    if (index >= 0) this.#lose([run], "connection");
  }

  /** @param {string} run */
  #forget(run) {
    this.#owners.delete(run);
    this.#texts.delete(run);
    this.#outbox.forget(run);
  }

  /** @param {string[]} runs */
  #end(runs) {
    for (const run of runs) {
      this.#forget(run);
      for (const sandboxes of this.#sandboxes.values()) sandboxes.end(run);
    }
  }

  /** @param {string} run */
  #kill(run) {
    this.#forget(run);
    for (const sandboxes of this.#sandboxes.values()) sandboxes.kill(run);
  }

  /**
   * @param {string[]} runs
   * @param {"frame" | "moved" | "kernel" | "connection"} reason
   */
  #lose(runs, reason) {
    for (const run of runs) this.#forget(run);
    this.#outbox.send({ type: "lost", runs, reason });
  }

  #checkKernel() {
    const runs = [...this.#owners.keys()];
    if (runs.length === 0 || performance.now() - this.#heard < KERNEL_SILENCE) return;
    for (const run of runs) this.#kill(run);
    this.#lose(runs, "kernel");
  }

  /** The page goes away. Often the last thing that arrives, but not always: the kernel's ping finds out the rest. */
  #leave() {
    if (this.#isConnected) this.#outbox.sendLast({ type: "bye" });
    this.#free();
  }

  /**
   * The kernel restarts: a new one makes a widget of its own, and nobody closes this one. Should the kernel speak to it
   * all the same, it starts afresh.
   */
  #disconnect = () => {
    this.#isConnected = false;
    this.#free();
  };

  /** Take the sandboxes down, with whatever runs in them. */
  #free() {
    for (const run of this.#owners.keys()) this.#forget(run);
    for (const sandboxes of this.#sandboxes.values()) sandboxes.clear();
  }

  /** The browser kept the page and shows it again: to the kernel it is a new one. */
  #comeBack() {
    this.#id = randomId();
    this.hello();
  }
}

export default {
  /** @param {{model: Model}} context */
  initialize({ model }) {
    const host = new PageHost(model);
    return () => host.close();
  },
};
