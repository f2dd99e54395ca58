// A program in Python, in the same Worker runtime: its calls are issued, replayed and settled by the same machinery.
//
// Owns the way between the interpreter and the runtime: numbers and texts only, each value one tagged JSON text that is
// made in Python (sandbox/python/guest) and never read on the way.

/** Pyodide, or why it did not load, which a program is told. @type {{pyodide: any} | {fault: unknown}} */
let interpreter = { fault: codedError("unsupported_language", "This sandbox has no Python.") };

/**
 * What is written below Python: by compiled code, or by Python itself where it falls, of which the program's lines are shown.
 *
 * @param {string} line
 */
function printLine(line) {
  if (!line.startsWith('  File "/lib/')) print("log", [line]);
}

prepareLanguage = async (assets) => {
  try {
    interpreter = { pyodide: await loadInterpreter(assets, printLine) };
  } catch (fault) {
    interpreter = { fault: codedError("python_not_available", `Python did not start in the sandbox: ${lastLine(fault)}`) };
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
    failProgram(codedError("interpreter_failed", `Python cannot go on: ${whatBroke(lastLine(error))}`));
  }
}

/**
 * @param {string} said what the interpreter said as it fell
 * @returns {string} a sentence for who wrote the program
 */
function whatBroke(said) {
  const exit = /terminated with exit\((\d+)\)/.exec(said);
  if (exit !== null) return `the program ended the interpreter itself (exit code ${exit[1]}). End it by \`return\`.`;
  if (/call stack/.test(said)) return "something called itself too often below Python, such as a `__repr__` or a nested value.";
  return `the interpreter broke down (${said}). Compiled code was used as it must not be, such as by ctypes.`;
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function lastLine(error) {
  return describeThrown(error).trim().split("\n").at(-1) ?? "";
}

/** The pass in Python: there is one once a program or a snippet in it begins. @type {any} */
let pythonPass = null;

/** @returns {any} */
function openPython() {
  if ("fault" in interpreter) throw interpreter.fault;
  if (pythonPass === null) {
    const { seed, namespaces, fetch } = /** @type {Begin} */ (begun);
    const begin = JSON.stringify({ seed, namespaces, fetch, modules: pythonModules });
    installPackages(interpreter.pyodide);
    pythonPass = interpreter.pyodide.pyimport("codemode_guest.program").make(bridge, begin);
  }
  return pythonPass;
}

/** What Python reaches of the runtime. It may say whatever it wants here, but makes code of no text of its own. */
const bridge = makeBridge();

function makeBridge() {
  /** The snippets in JavaScript that the kernel served, as JSON. @type {Set<string>} */
  const served = new Set();
  const normalized = (/** @type {string} */ text) => JSON.stringify(JSON.parse(text));
  const serve = (/** @type {string} */ snippet) => {
    if (JSON.parse(snippet).language === undefined) served.add(normalized(snippet));
  };
  /** @type {Map<number, number>} */
  const timers = new Map();
  /** @type {Map<number, {resolve: (value: WrittenText) => void, reject: (error: unknown) => void}>} */
  const steps = new Map();
  const deliver = (/** @type {number} */ number, /** @type {Promise<string>} */ promise) => {
    promise.then(
      (text) => guarded(() => pythonPass.deliver(number, text, false)),
      (error) => {
        const text = typeof error === "string" ? error : encodeThrown(error, []).error;
        guarded(() => pythonPass.deliver(number, text, true));
      },
    );
  };
  return {
    /** @type {(number: number, connector: string, method: string, text: string) => void} */
    call: (number, connector, method, text) => {
      const write = () => encodeValue(new WrittenText(text), `What was passed to ${connector}.${method}`);
      const promise = issueCall(connector, method, write, null, true);
      if (connector === "codemode" && method === "run") promise.then(serve, () => {});
      deliver(number, promise);
    },
    /** @type {(number: number, name: string) => void} */
    step: (number, name) => {
      const run = () =>
        new Promise((resolve, reject) => {
          steps.set(number, { resolve, reject });
          guarded(() => pythonPass.run_step(number));
        });
      deliver(number, issueCall("__step", name, () => "{}", run, true));
    },
    stepDone: (/** @type {number} */ number, /** @type {string} */ text) => steps.get(number)?.resolve(new WrittenText(text)),
    stepFailed: (/** @type {number} */ number, /** @type {string} */ text) => steps.get(number)?.reject(new TaggedFailure({ error: text })),
    /** @type {(number: number, snippet: string, input: string) => void} of a snippet in JavaScript */
    runSnippet: (number, snippet, input) => {
      if (!served.has(normalized(snippet))) throw codedError("eval_not_available", "Only snippets of the kernel are run.", EvalError);
      deliver(number, runJavaScriptSnippet(JSON.parse(snippet), input));
    },
    snippetDone: (/** @type {number} */ number, /** @type {string} */ text) => snippets.get(number)?.resolve(decodeValue(text)),
    snippetFailed: (/** @type {number} */ number, /** @type {string} */ text) => snippets.get(number)?.reject(decodeValue(text)),
    addTimer: (/** @type {number} */ id, /** @type {number} */ delay) => {
      const timer = addTimer(() => guarded(() => pythonPass.fire(id)), Math.ceil(delay), false, []);
      timers.set(id, timer);
    },
    /** @type {(url: string) => string} the one form of an address; empty: it is none */
    address: (url) => {
      try {
        return readAddress(url);
      } catch {
        return "";
      }
    },
    clearTimer: (/** @type {number} */ id) => {
      clearTimer(timers.get(id));
      timers.delete(id);
    },
    print: (/** @type {ConsoleLevel} */ level, /** @type {string} */ text) => print(level, [text]),
    finish: (/** @type {string} */ text) => setOutcome({ value: new WrittenText(text) }),
    fail: (/** @type {string} */ text) => {
      const { error, line, column } = JSON.parse(text);
      failProgram(new TaggedFailure({ error, line, column }));
    },
  };
}

/** @param {Begin} message */
function startPython({ source }) {
  try {
    const pass = openPython();
    guarded(() => pass.start(source));
    wake();
  } catch (error) {
    failProgram(error);
  }
}

/** Snippets in Python that were begun, by number. @type {Map<number, {resolve: (value: unknown) => void, reject: (error: unknown) => void}>} */
const snippets = new Map();

/**
 * Run a snippet in Python for a program in JavaScript.
 *
 * @param {Snippet} snippet
 * @param {string} input
 * @returns {Promise<unknown>}
 */
function runPythonSnippet({ source, name }, input) {
  return new Promise((resolve, reject) => {
    const number = snippets.size;
    snippets.set(number, { resolve, reject });
    const pass = openPython();
    guarded(() => pass.run_snippet(number, source, name, input));
  });
}

/**
 * Run a snippet in JavaScript for a program in Python.
 *
 * @param {Snippet} snippet
 * @param {string} input
 * @returns {Promise<string>} what it returned, as tagged text
 */
async function runJavaScriptSnippet(snippet, input) {
  const value = await evaluateSnippet(snippet, input);
  return encodeValue(value, `What the snippet "${snippet.name}" returned`, "strict", MAX_RESULT_BYTES);
}

languages.set("python", { start: startPython, runSnippet: runPythonSnippet });
