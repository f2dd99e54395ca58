// The way out of the page: texts of the passes, the first of a tick at once and the rest of it together, cut into pieces
// that fit the websocket.
//
// Few, coarse messages are fast; one above 10 MiB kills the kernel's connection. Escaping makes a text at most six
// times longer, so a message of half a million UTF-16 units is safe whatever it holds. Writing one holds the page up for
// some time, so of several each has a tick of its own.

/** Most UTF-16 units of text in one message. */
const MESSAGE_LENGTH = 500_000;

class Outbox {
  /** @type {(message: PageMessage) => void} */
  #send;
  /** In order; a message of texts at the end takes more until it is full. @type {PageMessage[]} */
  #waiting = [];
  /** How much text the last message holds. */
  #length = 0;
  /** How many pieces there were of each pass, sent or before whatever waits next. @type {Map<string, number>} */
  #counts = new Map();
  // A tick by MessageChannel: timers of a page in the background fire once a second or less.
  #tick = new MessageChannel();
  #isTickDue = false;

  /** @param {(message: PageMessage) => void} send */
  constructor(send) {
    this.#send = send;
    this.#tick.port1.onmessage = () => {
      this.#isTickDue = false;
      this.#sendNext();
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
      const texts = this.#roomForText();
      let end = Math.min(text.length, start + MESSAGE_LENGTH - this.#length);
      // A pair of surrogates stays together: half of one does not survive the way.
      if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
      texts.push([run, text.slice(start, end), end < text.length]);
      this.#counts.set(run, this.count(run) + 1);
      this.#length += end < text.length ? MESSAGE_LENGTH : end - start;
      start = end;
    } while (start < text.length);
    if (!this.#isTickDue) this.#sendNext();
  }

  /**
   * Send a message that is not a text, after the texts that came before it.
   *
   * @param {PageMessage} message
   */
  send(message) {
    if (this.#waiting.length === 0) this.#send(message);
    else this.#waiting.push(message);
  }

  /**
   * Send a last message, while there is time; what waits is of no use any more.
   *
   * @param {PageMessage} message
   */
  sendLast(message) {
    this.#waiting = [];
    this.#send(message);
  }

  /**
   * @param {string} run
   * @returns {number} how many pieces of the pass were sent, or will be before the next message that is not a text
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

  close() {
    this.#waiting = [];
    this.#tick.port1.close();
  }

  /** @returns {Piece[]} the texts of the last message, which has room for more */
  #roomForText() {
    const last = this.#waiting.at(-1);
    if (last?.type === "texts" && this.#length < MESSAGE_LENGTH) return last.texts;
    /** @type {Piece[]} */
    const texts = [];
    this.#waiting.push({ type: "texts", texts });
    this.#length = 0;
    return texts;
  }

  /** Send what waits longest; what comes within the tick that begins now waits for its end. */
  #sendNext() {
    const message = this.#waiting.shift();
    if (message === undefined) return;
    this.#send(message);
    this.#isTickDue = true;
    this.#tick.port2.postMessage(null);
  }
}
