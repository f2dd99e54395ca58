// The only script of the inner sandbox frame: it owns the Workers and carries texts between them and the page.
//
// A program runs in a Worker, never here: the frame's own thread could navigate itself. What comes out of a Worker is
// untrusted: it is one string under a cap or the pass is cut, and it gets its run's id from this closure.

(() => {
  "use strict";

  /** Longest text of a Worker, in UTF-16 units. Stored values end at 1 MB, a batch may hold several. */
  const MAX_TEXT_LENGTH = 32 * 2 ** 20;
  /** All texts of one pass together, in UTF-16 units. */
  const MAX_TOTAL_LENGTH = 64 * 2 ** 20;
  /** Texts of one pass without a word of the kernel between them: who awaits calls one by one gets one for each. */
  const MAX_TEXTS_IN_A_ROW = 20_000;
  /** Workers that are kept ready for the next programs. */
  const SPARES = 2;
  /** The same for Python, one of which takes 150 MB. */
  const PYTHON_SPARES = 1;
  /** How long after a start or an end another spare Worker is made, in ms: not while programs want the processor. */
  const SPARE_DELAY = 50;

  const NO_EVAL = "The page forbids code made from text: its Content-Security-Policy lacks 'unsafe-eval'.";
  const NO_WORKER = "The page does not let the sandbox start a Worker: its Content-Security-Policy forbids it.";

  /**
   * A Worker and the port to the runtime in it: a program that finds a way to the global `postMessage` reaches nobody.
   *
   * @typedef {{worker: Worker, port: MessagePort, textsInARow: number, workers: Workers}} Sandbox
   */

  /** @type {Map<string, Sandbox>} */
  const sandboxes = new Map();
  /** @type {MessagePort} */
  let port;

  /** @param {FromRelay} message */
  const tell = (message) => port.postMessage(message);

  /** The Workers for one language, and those of them that are kept ready. */
  class Workers {
    /** @type {Sandbox[]} */
    spares = [];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #refill;
    #script;
    #count;

    /**
     * @param {Blob} script
     * @param {number} count how many are kept ready
     */
    constructor(script, count) {
      this.#script = script;
      this.#count = count;
    }

    /** Have spare Workers made: the only one at once, others when the programs have had their time. */
    fillUp() {
      if (this.spares.length === 0) this.makeSpare();
      else this.fillUpLater();
    }

    fillUpLater() {
      clearTimeout(this.#refill);
      if (this.spares.length < this.#count) this.#refill = setTimeout(() => this.makeSpare(), SPARE_DELAY);
    }

    makeSpare() {
      this.spares.push(this.#make());
      this.fillUpLater();
    }

    /** @returns {Sandbox} */
    take() {
      return this.spares.shift() ?? this.#make();
    }

    /** @returns {Sandbox} */
    #make() {
      const url = URL.createObjectURL(this.#script);
      const worker = new Worker(url);
      // The Worker has its script by now; with the address gone a program cannot load the runtime a second time.
      URL.revokeObjectURL(url);
      worker.onerror = (event) => {
        event.preventDefault();
        this.failed(event.message);
      };
      const channel = new MessageChannel();
      this.handOver(worker, channel.port2);
      return { worker, port: channel.port1, textsInARow: 0, workers: this };
    }

    /**
     * @param {Worker} worker
     * @param {MessagePort} end
     */
    handOver(worker, end) {
      worker.postMessage(null, [end]);
    }

    /**
     * No program runs yet, so this is the page's policy, which leaves no message, or a fault of the runtime, which does.
     *
     * @param {string} message
     */
    failed(message) {
      tell({ type: "unusable", message: message ? `The sandbox's runtime did not load: ${message}` : NO_WORKER });
    }
  }

  /** Those that are handed Python's files, and say when they have loaded them. */
  class PythonWorkers extends Workers {
    /** @type {Promise<object>} */
    #assets;
    /** Those that have loaded them. @type {WeakSet<Worker>} */
    #loaded = new WeakSet();

    /** @param {PythonFiles} files */
    constructor({ script, wasm, library, lock, snapshot }) {
      super(script, PYTHON_SPARES);
      this.#assets = Promise.all([
        wasm.arrayBuffer().then((bytes) => WebAssembly.compile(bytes)),
        library.arrayBuffer(),
        snapshot.arrayBuffer(),
      ]).then(([module, zip, memory]) => ({ module, library: new Uint8Array(zip), lock, snapshot: new Uint8Array(memory) }));
      this.#assets.catch((error) => this.failed(`${error}`));
    }

    /**
     * Making one takes the processor for as long as a short program runs: never at once.
     *
     * @override
     */
    fillUp() {
      this.fillUpLater();
    }

    /** Have one ready as soon as may be, and say so. */
    warm() {
      const [spare] = this.spares;
      if (spare === undefined) this.makeSpare();
      else if (this.#loaded.has(spare.worker)) tell({ type: "warm" });
    }

    /**
     * @override
     * @param {Worker} worker
     * @param {MessagePort} end
     */
    handOver(worker, end) {
      worker.onmessage = () => {
        worker.onmessage = null;
        this.#loaded.add(worker);
        if (this.spares[0]?.worker === worker) tell({ type: "warm" });
      };
      this.#assets.then(
        (assets) => worker.postMessage(assets, [end]),
        () => {},
      );
    }

    /**
     * @override
     * @param {string} message
     */
    failed(message) {
      tell({ type: "cold", message });
    }
  }

  /** @type {Workers} */
  let javascript;
  /** @type {PythonWorkers | null} */
  let python = null;

  /** @returns {FromRelay} */
  function prepare() {
    try {
      new Function("return 0");
    } catch {
      return { type: "unusable", message: NO_EVAL };
    }
    try {
      javascript.fillUp();
    } catch {
      return { type: "unusable", message: NO_WORKER };
    }
    return { type: "ready" };
  }

  /** @param {string} run */
  function end(run) {
    const sandbox = sandboxes.get(run);
    if (sandbox === undefined) return;
    sandboxes.delete(run);
    sandbox.port.onmessage = null;
    sandbox.port.close();
    sandbox.worker.terminate();
    sandbox.workers.fillUp();
  }

  /** @param {PackageData} file */
  async function read({ name, place, data }) {
    return { name, place, bytes: new Uint8Array(await data.arrayBuffer()) };
  }

  /**
   * @param {string} run
   * @param {string} text
   * @param {string} language
   * @param {PackageData[]} packages
   */
  function start(run, text, language, packages) {
    if (sandboxes.has(run)) return;
    // The runtime for JavaScript says itself that it runs nothing else.
    const workers = language === "python" && python !== null ? python : javascript;
    const sandbox = workers.take();
    sandboxes.set(run, sandbox);
    let total = 0;

    /** @param {CutKind} kind */
    const cut = (kind) => {
      end(run);
      tell({ type: "cut", run, kind });
    };
    sandbox.port.onmessage = ({ data }) => {
      if (typeof data !== "string") return cut("protocol");
      sandbox.textsInARow += 1;
      total += data.length;
      if (data.length > MAX_TEXT_LENGTH || total > MAX_TOTAL_LENGTH) return cut("too_large");
      // A lone surrogate never comes out of JSON.stringify, and does not survive the way to the kernel.
      if (sandbox.textsInARow > MAX_TEXTS_IN_A_ROW || !data.isWellFormed()) return cut("protocol");
      tell({ type: "text", run, text: data });
    };
    // The runtime reports a program's errors itself; one that slips by must not reach the page's console as ours.
    sandbox.worker.onerror = (event) => event.preventDefault();
    if (packages.length === 0) sandbox.port.postMessage(text);
    else {
      Promise.all(packages.map(read)).then(
        (given) => {
          // Before the program, which may be over by now.
          sandbox.port.postMessage(given, given.map(({ bytes }) => bytes.buffer));
          sandbox.port.postMessage(text);
        },
        () => cut("protocol"),
      );
    }
    workers.fillUp();
  }

  /**
   * @param {string} run
   * @param {string} text
   */
  function answer(run, text) {
    const sandbox = sandboxes.get(run);
    if (sandbox === undefined) return;
    sandbox.textsInARow = 0;
    sandbox.port.postMessage(text);
  }

  /** @param {MessageEvent<ToRelay>} event */
  function receive({ data }) {
    switch (data.type) {
      case "runtime":
        javascript = new Workers(new Blob([data.source], { type: "text/javascript" }), SPARES);
        tell(prepare());
        break;
      case "start":
        start(data.run, data.text, data.language, data.packages);
        break;
      case "text":
        answer(data.run, data.text);
        break;
      case "end":
        end(data.run);
        break;
      case "python":
        python = new PythonWorkers(data.files);
        break;
      case "warm":
        python?.warm();
        break;
      case "ping":
        tell({ type: "pong" });
        break;
    }
  }

  /** @param {MessageEvent} event */
  function connect(event) {
    const [first] = event.ports;
    if (event.source !== parent.parent || first === undefined) return;
    removeEventListener("message", connect);
    port = first;
    port.onmessage = receive;
  }
  addEventListener("message", connect);
})();
