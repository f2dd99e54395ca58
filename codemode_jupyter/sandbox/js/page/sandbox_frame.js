// One sandbox frame: two nested, hidden iframes without any right but to run scripts, and the private port into them.
//
// Owns the iframes, the port, and the watch that tells when the frame's process died. The page listens to no window
// messages, so nothing but the relay that holds the port can speak to it. Never renders anything.

/** How often a frame with passes in it is asked for a sign of life, in ms. */
const PING_INTERVAL = 750;
/** Unanswered pings after which a frame counts as dead: a bit over 2 s. */
const PINGS_UNANSWERED = 3;
/** How long a frame that has loaded may take until its relay answers, in ms: longer, and its scripts do not run. */
const RELAY_TIMEOUT = 4_000;

/** @param {string} text */
const escapeAttribute = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

/** @returns {string} 32 random hexadecimal digits; `crypto.randomUUID` is missing where the page is served without TLS */
const randomId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * The markup of the outer frame, holding the inner one with the relay. The outer frame's policy is what stops the
 * inner one from going to another address; the inner one inherits it.
 *
 * @param {string} relaySource
 */
function sandboxMarkup(relaySource) {
  const nonce = randomId();
  const policy = `default-src 'none'; script-src 'nonce-${nonce}' 'unsafe-eval'; worker-src blob:`;
  const head = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}">`;
  const inner = `${head}<script nonce="${nonce}">${relaySource}</script>`;
  return `${head}<iframe sandbox="allow-scripts" srcdoc="${escapeAttribute(inner)}"></iframe>`;
}

/**
 * What a frame tells its owner: its relay can run programs, or why it cannot; a text of a pass; a pass that broke a
 * limit; and that its process is gone with every pass in it.
 *
 * @typedef {{
 *   ready(): void,
 *   unusable(message: string): void,
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
  #unanswered = 0;
  /** @type {ReturnType<typeof setInterval>} */
  #watch;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #birth;

  /**
   * @param {{relay: string, worker: string}} sources
   * @param {FrameListener} listener
   */
  constructor(sources, listener) {
    this.#listener = listener;
    const channel = new MessageChannel();
    this.#port = channel.port1;
    this.#port.onmessage = ({ data }) => this.#receive(data);
    this.post({ type: "runtime", source: sources.worker });

    this.#element = document.createElement("iframe");
    this.#element.setAttribute("sandbox", "allow-scripts");
    this.#element.setAttribute("aria-hidden", "true");
    this.#element.tabIndex = -1;
    this.#element.style.display = "none";
    this.#element.srcdoc = sandboxMarkup(sources.relay);
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
    this.#element.contentWindow?.[0]?.postMessage(null, "*", [port]);
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
