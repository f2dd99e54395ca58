// The way out of the page: texts of the passes, the first of a tick at once and the rest of it together, cut into pieces
// that fit the websocket.
//
// Few, coarse messages are fast; one above 10 MiB kills the kernel's connection. Escaping makes a text at most six
// times longer, so a message of a million UTF-16 units is safe whatever it holds.

/** Most UTF-16 units of text in one message. */
const MESSAGE_LENGTH = 1_000_000;

class Outbox {
  /** @type {(message: PageMessage) => void} */
  #send;
  /** @type {Piece[]} */
  #pieces = [];
  /** How many pieces were sent of each pass. @type {Map<string, number>} */
  #counts = new Map();
  #length = 0;
  // A tick by MessageChannel: timers of a page in the background fire once a second or less.
  #tick = new MessageChannel();
  #isTickDue = false;

  /** @param {(message: PageMessage) => void} send */
  constructor(send) {
    this.#send = send;
    this.#tick.port1.onmessage = () => {
      this.#isTickDue = false;
      this.flush();
    };
  }

  /**
   * Take one text of a pass; it leaves at once, or with the others of a tick that has begun.
   *
   * @param {string} run
   * @param {string} text
   */
  text(run, text) {
    let start = 0;
    do {
      let end = Math.min(text.length, start + MESSAGE_LENGTH - this.#length);
      // A pair of surrogates stays together: half of one does not survive the way.
      if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
      this.#pieces.push([run, text.slice(start, end), end < text.length]);
      this.#counts.set(run, this.count(run) + 1);
      this.#length += end - start;
      start = end;
      if (start < text.length || this.#length >= MESSAGE_LENGTH) this.flush();
    } while (start < text.length);
    if (this.#isTickDue) return;
    this.flush();
    this.#isTickDue = true;
    this.#tick.port2.postMessage(null);
  }

  /**
   * Send a message that is not a text, after the texts that came before it.
   *
   * @param {PageMessage} message
   */
  send(message) {
    this.flush();
    this.#send(message);
  }

  /**
   * @param {string} run
   * @returns {number} how many pieces of the pass were sent
   */
  count(run) {
    return this.#counts.get(run) ?? 0;
  }

  /**
   * Forget a pass that is over.
   *
   * @param {string} run
   */
  forget(run) {
    this.#counts.delete(run);
  }

  flush() {
    if (this.#pieces.length === 0) return;
    const texts = this.#pieces;
    this.#pieces = [];
    this.#length = 0;
    this.#send({ type: "texts", texts });
  }

  close() {
    this.#pieces = [];
    this.#tick.port1.close();
  }
}
