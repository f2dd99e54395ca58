// One pass: take the begin message, run the program, and say how it ended. The last fragment.

/**
 * @typedef {{
 *   type: "begin", source: string, line_offset: number, namespaces: [string, string[]][],
 *   calls: RecordedCall[], events: ProgramEvent[], clock: number, seed: string, language: string, fetch: boolean,
 *   modules: ModuleText[],
 * }} Begin
 */

/** @typedef {{value: unknown} | {thrown: unknown}} Outcome */

/** @type {Outcome | null} */
let programOutcome = null;
/** Turns since the outcome was there: time for rejections that nobody handles to be reported. */
let turnsSinceOutcome = 0;
/** Real ms until rejections that were handled late are taken back; engines say so some tasks later. */
const HANDLED_GRACE = 50;
let handledGraceIsOver = false;
/** By promise. @type {Map<Promise<unknown>, unknown>} */
const unhandledRejections = new Map();
/** @type {string[]} */
let globalNames = [];
/** What the pass began with. @type {Begin | null} */
let begun = null;
/** Takes a millisecond or two. */
const REHEARSALS = 200;

/** @param {string | PackageBytes[]} data a text, or, before all texts, packages */
function receiveText(data) {
  if (typeof data !== "string") {
    takePackages(data);
    return;
  }
  const message = JSON.parse(data);
  if (message.type === "replies") receiveReplies(message.replies);
  else if (message.type === "begin" && begun === null) begin(message);
}

/** @param {Begin} message */
function begin(message) {
  begun = message;
  setClock(message.clock);
  seedRandom(message.seed);
  setRecordedCalls(message.calls);
  setRecordedEvents(message.events);
  setModules(message.modules);
  installConnectors(message.namespaces);
  if (message.fetch) installFetch();
  globalNames = [...message.namespaces.map(([name]) => name), "codemode", ...(message.fetch ? FETCH_GLOBALS : [])];
  if (message.language !== "javascript") {
    const language = languages.get(message.language);
    if (language !== undefined) language.start(message);
    else failProgram(codedError("unsupported_language", `This sandbox runs JavaScript, not ${message.language}.`));
    return;
  }
  runProgram(message.source, message.line_offset).then(
    (value) => setOutcome({ value }),
    (thrown) => setOutcome({ thrown }),
  );
  wake();
}

/**
 * @param {string} source
 * @param {number} lineOffset
 */
async function runProgram(source, lineOffset) {
  return evaluateProgram(source, PROGRAM_FILE, lineOffset)(undefined, importModule);
}

/**
 * @param {string} source an expression that gives a function
 * @param {string} file its name in stacks
 * @param {number} lineOffset lines of the source before the author's first one
 * @returns {(input?: unknown, importModule?: (name: unknown) => Promise<object>) => unknown}
 */
function evaluateProgram(source, file, lineOffset) {
  // One line for the directive, so that columns stay as they are.
  lineShifts.set(file, lineOffset + 1);
  const program = evaluateGlobally(`"use strict"; (\n${source}\n)\n//# sourceURL=${file}`);
  if (typeof program !== "function") {
    throw codedError("not_a_function", `The program must be a function, such as async () => { … }, not ${inspect(program, 1)}.`, TypeError);
  }
  return program;
}

/** @param {Outcome} outcome the first one counts */
function setOutcome(outcome) {
  programOutcome ??= outcome;
  wake();
}

/** @param {unknown} thrown by a callback that nobody awaits */
function failProgram(thrown) {
  setOutcome({ thrown });
}

/** The program is over: its result or error goes to the kernel, two turns later. */
function endWithOutcome() {
  turnsSinceOutcome += 1;
  if (turnsSinceOutcome < 3) {
    wake();
    return;
  }
  const outcome = /** @type {Outcome} */ (programOutcome);
  const recorded = nextRecordedEvent();
  if ("thrown" in outcome) endPass("failed", encodeThrown(outcome.thrown, globalNames));
  else if (recorded !== undefined) diverge(`${recorded[0]} ${recorded[1]} happened`);
  else if (unhandledRejections.size === 0) endWithValue(outcome.value);
  else if (handledGraceIsOver) endPass("failed", encodeThrown([...unhandledRejections.values()][0], globalNames));
  else {
    handledGraceIsOver = true;
    graceHandle = realSetTimeout(wake, HANDLED_GRACE);
  }
}

/** @param {unknown} value */
function endWithValue(value) {
  // Reading the value may run getters of the program; what they do is no part of it any more.
  programHasEnded = true;
  let text;
  try {
    text = encodeValue(value, "The result", "lenient", MAX_RESULT_BYTES);
  } catch (error) {
    const isTooLarge = isError(error) && readOwn(error, "code") === "too_large";
    if (isTooLarge) endPass("too_large", { error: encodeThrown(error, []).error });
    else endPass("failed", encodeThrown(error, globalNames));
    return;
  }
  endPass("completed", { value: text });
}

/**
 * @param {"completed" | "failed" | "paused" | "diverged" | "too_large" | "needs_python"} status
 * @param {{value?: string, error?: string, line?: number, column?: number}} [details]
 */
function endPass(status, details = {}) {
  programHasEnded = true;
  realClearTimeout(timerHandle);
  realClearTimeout(graceHandle);
  sendText(
    JSON.stringify({ type: "done", status, ...details, issued: issuedCount, ...takeNewEvents(), lines: takeConsoleLines() }),
  );
}

/** Do what every call does, before a program waits for it: engines run a text slowly until it has run some times. */
function rehearse() {
  for (let number = 0; number < REHEARSALS; number += 1) {
    decodeValue(encodeValue({ number, text: "rehearsal", list: [true, null] }, "The rehearsal"));
  }
}

function start() {
  startPump();
  listenGlobally("unhandledrejection", (event) => {
    event.preventDefault();
    unhandledRejections.set(event.promise, event.reason);
  });
  listenGlobally("rejectionhandled", (event) => unhandledRejections.delete(event.promise));
  // Callbacks of programs are guarded where they are called, so this is a fault of the runtime or the engine.
  listenGlobally("error", (event) => {
    event.preventDefault();
    failProgram(event.error);
  });
  if (prepareLanguage === null) {
    connect(receiveText);
    lockDown();
    rehearse();
  } else {
    startPrepared(prepareLanguage);
  }
}

/**
 * Lock down when the language's own engine is loaded, and tell the Worker's owner; no program begins before.
 *
 * @param {(assets: any) => Promise<void>} prepare
 */
function startPrepared(prepare) {
  /** @type {(string | PackageBytes[])[] | null} */
  let early = [];
  /** @type {(message: null) => void} */
  const tellOwner = globalThis.postMessage.bind(globalThis);
  const goOn = () => {
    lockDown();
    tellOwner(null);
    const texts = early ?? [];
    early = null;
    texts.forEach(receiveText);
  };
  connect(
    (text) => {
      if (early === null) receiveText(text);
      else early.push(text);
    },
    (assets) => prepare(assets).then(goOn),
  );
}

start();
