// Which frame a pass runs in, and how it is made to stop.
//
// New passes go to the current frame, which has a spare Worker ready. Terminating a busy Worker takes Chromium two
// seconds, removing its frame none: so a kill retires the frame. A fresh one takes over at once; the retired one leaves
// the page as soon as no other pass is left in it.

/**
 * @typedef {{
 *   ready(): void,
 *   unusable(message: string): void,
 *   text(run: string, text: string): void,
 *   cut(run: string, kind: CutKind): void,
 *   lost(runs: string[]): void,
 * }} SandboxListener
 */

class Sandboxes {
  /** @type {SandboxFrame | null} */
  #current = null;
  /** @type {Map<string, SandboxFrame>} */
  #frames = new Map();
  /** @type {{relay: string, worker: string}} */
  #sources;
  /** @type {SandboxListener} */
  #listener;

  /**
   * @param {{relay: string, worker: string}} sources scripts of the frame and of its Workers
   * @param {SandboxListener} listener
   */
  constructor(sources, listener) {
    this.#sources = sources;
    this.#listener = listener;
  }

  /** The ids of the passes that run. */
  get runs() {
    return [...this.#frames.keys()];
  }

  /** Make the frame now, so that the next start finds it ready; the listener is told `ready` or `unusable`. */
  prepare() {
    this.#current ??= this.#makeFrame();
  }

  /**
   * @param {string} run
   * @param {string} text
   */
  start(run, text) {
    if (this.#frames.has(run)) return;
    const frame = (this.#current ??= this.#makeFrame());
    this.#frames.set(run, frame);
    frame.runs.add(run);
    frame.post({ type: "start", run, text });
  }

  /**
   * @param {string} run
   * @param {string} text
   */
  text(run, text) {
    this.#frames.get(run)?.post({ type: "text", run, text });
  }

  /**
   * Free the Worker of a pass that is over.
   *
   * @param {string} run
   */
  end(run) {
    const frame = this.#frames.get(run);
    if (frame === undefined) return;
    this.#frames.delete(run);
    frame.runs.delete(run);
    frame.post({ type: "end", run });
    if (frame !== this.#current && frame.runs.size === 0) frame.remove();
  }

  /**
   * Stop a pass whatever its program is doing.
   *
   * @param {string} run
   */
  kill(run) {
    const frame = this.#frames.get(run);
    if (frame === undefined) return;
    if (frame === this.#current) this.#current = this.#makeFrame();
    this.end(run);
  }

  /** Stop every pass and take all frames out of the page. */
  clear() {
    const frames = new Set(this.#frames.values());
    if (this.#current !== null) frames.add(this.#current);
    this.#frames.clear();
    this.#current = null;
    for (const frame of frames) frame.remove();
  }

  /** @returns {SandboxFrame} */
  #makeFrame() {
    const frame = new SandboxFrame(this.#sources, {
      ready: () => {
        if (frame === this.#current) this.#listener.ready();
      },
      unusable: (message) => {
        this.#bury(frame);
        this.#listener.unusable(message);
      },
      text: (run, text) => this.#listener.text(run, text),
      cut: (run, kind) => {
        this.#frames.delete(run);
        // The Worker may be busy still: to be rid of it the frame has to go.
        if (frame === this.#current) this.#current = this.#makeFrame();
        if (frame.runs.size === 0) frame.remove();
        this.#listener.cut(run, kind);
      },
      died: () => {
        const runs = this.#bury(frame);
        this.#current ??= this.#makeFrame();
        this.#listener.lost(runs);
      },
    });
    return frame;
  }

  /**
   * Forget a frame that is of no use any more, and the passes in it.
   *
   * @param {SandboxFrame} frame
   * @returns {string[]} the passes that were in it
   */
  #bury(frame) {
    const runs = [...frame.runs];
    for (const run of runs) this.#frames.delete(run);
    if (frame === this.#current) this.#current = null;
    frame.remove();
    return runs;
  }
}
