// One sandbox frame: two nested, hidden iframes without any right but to run scripts, and the private port into them.
// The kernel sends their markup (`frame.py`); there it says what each of the two is for.
//
// Owns the iframes, the port, and the watch that tells when the frame's process died. The page listens to no window
// messages, so nothing but the relay that holds the port can speak to it. Never renders anything.

/** How often a frame with passes in it is asked for a sign of life, in ms. */
const PING_INTERVAL = 750;
/** Unanswered pings after which a frame counts as dead: a bit over 2 s. */
const PINGS_UNANSWERED = 3;
/** How long a frame that has loaded may take until its relay answers, in ms: longer, and its scripts do not run. */
const RELAY_TIMEOUT = 4_000;

/** @returns {string} 32 random hexadecimal digits; `crypto.randomUUID` is missing where the page is served without TLS */
const randomId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * How a frame gets into the page: `text` is its markup (srcdoc), or its address on the server (src).
 *
 * @typedef {{by: "srcdoc" | "src", text: string}} FramePlace
 */

/**
 * What a frame tells its owner: its relay can run programs, or why it cannot; the same of programs in Python; a text of a pass; a pass that broke a
 * limit; and that its process is gone with every pass in it.
 *
 * @typedef {{
 *   ready(): void,
 *   unusable(message: string): void,
 *   warm(): void,
 *   cold(message: string): void,
 *   text(run: string, text: string): void,
 *   cut(run: string, kind: CutKind): void,
 *   died(): void,
 * }} FrameListener
 */

class SandboxFrame {
  /** The passes that run in this frame. @type {Set<string>} */
  runs = new Set();
  /** @type {HTMLIFrameElement} */
  #element;
  /** @type {MessagePort} */
  #port;
  /** @type {FrameListener} */
  #listener;
  #isReady = false;
  /** What the relay makes Workers for Python of. @type {PythonFiles | null} */
  #python = null;
  #unanswered = 0;
  /** @type {ReturnType<typeof setInterval>} */
  #watch;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #birth;

  /**
   * @param {FramePlace} place
   * @param {string} worker the script of its Workers
   * @param {FrameListener} listener
   */
  constructor(place, worker, listener) {
    this.#listener = listener;
    const channel = new MessageChannel();
    this.#port = channel.port1;
    this.#port.onmessage = ({ data }) => this.#receive(data);
    this.post({ type: "runtime", source: worker });

    this.#element = document.createElement("iframe");
    this.#element.setAttribute("sandbox", "allow-scripts");
    this.#element.setAttribute("aria-hidden", "true");
    this.#element.tabIndex = -1;
    this.#element.style.display = "none";
    this.#element[place.by] = place.text;
    this.#element.addEventListener("load", () => this.#connect(channel.port2), { once: true });
    document.body.append(this.#element);
    this.#watch = setInterval(() => this.#ping(), PING_INTERVAL);
  }

  /**
   * Send to the relay; what is sent before the relay is there waits in the port.
   *
   * @param {ToRelay} message
   */
  post(message) {
    this.#port.postMessage(message);
  }

  /**
   * Have a Worker for Python ready; the listener hears `warm` or `cold`.
   *
   * @param {PythonFiles} files
   */
  warm(files) {
    if (this.#python !== files) this.post({ type: "python", files });
    this.#python = files;
    this.post({ type: "warm" });
  }

  /** Take the frame out of the page: whatever runs in it dies. */
  remove() {
    clearInterval(this.#watch);
    clearTimeout(this.#birth);
    this.#port.onmessage = null;
    this.#port.close();
    this.#element.remove();
    this.runs.clear();
  }

  /** @param {MessagePort} port the relay's end */
  #connect(port) {
    const outer = this.#element.contentWindow;
    // Asked for by number, a frame that is not there is an error.
    const inner = outer !== null && outer.length > 0 ? outer[0] : undefined;
    if (inner === undefined) {
      this.#listener.unusable("There is no sandbox at that address of the server, or the page's policy forbids its frame.");
      return;
    }
    inner.postMessage(null, "*", [port]);
    this.#birth = setTimeout(
      () => this.#listener.unusable("The page does not let the sandbox's frame run scripts: its Content-Security-Policy forbids them."),
      RELAY_TIMEOUT,
    );
  }

  #ping() {
    if (this.runs.size === 0 || !this.#isReady) {
      this.#unanswered = 0;
      return;
    }
    if (this.#unanswered >= PINGS_UNANSWERED) {
      this.#listener.died();
      return;
    }
    this.#unanswered += 1;
    this.post({ type: "ping" });
  }

  /** @param {FromRelay} message */
  #receive(message) {
    this.#unanswered = 0;
    switch (message.type) {
      case "ready":
        clearTimeout(this.#birth);
        this.#isReady = true;
        this.#listener.ready();
        break;
      case "unusable":
        clearTimeout(this.#birth);
        this.#listener.unusable(message.message);
        break;
      case "warm":
        this.#listener.warm();
        break;
      case "cold":
        this.#python = null;
        this.#listener.cold(message.message);
        break;
      case "text":
        if (this.runs.has(message.run)) this.#listener.text(message.run, message.text);
        break;
      case "cut":
        if (this.runs.delete(message.run)) this.#listener.cut(message.run, message.kind);
        break;
      case "pong":
        break;
    }
  }
}
