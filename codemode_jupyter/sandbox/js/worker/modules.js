// The modules that a program may import: texts by name, evaluated once in a pass, when first imported.
//
// No engine loads anything: the kernel made a function of each module, and sends imports here. A name is looked up in
// the map and means nothing else.

/** @typedef {[name: string, source: string, lineOffset: number]} ModuleText */

/** @type {Map<string, ModuleText>} */
const moduleTexts = new Map();
/** Those that programs in Python may import, which no other program can: name and text. @type {[string, string][]} */
const pythonModules = [];
const PYTHON_ENDING = ".py";
/** The namespaces of modules that were imported. @type {Map<string, Promise<object>>} */
const importedModules = new Map();

/** @param {ModuleText[]} texts */
function setModules(texts) {
  for (const text of texts) {
    if (text[0].endsWith(PYTHON_ENDING)) pythonModules.push([text[0].slice(0, -PYTHON_ENDING.length), text[1]]);
    else moduleTexts.set(text[0], text);
  }
}

/**
 * @param {unknown} specifier
 * @returns {Promise<object>} the namespace: the same object for everybody
 */
function importModule(specifier) {
  return new Promise((resolve) => {
    const name = `${specifier}`;
    const text = moduleTexts.get(name);
    if (text === undefined) {
      const known = moduleTexts.size === 0 ? "nothing can be imported here" : `what can be is: ${[...moduleTexts.keys()].join(", ")}`;
      throw codedError("import_not_available", `An import of ${inspect(name).slice(0, 200)} is not available; ${known}.`, TypeError);
    }
    let namespace = importedModules.get(name);
    if (namespace === undefined) {
      namespace = evaluateModule(text);
      importedModules.set(name, namespace);
    }
    resolve(namespace);
  });
}

/** @param {ModuleText} text */
async function evaluateModule([name, source, lineOffset]) {
  const file = `module-${name.replace(/[^\w.-]/g, "_").slice(0, 100)}.js`;
  const namespace = /** @type {object} */ (await evaluateProgram(source, file, lineOffset)(importModule));
  Object.defineProperty(namespace, Symbol.toStringTag, { value: "Module" });
  return Object.freeze(namespace);
}
