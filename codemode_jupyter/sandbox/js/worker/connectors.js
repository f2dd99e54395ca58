// The globals that a program calls: one object per connector, and `codemode`.
//
// Owns their shape. A method that the kernel did not name is still a function: its call goes to the kernel, which
// answers with the nearest names.

/** Names that engines and libraries ask any object for; a connector has none of them. */
const NEVER_METHODS = new Set([
  "then",
  "catch",
  "finally",
  "toJSON",
  "constructor",
  "prototype",
  "__proto__",
  "toString",
  "toLocaleString",
  "valueOf",
  "length",
  "hasOwnProperty",
  "isPrototypeOf",
  "propertyIsEnumerable",
  "$$typeof",
  "nodeType",
  "asymmetricMatch",
]);

/**
 * @param {Record<string, Function>} methods
 * @param {(name: string) => Function} makeMethod for a name that is not among them
 * @returns {object}
 */
function makeNamespace(methods, makeMethod) {
  const target = Object.create(null);
  for (const name of Object.keys(methods)) Object.defineProperty(target, name, dataDescriptor(Object.freeze(methods[name]), true));
  Object.freeze(target);
  const handler = Object.create(null);
  handler.get = (/** @type {object} */ _, /** @type {string | symbol} */ key) => {
    // It has no prototype, so what it has is its own.
    const method = target[key];
    if (method !== undefined) return method;
    if (typeof key !== "string" || NEVER_METHODS.has(key)) return undefined;
    return makeMethod(key);
  };
  return new Proxy(target, Object.freeze(handler));
}

/**
 * @param {string} connector
 * @param {string} method
 * @returns {(...values: unknown[]) => Promise<unknown>}
 */
function connectorMethod(connector, method) {
  const what = `What was passed to ${connector}.${method}`;
  const call = (/** @type {unknown[]} */ ...values) => issueCall(connector, method, () => encodeArguments(values, what));
  defineHidden(call, "name", method);
  return call;
}

/**
 * One argument is its own text; none is `{}`; several are a tagged list.
 *
 * @param {unknown[]} values
 * @param {string} what
 * @returns {string}
 */
function encodeArguments(values, what) {
  let count = values.length;
  while (count > 0 && values[count - 1] === undefined) count -= 1;
  if (count === 0) return "{}";
  if (count === 1) return encodeValue(values[0], what);
  const list = encodeValue(values.slice(0, count), what, "strict", MAX_VALUE_BYTES - 40);
  return `{"$type":"arguments","value":${list}}`;
}

/** @param {[name: string, methods: string[]][]} namespaces */
function installConnectors(namespaces) {
  for (const [name, methodNames] of namespaces) {
    /** @type {Record<string, Function>} */
    const methods = Object.create(null);
    for (const method of methodNames) methods[method] = connectorMethod(name, method);
    defineGlobal(name, makeNamespace(methods, (method) => connectorMethod(name, method)));
  }
  defineGlobal("codemode", makeCodemode());
}

function makeCodemode() {
  const ask = (/** @type {string} */ method) => connectorMethod("codemode", method);
  return makeNamespace(
    {
      search: ask("search"),
      describe: ask("describe"),
      step: (/** @type {unknown} */ name, /** @type {unknown} */ run) => issueStep(name, run),
      run: (/** @type {unknown[]} */ ...values) => runSnippet(values),
    },
    ask,
  );
}

/**
 * Run a saved program inside this one: same log, same console.
 *
 * @param {unknown[]} values name and input
 * @returns {Promise<unknown>}
 */
async function runSnippet(values) {
  const origin = new Error();
  let text = "";
  const snippet = await issueCall("codemode", "run", () => {
    text = encodeArguments(values, "What was passed to codemode.run");
    return text;
  });
  // The input as the log has it, so that a snippet gets the same in every pass and shares no object with its caller.
  const input = values.length > 1 && values[1] !== undefined ? JSON.stringify(JSON.parse(text).value[1]) : UNDEFINED_TEXT;
  if (snippet.language === undefined) return evaluateSnippet(snippet, input);
  const language = languages.get(snippet.language);
  if (language === undefined) {
    // The kernel repeats the pass in a sandbox that has the language; nothing happens in this one any more.
    endPass("needs_python");
    return new Promise(() => {});
  }
  try {
    return await language.runSnippet(snippet, input);
  } catch (error) {
    throw withOrigin(error, origin);
  }
}

/** @typedef {{source: string, line_offset: number, name: string, language?: string}} Snippet */

/**
 * @param {Snippet} snippet in JavaScript
 * @param {string} input tagged text
 * @returns {unknown} what its function returns
 */
function evaluateSnippet({ source, name, line_offset }, input) {
  const file = `snippet-${`${name}`.replace(/[^\w.-]/g, "_")}.js`;
  return evaluateProgram(source, file, line_offset)(decodeValue(input), importModule);
}
