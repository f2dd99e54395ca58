// Which frame a pass runs in, and how it is made to stop.
//
// New passes go to the current frame, which has a spare Worker ready. Terminating a busy Worker takes Chromium two
// seconds, removing its frame none: so a kill retires the frame. A fresh one takes over at once; the retired one leaves
// the page as soon as no other pass is left in it.

/**
 * @typedef {{
 *   ready(by: FramePlace["by"]): void,
 *   unusable(message: string): void,
 *   warm(): void,
 *   cold(message: string): void,
 *   text(run: string, text: string): void,
 *   cut(run: string, kind: CutKind): void,
 *   lost(runs: string[], reason: "frame" | "moved"): void,
 * }} SandboxListener
 */

class Sandboxes {
  /** @type {SandboxFrame | null} */
  #current = null;
  /** @type {Map<string, SandboxFrame>} */
  #frames = new Map();
  /** How the frame got into the page, once it is there. @type {FramePlace["by"] | null} */
  madeBy = null;
  /** @type {FramePlace[]} */
  #places;
  /** Why each of the places that were tried failed; the next place is the current one. @type {string[]} */
  #faults = [];
  /** @type {string} */
  #worker;
  /** What Workers for Python are made of. @type {PythonFiles | null} */
  #python = null;
  /** Whether somebody waits for one. */
  #isWarming = false;
  /** @type {SandboxListener} */
  #listener;

  /**
   * @param {FramePlace[]} places ways to put a frame into the page, at least one; the next is tried where one fails
   * @param {string} worker the script of the frames' Workers
   * @param {SandboxListener} listener
   */
  constructor(places, worker, listener) {
    this.#places = places;
    this.#worker = worker;
    this.#listener = listener;
  }

  /** Make the frame now, so that the next start finds it ready; the listener is told `ready` or `unusable`. */
  prepare() {
    this.#current ??= this.#makeFrame();
  }

  /**
   * Have a Worker for Python ready; the listener is told `warm` or `cold`.
   *
   * @param {PythonFiles} files
   */
  warm(files) {
    this.#python = files;
    this.#isWarming = true;
    if (this.#current === null) this.#current = this.#makeFrame();
    else this.#current.warm(files);
  }

  /**
   * @param {string} run
   * @param {string} text
   * @param {string} language
   * @param {PackageData[]} packages
   */
  start(run, text, language, packages) {
    if (this.#frames.has(run)) return;
    const frame = (this.#current ??= this.#makeFrame());
    this.#frames.set(run, frame);
    frame.runs.add(run);
    frame.post({ type: "start", run, text, language, packages });
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

  /**
   * Stop every pass and take all frames out of the page.
   *
   * @returns {string[]} the passes that ran
   */
  clear() {
    const runs = [...this.#frames.keys()];
    const frames = new Set(this.#frames.values());
    this.madeBy = null;
    this.#isWarming = false;
    if (this.#current !== null) frames.add(this.#current);
    this.#frames.clear();
    this.#current = null;
    for (const frame of frames) frame.remove();
    return runs;
  }

  /** @returns {SandboxFrame} */
  #makeFrame() {
    const place = /** @type {FramePlace} */ (this.#places[this.#faults.length]);
    const frame = new SandboxFrame(place, this.#worker, {
      ready: () => {
        if (frame !== this.#current || this.madeBy === place.by) return;
        this.madeBy = place.by;
        this.#listener.ready(place.by);
      },
      unusable: (message) => {
        const runs = this.#bury(frame);
        if (place === this.#places[this.#faults.length]) this.#tryNextPlace(message);
        else this.#current ??= this.#makeFrame();
        if (runs.length > 0) this.#listener.lost(runs, "moved");
      },
      warm: () => {
        if (frame !== this.#current) return;
        this.#isWarming = false;
        this.#listener.warm();
      },
      cold: (message) => {
        if (frame !== this.#current) return;
        this.#isWarming = false;
        this.#listener.cold(message);
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
        this.#listener.lost(runs, "frame");
      },
    });
    if (this.#isWarming && this.#python !== null) frame.warm(this.#python);
    return frame;
  }

  /**
   * A frame cannot be where it was put: try the next place, or, after the last one, say why none will do.
   *
   * @param {string} fault
   */
  #tryNextPlace(fault) {
    this.#faults.push(fault);
    if (this.#faults.length < this.#places.length) {
      this.#current = this.#makeFrame();
      return;
    }
    const [first, second] = this.#faults;
    this.#faults = [];
    this.#listener.unusable(second === undefined ? `${first}` : `${first} As a file of the server it fails, too: ${second}`);
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
