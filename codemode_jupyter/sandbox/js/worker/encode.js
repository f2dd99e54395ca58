// A JavaScript value as tagged JSON text: the one reading of it that is recorded, shown and run.
//
// The text is built here piece by piece and never by JSON.stringify of an object: no `toJSON` is asked, each property
// is read once, and what a getter or proxy does while it is read can only spoil its own value. The form is described
// in sandbox/protocol.py.

/** Largest stored value, in UTF-8 bytes of its text. */
const MAX_VALUE_BYTES = 1_000_000;
/** Largest final result that is handed on at all; the runtime decides what it keeps of it. */
const MAX_RESULT_BYTES = 8_000_000;
/** Deepest nesting of the text, in brackets. */
const MAX_DEPTH = 256;

const UNDEFINED_TEXT = '{"$type":"undefined"}';
const CYCLE_TEXT = '{"$type":"cycle"}';

/**
 * strict: what cannot be stored is refused, with its path (arguments, step results).
 * lenient: functions become text and cycles are marked (a program's final result, errors).
 *
 * @typedef {"strict" | "lenient"} EncodeMode
 */

/** @typedef {(writer: ValueWriter, value: any, depth: number) => void} WriteObject */

/** Stands for a value whose text is there already, as those of Python are, and is written as it is. */
class WrittenText {
  /** @param {string} text tagged JSON text */
  constructor(text) {
    this.text = text;
  }
}

class ValueWriter {
  #text = "";
  /** @type {EncodeMode} */
  #mode;
  /** @type {number} */
  #limit;
  /** @type {string} */
  #what;
  /** Path of the value that is written now: property names and indexes. @type {(string | number)[]} */
  #path = [];
  /** At most `MAX_DEPTH`, and nearly always so few that a search is quicker than a Set. @type {object[]} */
  #ancestors = [];

  /**
   * @param {EncodeMode} mode
   * @param {number} limit in UTF-8 bytes
   * @param {string} what names the value in refusals, such as "What was passed to issues.create"
   */
  constructor(mode, limit, what) {
    this.#mode = mode;
    this.#limit = limit;
    this.#what = what;
  }

  /**
   * @param {unknown} value
   * @returns {string}
   */
  encode(value) {
    this.write(value, 0);
    const text = this.#text;
    // A UTF-16 unit is at most three bytes of UTF-8, so short texts need no counting.
    if (text.length * 3 > this.#limit && utf8.encode(text).length > this.#limit) this.#refuseSize();
    return text;
  }

  /** @param {string} piece */
  put(piece) {
    this.#text += piece;
    if (this.#text.length > this.#limit) this.#refuseSize();
  }

  /** @param {string} text */
  putString(text) {
    if (text.length > this.#limit) this.#refuseSize();
    this.put(JSON.stringify(text));
  }

  /**
   * @param {unknown} value
   * @param {number} depth
   */
  write(value, depth) {
    switch (typeof value) {
      case "string":
        return this.putString(value);
      case "number":
        return this.put(numberText(value));
      case "boolean":
        return this.put(value ? "true" : "false");
      case "undefined":
        return this.put(UNDEFINED_TEXT);
      case "bigint":
        return this.put(`{"$type":"bigint","value":"${value}"}`);
      case "symbol":
        if (this.#mode === "strict") this.#refuse("is a symbol");
        return this.writeTag("symbol", () => this.putString(value.description ?? ""));
      case "function":
        return this.#writeFunction(value);
      default:
        if (value === null) return this.put("null");
        return this.#writeObject(/** @type {object} */ (value), depth);
    }
  }

  /**
   * @param {string} tag
   * @param {() => void} writeValue
   */
  writeTag(tag, writeValue) {
    this.put(`{"$type":"${tag}","value":`);
    writeValue();
    this.put("}");
  }

  /**
   * @param {Iterable<unknown>} items
   * @param {number} depth
   */
  writeItems(items, depth) {
    this.put("[");
    let index = 0;
    for (const item of items) {
      if (index > 0) this.put(",");
      this.#path.push(index);
      this.write(item, depth + 1);
      this.#path.pop();
      index += 1;
    }
    this.put("]");
  }

  /** @param {Function} value */
  #writeFunction(value) {
    if (this.#mode === "strict") this.#refuse("is a function");
    let text = "function";
    try {
      text = Function.prototype.toString.call(value);
    } catch {
      // A revoked proxy has no text.
    }
    this.writeTag("function", () => this.putString(text.length > 10_000 ? `${text.slice(0, 10_000)}…` : text));
  }

  /**
   * @param {object} value
   * @param {number} depth
   */
  #writeObject(value, depth) {
    if (depth >= MAX_DEPTH) this.#refuse(`is nested more than ${MAX_DEPTH} levels deep`);
    if (this.#ancestors.includes(value)) {
      if (this.#mode === "strict") this.#refuse("refers back to itself (a cycle)");
      return this.put(CYCLE_TEXT);
    }
    this.#ancestors.push(value);
    const writeSpecial = specialWriter(value);
    if (writeSpecial !== undefined) writeSpecial(this, value, depth);
    else if (this.#read(() => Array.isArray(value))) this.#writeArray(/** @type {unknown[]} */ (value), depth);
    else this.#writePlain(/** @type {Record<string, unknown>} */ (value), depth);
    this.#ancestors.pop();
  }

  /**
   * @param {unknown[]} value
   * @param {number} depth
   */
  #writeArray(value, depth) {
    const length = this.#read(() => value.length);
    this.put("[");
    for (let index = 0; index < length; index += 1) {
      if (index > 0) this.put(",");
      this.#writeProperty(value, index, depth + 1);
    }
    this.put("]");
  }

  /**
   * @param {Record<string, unknown>} value
   * @param {number} depth
   */
  #writePlain(value, depth) {
    const keys = this.#read(() => Object.keys(value));
    const escaped = keys.includes("$type");
    if (escaped) this.put('{"$type":"object","value":');
    this.put("{");
    let isFirst = true;
    for (const key of keys) {
      if (!isFirst) this.put(",");
      isFirst = false;
      this.putString(key);
      this.put(":");
      this.#writeProperty(value, key, depth + (escaped ? 2 : 1));
    }
    this.put(escaped ? "}}" : "}");
  }

  /**
   * Write a property's value; when reading it throws, the error stands in its place, or the value is refused.
   *
   * @param {any} holder
   * @param {string | number} key
   * @param {number} depth
   */
  #writeProperty(holder, key, depth) {
    this.#path.push(key);
    let value;
    let isRead = false;
    try {
      value = holder[key];
      isRead = true;
    } catch (error) {
      if (this.#mode === "strict") this.#refuse(`cannot be read: ${describeThrown(error)}`);
      this.put(encodeMessage("Error", `This value cannot be read: ${describeThrown(error)}`));
    }
    if (isRead) this.write(value, depth);
    this.#path.pop();
  }

  /**
   * @template T
   * @param {() => T} read
   * @returns {T}
   */
  #read(read) {
    try {
      return read();
    } catch (error) {
      return this.#refuse(`cannot be read: ${describeThrown(error)}`);
    }
  }

  /**
   * @param {string} why
   * @param {string} [hint]
   * @returns {never}
   */
  refuse(why, hint) {
    return this.#refuse(why, hint);
  }

  /**
   * @param {string} why
   * @param {string} [hint]
   * @returns {never}
   */
  #refuse(why, hint = "Pass plain data: text, numbers, lists, objects, dates, bytes.") {
    const path = pathText(this.#path);
    throw codedError("not_storable", `${this.#what}${path === "" ? "" : ` at ${path}`} ${why}; it cannot be recorded. ${hint}`, TypeError);
  }

  /** @returns {never} */
  #refuseSize() {
    throw codedError(
      "too_large",
      `${this.#what} is too large to record durably: more than ${grouped(this.#limit)} bytes. ` +
        "Write large data to a file or workspace and pass a small reference, such as a path.",
      RangeError,
    );
  }
}

/**
 * @param {unknown} value
 * @param {string} what names the value in refusals
 * @param {EncodeMode} [mode]
 * @param {number} [limit] in UTF-8 bytes
 * @returns {string} tagged JSON text
 */
function encodeValue(value, what, mode = "strict", limit = MAX_VALUE_BYTES) {
  return new ValueWriter(mode, limit, what).encode(value);
}

/**
 * @param {number} value
 * @returns {string}
 */
function numberText(value) {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '{"$type":"number","value":"-0"}' : `${value}`;
  return `{"$type":"number","value":"${value}"}`;
}

/**
 * @param {number} value a whole number
 * @returns {string} with commas: 1,000,000
 */
function grouped(value) {
  return `${value}`.replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * @param {(string | number)[]} path
 * @returns {string} as a program would write it: items[0].title
 */
function pathText(path) {
  let text = "";
  for (const part of path.slice(0, 20)) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[A-Za-z_$][\w$]*$/.test(part)) text += text === "" ? part : `.${part}`;
    else text += `[${JSON.stringify(part.slice(0, 60))}]`;
  }
  return path.length > 20 ? `${text}…` : text;
}
