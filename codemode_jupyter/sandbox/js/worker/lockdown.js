// The world a program finds: the language's own objects, frozen, and the few globals on a list; nothing else.
//
// Everything that is not on the list is deleted from the global object and its prototypes, so network, storage, other
// Workers and whatever an engine adds next are gone. What stays is frozen, so that a program can change neither the
// runtime nor what another part of it relies on. Assigning to an inherited, frozen property (`error.name = …`) still
// makes an own property, as programs expect. No text becomes code: the kernel has parsed all there is, and sends its
// imports to `importModule`.

/** Globals of the language that stay as they are. */
const LANGUAGE_GLOBALS = [
  ...["globalThis", "undefined", "NaN", "Infinity", "eval", "isFinite", "isNaN", "parseFloat", "parseInt"],
  ...["decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "unescape"],
  ...["Object", "Function", "Boolean", "Symbol", "Number", "BigInt", "Math", "String", "RegExp", "JSON", "Intl", "Iterator"],
  ...["Error", "AggregateError", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"],
  ...["SuppressedError", "DisposableStack", "AsyncDisposableStack", "Promise", "Proxy", "Reflect"],
  ...["Array", "ArrayBuffer", "DataView", "Map", "Set", "WeakMap", "WeakSet"],
  ...["Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array"],
  ...["BigInt64Array", "BigUint64Array", "Float16Array", "Float32Array", "Float64Array"],
];
/** Globals of the platform that stay: they reach nothing and depend on no clock but the program's. */
const PLATFORM_GLOBALS = [
  ...["URL", "URLSearchParams", "TextEncoder", "TextDecoder", "atob", "btoa", "structuredClone"],
  ...["AbortController", "AbortSignal", "DOMException", "Event", "EventTarget", "CustomEvent"],
];
/** Globals that the runtime provides in the place of the engine's. */
const REPLACED_GLOBALS = [
  ...["Date", "console", "crypto", "performance"],
  ...["setTimeout", "clearTimeout", "setInterval", "clearInterval", "queueMicrotask"],
];

/** Prototypes whose properties programs override on objects of their own by plain assignment. */
const OVERRIDABLE_PROTOTYPES = [
  // Not Array and Promise: engines keep their quickest ways for the unchanged ones.
  ...[Object.prototype, Function.prototype, Error.prototype, EvalError.prototype, RangeError.prototype, ReferenceError.prototype],
  ...[SyntaxError.prototype, TypeError.prototype, URIError.prototype, AggregateError.prototype],
];
const OVERRIDABLE_NAMES = new Set(["constructor", "name", "message", "toString", "toLocaleString", "valueOf", "hasOwnProperty"]);

/**
 * Put an object of the runtime in the place of a global.
 *
 * @param {string} name
 * @param {unknown} value
 */
function replaceGlobal(name, value) {
  Object.defineProperty(globalThis, name, dataDescriptor(value, false));
}

/**
 * Define a global that a program cannot change.
 *
 * @param {string} name
 * @param {unknown} value
 */
function defineGlobal(name, value) {
  const descriptor = dataDescriptor(value, true);
  descriptor.writable = false;
  descriptor.configurable = false;
  Object.defineProperty(globalThis, name, descriptor);
}

function lockDown() {
  installClock();
  installRandom();
  installTimers();
  installConsole();
  installStackTraces();
  guardGlobalEvents();
  refuseEvaluation();
  Reflect.deleteProperty(URL, "createObjectURL");
  Reflect.deleteProperty(URL, "revokeObjectURL");
  const allowed = new Set([...LANGUAGE_GLOBALS, ...PLATFORM_GLOBALS, ...REPLACED_GLOBALS]);
  removeGlobals(allowed);
  harden(allowed);
  fixGlobals(allowed);
}

/**
 * Let `eval` and the constructors of functions refuse. Those of async functions and generators have no names of their
 * own and are reached through their prototypes.
 */
function refuseEvaluation() {
  const refuse = (/** @type {string} */ name) =>
    codedError("eval_not_available", `${name} is not available in a program: no text becomes code here. Write the code itself.`, EvalError);
  const [plain, ...others] = [() => {}, async () => {}, function* () {}, async function* () {}].map((sample) => {
    const prototype = Object.getPrototypeOf(sample);
    const { name } = prototype.constructor;
    // A function that can be constructed and extended, as the original.
    const Refusing = function () {
      throw refuse(name);
    };
    Object.defineProperty(Refusing, "name", { value: name });
    Object.defineProperty(Refusing, "length", { value: 1 });
    Object.defineProperty(Refusing, "prototype", { value: prototype, writable: false });
    defineHidden(prototype, "constructor", Refusing);
    return Refusing;
  });
  for (const Other of others) Object.setPrototypeOf(Other, /** @type {Function} */ (plain));
  replaceGlobal("Function", plain);
  // A call of something else by this name evaluates nothing, whatever its place.
  const evaluate = (/** @type {unknown} */ _text) => {
    throw refuse("eval");
  };
  defineHidden(evaluate, "name", "eval");
  replaceGlobal("eval", evaluate);
}

/**
 * The global scope is no event target for programs: a listener could be handed a port, and a message with a port sent
 * to a Worker that waits would take the kernel's place. Other events go through: Deno sends its own this way, and a
 * program that sends them harms only itself.
 */
function guardGlobalEvents() {
  const { addEventListener, dispatchEvent, removeEventListener } = EventTarget.prototype;
  const typeOf = /** @type {(this: Event) => string} */ (Object.getOwnPropertyDescriptor(Event.prototype, "type")?.get);
  const isGlobal = (/** @type {unknown} */ target) => target === undefined || target === null || target === globalThis;
  const refuse = () => {
    throw new TypeError("The sandbox's global scope has no events for programs");
  };
  for (const original of [addEventListener, removeEventListener]) {
    /** @this {unknown} @param {unknown[]} values */
    const method = function (...values) {
      return isGlobal(this) ? refuse() : Reflect.apply(original, this, values);
    };
    defineHidden(method, "name", original.name);
    defineHidden(EventTarget.prototype, original.name, method);
  }
  /** @this {unknown} @param {Event} event */
  const dispatch = function (event) {
    if (isGlobal(this) && Reflect.apply(typeOf, event, []) === "message") refuse();
    return Reflect.apply(dispatchEvent, this, [event]);
  };
  defineHidden(dispatch, "name", "dispatchEvent");
  defineHidden(EventTarget.prototype, "dispatchEvent", dispatch);
}

/** @param {Set<string>} allowed */
function removeGlobals(allowed) {
  for (const name of PLATFORM_GLOBALS) {
    // Some engines keep them on a prototype, where they would go with the rest.
    if (name in globalThis) replaceGlobal(name, /** @type {Record<string, unknown>} */ (globalThis)[name]);
  }
  /** @type {object | null} */
  let holder = globalThis;
  while (holder !== null && holder !== EventTarget.prototype && holder !== Object.prototype) {
    for (const key of Reflect.ownKeys(holder)) {
      if (typeof key === "symbol" || (holder === globalThis && allowed.has(key))) continue;
      if (Reflect.deleteProperty(holder, key)) continue;
      const descriptor = Object.getOwnPropertyDescriptor(holder, key);
      if (descriptor?.writable === true) Reflect.defineProperty(holder, key, { value: undefined, writable: false });
    }
    holder = Object.getPrototypeOf(holder);
  }
}

/**
 * Freeze all that can be reached from the globals that stay, and what only syntax reaches.
 *
 * @param {Set<string>} allowed
 */
function harden(allowed) {
  OVERRIDABLE_PROTOTYPES.forEach(makeOverridable);
  /** @type {object[]} */
  const waiting = [
    ...[async () => {}, function* () {}, async function* () {}].map((sample) => Object.getPrototypeOf(sample)),
    ...[[].values(), new Map().values(), new Set().values(), "".matchAll(/a/g), ""[Symbol.iterator]()].map((iterator) =>
      Object.getPrototypeOf(iterator),
    ),
    typedArrayPrototype,
    EventTarget.prototype,
  ];
  for (const name of allowed) {
    const value = /** @type {Record<string, unknown>} */ (globalThis)[name];
    if (value !== globalThis && isObject(value)) waiting.push(value);
  }
  const seen = new Set(waiting);
  const add = (/** @type {unknown} */ value) => {
    if (!isObject(value) || value === globalThis || seen.has(value)) return;
    seen.add(value);
    waiting.push(value);
  };
  for (const object of waiting) {
    add(Object.getPrototypeOf(object));
    for (const key of Reflect.ownKeys(object)) {
      const descriptor = Object.getOwnPropertyDescriptor(object, key);
      add(descriptor?.value);
      add(descriptor?.get);
      add(descriptor?.set);
    }
  }
  // Setting it only changes how many frames an Error keeps, and programs do.
  const limit = Object.getOwnPropertyDescriptor(Error, "stackTraceLimit");
  for (const object of seen) if (object !== Error || limit === undefined) Object.freeze(object);
  if (limit !== undefined) {
    for (const key of Reflect.ownKeys(Error)) if (key !== "stackTraceLimit") fixProperty(Error, key);
    Object.defineProperty(Error, "stackTraceLimit", { writable: true, configurable: false });
    Object.preventExtensions(Error);
  }
}

/**
 * @param {unknown} value
 * @returns {value is object}
 */
function isObject(value) {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/**
 * Turn some properties of a prototype into accessors, so that they can be frozen and an assignment to an inheriting
 * object still gives that object a property of its own.
 *
 * @param {object} prototype
 */
function makeOverridable(prototype) {
  for (const key of OVERRIDABLE_NAMES) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, key);
    if (descriptor === undefined || !("value" in descriptor)) continue;
    const { value, enumerable } = descriptor;
    /** @this {unknown} @param {unknown} replacement */
    function set(replacement) {
      if (this === prototype || !isObject(this)) throw new TypeError(`The sandbox does not let ${key} be changed here`);
      if (Object.hasOwn(this, key)) /** @type {Record<string, unknown>} */ (this)[key] = replacement;
      else Object.defineProperty(this, key, dataDescriptor(replacement, true));
    }
    Object.defineProperty(prototype, key, { get: () => value, set, enumerable, configurable: false });
  }
}

/**
 * @param {object} object
 * @param {PropertyKey} key
 */
function fixProperty(object, key) {
  const descriptor = Object.getOwnPropertyDescriptor(object, key);
  if (descriptor?.configurable !== true) return;
  Object.defineProperty(object, key, "value" in descriptor ? { writable: false, configurable: false } : { configurable: false });
}

/** @param {Set<string>} allowed */
function fixGlobals(allowed) {
  for (const name of allowed) fixProperty(globalThis, name);
}
