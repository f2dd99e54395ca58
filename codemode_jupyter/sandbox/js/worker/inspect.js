// Values as text for people: what console.log prints. In the manner of Node's util.inspect, and bounded.

const INSPECT_DEPTH = 4;
const INSPECT_ITEMS = 100;
const INSPECT_LENGTH = 10_000;
const INSPECT_WIDTH = 76;

/**
 * @param {unknown} value
 * @param {number} [depth] how many levels of objects are shown
 * @returns {string} at most about 10,000 characters; never throws
 */
function inspect(value, depth = INSPECT_DEPTH) {
  const inspector = new Inspector(depth);
  try {
    return cutText(inspector.show(value, 0), INSPECT_LENGTH);
  } catch {
    return "[value that cannot be shown]";
  }
}

/**
 * @param {string} text
 * @param {number} limit
 */
function cutText(text, limit) {
  return text.length <= limit ? text : `${text.slice(0, limit)}… ${grouped(text.length - limit)} more characters`;
}

class Inspector {
  /** @type {number} */
  #depth;
  /** @type {Set<object>} */
  #ancestors = new Set();
  /** Characters that may still be made, so that a huge value stops early. */
  #budget = INSPECT_LENGTH * 2;

  /** @param {number} depth */
  constructor(depth) {
    this.#depth = depth;
  }

  /**
   * @param {unknown} value
   * @param {number} level
   * @returns {string}
   */
  show(value, level) {
    const text = this.#show(value, level);
    this.#budget -= text.length;
    return text;
  }

  /**
   * @param {unknown} value
   * @param {number} level
   * @returns {string}
   */
  #show(value, level) {
    switch (typeof value) {
      case "string":
        return quoteText(cutText(value, INSPECT_LENGTH));
      case "number":
        return Object.is(value, -0) ? "-0" : `${value}`;
      case "bigint":
        return `${value}n`;
      case "symbol":
        return String(value);
      case "function":
        return showFunction(value);
      case "object":
        return value === null ? "null" : this.#showObject(value, level);
      default:
        return `${value}`;
    }
  }

  /**
   * @param {object} value
   * @param {number} level
   * @returns {string}
   */
  #showObject(value, level) {
    if (this.#ancestors.has(value)) return "[Circular]";
    this.#ancestors.add(value);
    try {
      return this.#showParts(value, level);
    } catch {
      return "[object that cannot be read]";
    } finally {
      this.#ancestors.delete(value);
    }
  }

  /**
   * @param {object} value
   * @param {number} level
   * @returns {string}
   */
  #showParts(value, level) {
    const kind = specialWriter(value);
    const is = (/** @type {object} */ prototype) => kind !== undefined && kind === writersByPrototype.get(prototype);
    if (is(RealDate.prototype)) {
      const time = Reflect.apply(dateTime, value, []);
      return Number.isNaN(time) ? "Invalid Date" : new RealDate(time).toISOString();
    }
    if (is(RegExp.prototype)) return `/${Reflect.apply(regexpSource, value, [])}/${Reflect.apply(regexpFlags, value, [])}`;
    if (is(Promise.prototype)) return "Promise { … }";
    if (is(Error.prototype)) return this.#showError(/** @type {Error} */ (value), level);
    if (is(URL.prototype)) return `URL ${quoteText(Reflect.apply(urlText, value, []))}`;
    if (is(ArrayBuffer.prototype)) return `ArrayBuffer { byteLength: ${Reflect.apply(bufferLength, value, [])} }`;

    const name = constructorName(value);
    if (level > this.#depth) return Array.isArray(value) ? "[Array]" : `[${name === "" ? "Object" : name}]`;
    if (is(Map.prototype)) {
      const entries = [...Reflect.apply(mapEntries, value, [])];
      const parts = this.#showList(entries, (entry) => `${this.show(entry[0], level + 1)} => ${this.show(entry[1], level + 1)}`);
      return joinParts(`${name}(${entries.length}) `, "{", parts, "}");
    }
    if (is(Set.prototype)) {
      const items = [...Reflect.apply(setValues, value, [])];
      return joinParts(`${name}(${items.length}) `, "{", this.#showList(items, (item) => this.show(item, level + 1)), "}");
    }
    if (Array.isArray(value) || is(typedArrayPrototype)) {
      const list = /** @type {unknown[]} */ (value);
      const prefix = name === "Array" ? "" : `${name}(${list.length}) `;
      return joinParts(prefix, "[", this.#showList(list, (item) => this.show(item, level + 1)), "]");
    }
    const keys = Object.keys(value);
    const fields = this.#showList(keys, (key) => this.#showField(value, key, level));
    const tag = name === "Object" ? "" : name === "" ? "[Object: null prototype] " : `${name} `;
    return joinParts(tag, "{", fields, "}");
  }

  /**
   * @param {object} value
   * @param {string} key
   * @param {number} level
   */
  #showField(value, key, level) {
    const descriptor = Object.getOwnPropertyDescriptor(value, key);
    const label = /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoteText(cutText(key, 200));
    // A getter is not run for being printed.
    if (descriptor !== undefined && descriptor.get !== undefined) return `${label}: [Getter]`;
    return `${label}: ${this.show(/** @type {Record<string, unknown>} */ (value)[key], level + 1)}`;
  }

  /**
   * @param {Error} error
   * @param {number} level
   */
  #showError(error, level) {
    let text = describeThrown(error);
    const frames = programFrames(readText(error, "stack", "").replace(text, ""));
    if (frames.length > 0) text += `\n    ${frames.join("\n    ")}`;
    const cause = readOwn(error, "cause");
    if (cause !== undefined && level < this.#depth) text += `\n  [cause]: ${indent(this.show(cause, level + 1))}`;
    return level === 0 ? text : `[${text}]`;
  }

  /**
   * @template T
   * @param {ArrayLike<T>} items
   * @param {(item: T) => string} showItem
   * @returns {string[]}
   */
  #showList(items, showItem) {
    const parts = [];
    const { length } = items;
    for (let index = 0; index < length; index += 1) {
      if (index === INSPECT_ITEMS || this.#budget < 0) {
        parts.push(`… ${grouped(length - index)} more`);
        break;
      }
      parts.push(index in items ? showItem(/** @type {T} */ (items[index])) : "<empty>");
    }
    return parts;
  }
}

/**
 * @param {string} prefix
 * @param {string} open
 * @param {string[]} parts
 * @param {string} close
 * @returns {string} on one line when it fits
 */
function joinParts(prefix, open, parts, close) {
  if (parts.length === 0) return `${prefix}${open}${close}`;
  const space = open === "{" ? " " : "";
  const line = `${prefix}${open}${space}${parts.join(", ")}${space}${close}`;
  if (line.length <= INSPECT_WIDTH && !line.includes("\n")) return line;
  return `${prefix}${open}\n  ${parts.map(indent).join(",\n  ")}\n${close}`;
}

/** @param {string} text */
function indent(text) {
  return text.replaceAll("\n", "\n  ");
}

/** @param {string} text */
function quoteText(text) {
  if (!text.includes("'")) return `'${escapeText(text)}'`;
  return text.includes('"') ? `'${escapeText(text).replaceAll("'", "\\'")}'` : `"${escapeText(text)}"`;
}

/** @param {string} text */
function escapeText(text) {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
}

/** @param {object} value */
function constructorName(value) {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null) return "";
  const constructor = /** @type {{constructor?: unknown}} */ (prototype).constructor;
  return typeof constructor === "function" ? readText(constructor, "name", "Object") : "Object";
}

/** @param {Function} value */
function showFunction(value) {
  const name = readText(value, "name", "");
  let isClass = false;
  try {
    isClass = Function.prototype.toString.call(value).startsWith("class");
  } catch {
    // A revoked proxy.
  }
  const kind = isClass ? "class" : "Function";
  if (name === "") return isClass ? "[class (anonymous)]" : "[Function (anonymous)]";
  return isClass ? `[${kind} ${name}]` : `[${kind}: ${name}]`;
}

/**
 * The arguments of console.log as one text, with the format letters of the Console standard.
 *
 * @param {unknown[]} values
 * @returns {string}
 */
function formatLine(values) {
  const parts = [];
  let next = 0;
  if (typeof values[0] === "string") {
    next = 1;
    parts.push(
      values[0].replace(/%[sdifjoOc%]/g, (letter) => {
        if (letter === "%%") return "%";
        if (next >= values.length) return letter;
        const value = values[next];
        next += 1;
        return formatOne(letter, value);
      }),
    );
  }
  for (; next < values.length; next += 1) {
    const value = values[next];
    parts.push(typeof value === "string" ? value : inspect(value));
  }
  return parts.join(" ");
}

/**
 * @param {string} letter
 * @param {unknown} value
 * @returns {string}
 */
function formatOne(letter, value) {
  switch (letter) {
    case "%s":
      return typeof value === "string" ? value : typeof value === "object" ? inspect(value, 0) : describeThrown(value);
    case "%d":
    case "%i":
    case "%f": {
      if (typeof value === "bigint") return `${value}n`;
      if (typeof value === "object" || typeof value === "symbol") return "NaN";
      const number = letter === "%i" ? Number.parseInt(`${value}`, 10) : Number(value);
      return `${number}`;
    }
    case "%c":
      return "";
    default:
      return inspect(value);
  }
}
