// A program in Python, in the same Worker runtime: its calls are issued, replayed and settled by the same machinery.
//
// Owns the way between the interpreter and the runtime: numbers and texts only, each value one tagged JSON text that is
// made in Python (sandbox/python/guest) and never read on the way.

/** A tagged text that Python wrote: written as it is. */
class TaggedText {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}
writersByPrototype.set(TaggedText.prototype, (writer, value) => writer.put(value.text));

/** Pyodide, or why it did not load, which a program is told. @type {{pyodide: any} | {fault: unknown}} */
let interpreter = { fault: codedError("unsupported_language", "This sandbox has no Python.") };

prepareLanguage = async (assets) => {
  try {
    interpreter = { pyodide: await loadInterpreter(assets, (line) => print("log", [line])) };
  } catch (fault) {
    interpreter = { fault };
  }
};

/**
 * Run Python code that belongs to the program: what breaks out of it ends the program.
 *
 * @param {() => void} run
 */
function guarded(run) {
  try {
    run();
  } catch (error) {
    failProgram(codedError("interpreter_failed", `Python cannot go on: ${lastLine(error)}`));
  }
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function lastLine(error) {
  return describeThrown(error).trim().split("\n").at(-1) ?? "";
}

/** @param {Begin} message */
function startPython(message) {
  /** @type {any} */
  let program;
  /** @type {Map<number, number>} */
  const timers = new Map();
  /** @type {Map<number, {resolve: (value: TaggedText) => void, reject: (error: unknown) => void}>} */
  const steps = new Map();
  const deliver = (/** @type {number} */ number, /** @type {Promise<string>} */ promise) => {
    promise.then(
      (text) => guarded(() => program.deliver(number, text, false)),
      (error) => {
        const text = typeof error === "string" ? error : encodeThrown(error, []).error;
        guarded(() => program.deliver(number, text, true));
      },
    );
  };
  const bridge = {
    /** @type {(number: number, connector: string, method: string, text: string) => void} */
    call: (number, connector, method, text) =>
      deliver(
        number,
        issueCall(connector, method, () => encodeValue(new TaggedText(text), `What was passed to ${connector}.${method}`), null, true),
      ),
    /** @type {(number: number, name: string) => void} */
    step: (number, name) => {
      const run = () =>
        new Promise((resolve, reject) => {
          steps.set(number, { resolve, reject });
          guarded(() => program.run_step(number));
        });
      deliver(number, issueCall("__step", name, () => "{}", run, true));
    },
    stepDone: (/** @type {number} */ number, /** @type {string} */ text) => steps.get(number)?.resolve(new TaggedText(text)),
    stepFailed: (/** @type {number} */ number, /** @type {string} */ text) => steps.get(number)?.reject(new TaggedFailure({ error: text })),
    addTimer: (/** @type {number} */ id, /** @type {number} */ delay) => {
      const timer = addTimer(() => guarded(() => program.fire(id)), Math.ceil(delay), false, []);
      timers.set(id, timer);
    },
    clearTimer: (/** @type {number} */ id) => {
      clearTimer(timers.get(id));
      timers.delete(id);
    },
    print: (/** @type {ConsoleLevel} */ level, /** @type {string} */ text) => print(level, [text]),
    finish: (/** @type {string} */ text) => setOutcome({ value: new TaggedText(text) }),
    fail: (/** @type {string} */ fields) => failProgram(new TaggedFailure(JSON.parse(fields))),
  };
  try {
    if ("fault" in interpreter) throw interpreter.fault;
    const guest = interpreter.pyodide.pyimport("codemode_guest.program");
    // Not in `begin`: what the program does first may come back here.
    program = guest.make(bridge);
    const { source, seed, namespaces } = message;
    guarded(() => program.start(JSON.stringify({ source, seed, namespaces })));
    wake();
  } catch (error) {
    failProgram(error);
  }
}

languages.set("python", startPython);
