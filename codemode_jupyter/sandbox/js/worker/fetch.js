// fetch for programs whose host lets requests out: each is a call to the kernel, which alone decides and sends.
//
// Owns the objects that programs know from the Fetch standard: fetch, Headers and a response that is there as a whole.
// There are no streams, and a body may be read more than once.

const FETCH_CONNECTOR = "fetch";
const BODYLESS_METHODS = new Set(["GET", "HEAD"]);

class ProgramHeaders {
  /** By name in lower case. @type {Map<string, string>} */
  #values = new Map();

  /** @param {unknown} [init] */
  constructor(init) {
    if (init === undefined || init === null) return;
    if (typeof init !== "object") throw new TypeError("Headers are made of an object, a list of pairs or other Headers");
    const pairs = Symbol.iterator in init ? [.../** @type {Iterable<[unknown, unknown]>} */ (init)] : Object.entries(init);
    for (const [name, value] of pairs) this.append(name, value);
  }

  /** @param {unknown} name @param {unknown} value */
  append(name, value) {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  /** @param {unknown} name */
  delete(name) {
    this.#values.delete(`${name}`.toLowerCase());
  }

  /** @param {unknown} name @returns {string | null} */
  get(name) {
    return this.#values.get(`${name}`.toLowerCase()) ?? null;
  }

  /** @param {unknown} name @returns {boolean} */
  has(name) {
    return this.#values.has(`${name}`.toLowerCase());
  }

  /** @param {unknown} name @param {unknown} value */
  set(name, value) {
    this.#values.set(`${name}`.toLowerCase(), `${value}`.trim());
  }

  /** @param {(value: string, name: string, headers: ProgramHeaders) => void} callback */
  forEach(callback) {
    for (const [name, value] of this) callback(value, name, this);
  }

  entries() {
    return [...this.#values].sort(([a], [b]) => (a < b ? -1 : 1)).values();
  }

  *keys() {
    for (const [name] of this) yield name;
  }

  *values() {
    for (const [, value] of this) yield value;
  }

  [Symbol.iterator]() {
    return this.entries();
  }
}

/** @typedef {{status: number, statusText: string, url: string, redirected: boolean, headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>}} ResponseParts */

class ProgramResponse {
  /** @type {string | Uint8Array<ArrayBuffer>} */
  #body;

  /** @param {ResponseParts} parts */
  constructor({ status, statusText, url, redirected, headers, body }) {
    this.status = status;
    this.statusText = statusText;
    this.ok = status >= 200 && status <= 299;
    this.url = url;
    this.redirected = redirected;
    this.headers = new ProgramHeaders(headers);
    this.#body = body;
    Object.freeze(this);
  }

  async text() {
    const text = typeof this.#body === "string" ? this.#body : new TextDecoder().decode(this.#body);
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  }

  async json() {
    return JSON.parse(await this.text());
  }

  async bytes() {
    return typeof this.#body === "string" ? utf8.encode(this.#body) : this.#body.slice();
  }

  async arrayBuffer() {
    return (await this.bytes()).buffer;
  }

  clone() {
    return this;
  }
}

/**
 * @param {unknown} input the address: a text or a URL
 * @param {unknown} init
 * @returns {Promise<ProgramResponse>}
 */
function programFetch(input, init) {
  return new Promise((resolve, reject) => {
    const { method, request, signal } = readRequest(input, init);
    if (signal?.aborted === true) throw signal.reason;
    // The request itself goes on: what was asked for cannot be taken back.
    signal?.addEventListener("abort", () => reject(signal.reason));
    const what = `The request to ${request.url.slice(0, 200)}`;
    issueCall(FETCH_CONNECTOR, method, () => encodeValue(request, what)).then(
      (parts) => resolve(new ProgramResponse(parts)),
      (error) => reject(asTypeError(error)),
    );
  });
}

/**
 * @param {unknown} input
 * @param {unknown} init
 * @returns {{method: string, request: {url: string, headers?: Record<string, string>, body?: unknown}, signal: AbortSignal | undefined}}
 */
function readRequest(input, init) {
  const options = /** @type {Record<string, unknown>} */ (isObject(init) ? init : {});
  const method = `${options.method ?? "GET"}`.toUpperCase();
  const redirect = options.redirect ?? "follow";
  if (redirect !== "follow") throw new TypeError(`fetch follows redirects; redirect: ${JSON.stringify(redirect)} is not available`);
  const { signal } = options;
  if (signal !== undefined && signal !== null && !(signal instanceof AbortSignal)) throw new TypeError("signal must be an AbortSignal");
  const headers = new ProgramHeaders(options.headers);
  const { body, type } = readBody(options.body);
  if (body !== undefined && BODYLESS_METHODS.has(method)) throw new TypeError(`A ${method} request cannot have a body`);
  if (type !== undefined && !headers.has("content-type")) headers.set("content-type", type);
  /** @type {{url: string, headers?: Record<string, string>, body?: unknown}} */
  const request = { url: readAddress(input) };
  const pairs = [...headers];
  if (pairs.length > 0) request.headers = Object.fromEntries(pairs);
  if (body !== undefined) request.body = body;
  return { method, request, signal: signal ?? undefined };
}

/**
 * @param {unknown} input
 * @returns {string} in the one form that all readers take alike; the kernel takes no other
 */
function readAddress(input) {
  let url;
  try {
    url = new URL(`${input}`);
  } catch {
    throw new TypeError(`fetch needs a whole address, such as https://host/path, not ${inspect(input, 1).slice(0, 200)}`);
  }
  url.hash = "";
  return url.href;
}

/**
 * @param {unknown} body
 * @returns {{body: string | Uint8Array | undefined, type: string | undefined}} and the content type it stands for
 */
function readBody(body) {
  if (body === undefined || body === null) return { body: undefined, type: undefined };
  if (typeof body === "string") return { body, type: "text/plain;charset=UTF-8" };
  if (body instanceof URLSearchParams) return { body: `${body}`, type: "application/x-www-form-urlencoded;charset=UTF-8" };
  if (body instanceof ArrayBuffer) return { body: new Uint8Array(body), type: undefined };
  if (ArrayBuffer.isView(body)) return { body: new Uint8Array(body.buffer, body.byteOffset, body.byteLength), type: undefined };
  throw new TypeError("The body of a request must be text, bytes or URLSearchParams; use JSON.stringify(value) for JSON");
}

/**
 * @param {unknown} error of the call
 * @returns {unknown} the same as the TypeError that programs expect of fetch, with its code and place
 */
function asTypeError(error) {
  if (!isError(error)) return error;
  const result = new TypeError(readText(error, "message", ""));
  for (const key of ["code", "data"]) {
    const value = readOwn(error, key);
    if (value !== undefined) defineHidden(result, key, value);
  }
  const stack = readText(error, "stack", "");
  defineHidden(result, "stack", `${describeThrown(result)}${stack.slice(Math.max(0, stack.indexOf("\n    at ")))}`);
  return result;
}

/** The names that are globals besides the connectors then. */
const FETCH_GLOBALS = ["fetch", "Headers"];

function installFetch() {
  for (const Kind of [ProgramHeaders, ProgramResponse]) {
    Object.freeze(Kind.prototype);
    Object.freeze(Kind);
  }
  defineHidden(programFetch, "name", "fetch");
  defineGlobal("fetch", Object.freeze(programFetch));
  defineGlobal("Headers", ProgramHeaders);
}
