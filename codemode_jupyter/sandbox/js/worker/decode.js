// Tagged JSON text as a JavaScript value: what the program sees of results and errors, live as in a replay.

/**
 * @param {string} text tagged JSON text
 * @returns {unknown}
 */
function decodeValue(text) {
  const tree = JSON.parse(text);
  return text.includes('"$type"') ? readTree(tree) : tree;
}

/**
 * Replace the tags in a tree of JSON values, in place. A tag that is unknown or malformed is data.
 *
 * @param {any} tree
 * @returns {any}
 */
function readTree(tree) {
  if (typeof tree !== "object" || tree === null) return tree;
  if (Array.isArray(tree)) {
    for (let index = 0; index < tree.length; index += 1) tree[index] = readTree(tree[index]);
    return tree;
  }
  if (!Object.hasOwn(tree, "$type")) return readFields(tree);
  const read = tagReaders.get(tree.$type);
  if (read === undefined) return readFields(tree);
  try {
    return read(tree.value);
  } catch {
    return readFields(tree);
  }
}

/**
 * @param {Record<string, unknown>} tree
 * @returns {Record<string, unknown>}
 */
function readFields(tree) {
  for (const key of Object.keys(tree)) {
    const value = tree[key];
    // Defined, not assigned: a field called __proto__ is data as well.
    if (typeof value === "object" && value !== null) Object.defineProperty(tree, key, dataDescriptor(readTree(value), true));
  }
  return tree;
}

/** @type {Map<unknown, (value: any) => unknown>} */
const tagReaders = new Map();
tagReaders.set("undefined", () => undefined);
tagReaders.set("number", (value) => Number(value));
// What Python programs write: read as JavaScript's nearest.
tagReaders.set("float", (value) => Number(value));
tagReaders.set("decimal", (value) => `${value}`);
tagReaders.set("datetime", (value) => new RealDate(value));
tagReaders.set("tuple", (value) => value.map(readTree));
// Of a tool: JavaScript's part of what stands there.
tagReaders.set("python", ([, plain]) => readTree(plain));
tagReaders.set("bigint", (value) => BigInt(value));
tagReaders.set("date", (value) => new RealDate(value ?? Number.NaN));
tagReaders.set("map", (value) => {
  const map = new Map();
  for (const [key, item] of value) map.set(readTree(key), readTree(item));
  return map;
});
tagReaders.set("set", (value) => {
  const set = new Set();
  for (const item of value) set.add(readTree(item));
  return set;
});
tagReaders.set("bytes", (value) => readBytes(value));
tagReaders.set("arraybuffer", (value) => readBytes(value).buffer);
tagReaders.set("regexp", ([source, flags]) => new RegExp(source, flags));
tagReaders.set("error", (value) => readError(value));
tagReaders.set("function", (value) => `${value}`);
tagReaders.set("symbol", (value) => Symbol(value));
tagReaders.set("cycle", () => "[cycle]");
tagReaders.set("object", (value) => readFields(value));

/**
 * @param {string} base64
 * @returns {Uint8Array<ArrayBuffer>}
 */
function readBytes(base64) {
  const binary = decodeBase64(base64);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** @type {Map<unknown, ErrorConstructor>} */
const errorKinds = new Map();
for (const Kind of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]) {
  errorKinds.set(Kind.prototype.name, /** @type {ErrorConstructor} */ (Kind));
}

/**
 * @param {{name?: unknown, message: unknown, cause?: unknown, data?: unknown}} fields
 * @returns {Error} with `cause`, `data` and `code` where there are any
 */
function readError(fields) {
  const Kind = errorKinds.get(fields.name) ?? Error;
  const error = new Kind(`${fields.message}`);
  if (typeof fields.name === "string" && fields.name !== Kind.prototype.name) defineHidden(error, "name", fields.name);
  if (fields.cause !== undefined) defineHidden(error, "cause", readTree(fields.cause));
  if (fields.data !== undefined) {
    const data = readTree(fields.data);
    defineHidden(error, "data", data);
    if (typeof data === "object" && data !== null && Object.hasOwn(data, "code")) defineHidden(error, "code", data.code);
  }
  return error;
}
