// What the runtime takes from the Worker before any program runs: the ways out, the real time, the tools for bytes.
//
// The fragments in this folder share one scope (worker_source.py puts them together into one function). After the
// lockdown the language's own objects are frozen and their global names fixed, so the runtime uses them as they are;
// only what the lockdown removes or replaces has to be captured here.

const realNow = performance.now.bind(performance);
const realSetTimeout = globalThis.setTimeout.bind(globalThis);
const realClearTimeout = globalThis.clearTimeout.bind(globalThis);
const RealDate = Date;
const realQueueMicrotask = globalThis.queueMicrotask.bind(globalThis);
// Deno sets its own up at the first use, by way of the global that the lockdown fixes.
realQueueMicrotask(() => {});
/**
 * Deno's quickest way to a macrotask of its own; browsers have none but messages.
 *
 * @type {((callback: () => void) => void) | undefined}
 */
const realSetImmediate = /** @type {any} */ (globalThis).setImmediate?.bind(globalThis);
const listenGlobally = globalThis.addEventListener.bind(globalThis);
const stopListeningGlobally = globalThis.removeEventListener.bind(globalThis);
const encodeBase64 = globalThis.btoa.bind(globalThis);
const decodeBase64 = globalThis.atob.bind(globalThis);
const utf8 = new TextEncoder();
/** Evaluates in the global scope, so a program sees none of the runtime's names. */
const evaluateGlobally = globalThis.eval;

/**
 * An Error that carries a machine-readable code, the way errors of the kernel do.
 *
 * @param {string} code
 * @param {string} message
 * @param {ErrorConstructor | TypeErrorConstructor | EvalErrorConstructor} [Kind]
 * @returns {Error & {code: string}}
 */
function codedError(code, message, Kind = Error) {
  const error = new Kind(message);
  defineHidden(error, "code", code);
  return /** @type {Error & {code: string}} */ (error);
}

/**
 * Define a property as `class` bodies do: writable, not enumerable, whatever the prototype says.
 *
 * @param {object} target
 * @param {PropertyKey} key
 * @param {unknown} value
 */
function defineHidden(target, key, value) {
  Object.defineProperty(target, key, dataDescriptor(value, false));
}

/**
 * A property descriptor without a prototype, so that nothing can be inherited into it.
 *
 * @param {unknown} value
 * @param {boolean} enumerable
 * @returns {PropertyDescriptor}
 */
function dataDescriptor(value, enumerable) {
  const descriptor = Object.create(null);
  descriptor.value = value;
  descriptor.writable = true;
  descriptor.enumerable = enumerable;
  descriptor.configurable = true;
  return descriptor;
}
