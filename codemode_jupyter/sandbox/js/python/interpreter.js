// Pyodide in a world of its own: it finds its files, the little it needs of the platform, and nothing else.
//
// Used by the Worker and when the memory snapshot is made (make_snapshot.js): a snapshot fits only the world it was
// taken in. The glue (assets.py makes `makePyodide` of Pyodide's own files) takes its globals as parameters, so that it
// sees a bare JavaScript shell and loads by `readbuffer`; no network, page or Deno is in its scope.

/**
 * @typedef {{module: WebAssembly.Module, library: Uint8Array, lock: string, snapshot: Uint8Array | null}} PythonAssets
 */

/** Taken before the lockdown deletes it. */
const RealWebAssembly = globalThis.WebAssembly;

/**
 * @param {PythonAssets} assets without a snapshot: to make one
 * @param {(text: string) => void} print takes lines of the standard streams
 * @returns {Promise<any>} Pyodide
 */
async function loadInterpreter({ module, library, lock, snapshot }, print) {
  const wasm = Object.create(RealWebAssembly);
  Object.defineProperty(wasm, "instantiate", {
    value: async (/** @type {any} */ source, /** @type {WebAssembly.Imports} */ imports) =>
      source.length === 0
        ? { module, instance: await RealWebAssembly.instantiate(module, imports) }
        : RealWebAssembly.instantiate(source, imports),
  });
  const readbuffer = (/** @type {string} */ name) => {
    if (name.endsWith(".wasm")) return new Uint8Array(0); // `instantiate` knows it
    if (name.endsWith(".zip")) return library;
    throw new Error(`There is no file ${name} in the sandbox.`);
  };
  const ignore = () => {};
  const world = {
    TextDecoder,
    TextEncoder,
    DOMException,
    BigInt64Array,
    BigUint64Array,
    readbuffer,
    // Its own words, such as where to report a fault of Pyodide: the program is told that it failed.
    console: { log: ignore, info: ignore, debug: ignore, warn: ignore, error: ignore },
    setTimeout: (/** @type {() => void} */ callback, /** @type {number} */ delay) => globalThis.setTimeout(callback, delay),
    clearTimeout: (/** @type {number} */ id) => globalThis.clearTimeout(id),
  };
  // @ts-ignore  the glue stands before this in the Worker's text
  const { loadPyodide, createPyodideModule } = makePyodide(world, wasm, readbuffer, world.console);
  return loadPyodide({
    createPyodideModule,
    indexURL: "/",
    packageBaseUrl: "/",
    lockFileContents: lock,
    jsglobals: world,
    env: { PYTHONHASHSEED: "0", HOME: "/home/program", PYTHONINSPECT: "" },
    stdin: () => null,
    stdout: print,
    stderr: ignore, // not Python's, which goes to the console: where the engine stood when it fell
    ...(snapshot === null ? { _makeSnapshot: true } : { _loadSnapshot: snapshot }),
  });
}
