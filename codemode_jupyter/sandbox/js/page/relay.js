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
  /** How long after a start or an end another spare Worker is made, in ms: not while programs want the processor. */
  const SPARE_DELAY = 50;

  const NO_EVAL = "The page forbids code made from text: its Content-Security-Policy lacks 'unsafe-eval'.";
  const NO_WORKER = "The page does not let the sandbox start a Worker: its Content-Security-Policy forbids it.";

  /**
   * A Worker and the port to the runtime in it: a program that finds a way to the global `postMessage` reaches nobody.
   *
   * @typedef {{worker: Worker, port: MessagePort, textsInARow: number}} Sandbox
   */

  /** @type {Map<string, Sandbox>} */
  const sandboxes = new Map();
  /** @type {Sandbox[]} */
  const spares = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let refill;
  /** The script of the Workers. @type {Blob} */
  let source;
  /** @type {MessagePort} */
  let port;

  /** @param {FromRelay} message */
  const tell = (message) => port.postMessage(message);

  /** @returns {Sandbox} */
  function makeSandbox() {
    const url = URL.createObjectURL(source);
    const worker = new Worker(url);
    // The Worker has its script by now; with the address gone a program cannot load the runtime a second time.
    URL.revokeObjectURL(url);
    // No program runs yet, so this is the page's policy, which leaves no message, or a fault of the runtime, which does.
    worker.onerror = (event) => {
      event.preventDefault();
      tell({ type: "unusable", message: event.message ? `The sandbox's runtime did not load: ${event.message}` : NO_WORKER });
    };
    const channel = new MessageChannel();
    worker.postMessage(null, [channel.port2]);
    return { worker, port: channel.port1, textsInARow: 0 };
  }

  /** Have spare Workers made: the only one at once, others when the programs have had their time. */
  function fillUp() {
    clearTimeout(refill);
    if (spares.length === 0) makeSpare();
    else if (spares.length < SPARES) refill = setTimeout(makeSpare, SPARE_DELAY);
  }

  function makeSpare() {
    spares.push(makeSandbox());
    fillUp();
  }

  /** @returns {FromRelay} */
  function prepare() {
    try {
      new Function("return 0");
    } catch {
      return { type: "unusable", message: NO_EVAL };
    }
    try {
      fillUp();
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
    fillUp();
  }

  /**
   * @param {string} run
   * @param {string} text
   */
  function start(run, text) {
    if (sandboxes.has(run)) return;
    const sandbox = spares.shift() ?? makeSandbox();
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
      if (sandbox.textsInARow > MAX_TEXTS_IN_A_ROW || /\p{Surrogate}/u.test(data)) return cut("protocol");
      tell({ type: "text", run, text: data });
    };
    // The runtime reports a program's errors itself; one that slips by must not reach the page's console as ours.
    sandbox.worker.onerror = (event) => event.preventDefault();
    sandbox.port.postMessage(text);
    fillUp();
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
        source = new Blob([data.source], { type: "text/javascript" });
        tell(prepare());
        break;
      case "start":
        start(data.run, data.text);
        break;
      case "text":
        answer(data.run, data.text);
        break;
      case "end":
        end(data.run);
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
