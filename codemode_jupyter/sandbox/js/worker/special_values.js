// How objects that are more than data are written and told apart: dates, maps, sets, bytes, patterns, errors.
//
// An object's kind is found by its prototypes and then proved by its internal slots, through functions taken from
// the prototypes here: nothing that the object itself says about its kind is believed.

/**
 * @param {object} prototype
 * @param {string | symbol} key
 * @returns {(this: unknown) => any}
 */
function getterOf(prototype, key) {
  return /** @type {(this: unknown) => any} */ (Object.getOwnPropertyDescriptor(prototype, key)?.get);
}

const typedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype);
const typedArrayBuffer = getterOf(typedArrayPrototype, "buffer");
const typedArrayOffset = getterOf(typedArrayPrototype, "byteOffset");
const typedArrayLength = getterOf(typedArrayPrototype, "byteLength");
const dataViewBuffer = getterOf(DataView.prototype, "buffer");
const dataViewOffset = getterOf(DataView.prototype, "byteOffset");
const dataViewLength = getterOf(DataView.prototype, "byteLength");
const bufferLength = getterOf(ArrayBuffer.prototype, "byteLength");
const mapEntries = Map.prototype.entries;
const setValues = Set.prototype.values;
const dateTime = RealDate.prototype.getTime;
const regexpSource = getterOf(RegExp.prototype, "source");
const regexpFlags = getterOf(RegExp.prototype, "flags");
const numberValue = Number.prototype.valueOf;
const stringValue = String.prototype.valueOf;
const booleanValue = Boolean.prototype.valueOf;
const bigintValue = BigInt.prototype.valueOf;
const urlText = getterOf(URL.prototype, "href");
const promiseThen = Promise.prototype.then;

/** @type {Map<object, WriteObject>} */
const writersByPrototype = new Map();

writersByPrototype.set(WrittenText.prototype, (writer, value) => writer.put(value.text));
writersByPrototype.set(RealDate.prototype, (writer, value) => {
  const time = Reflect.apply(dateTime, value, []);
  writer.put(`{"$type":"date","value":${Number.isNaN(time) ? "null" : time}}`);
});
writersByPrototype.set(Map.prototype, (writer, value, depth) => {
  const entries = [...Reflect.apply(mapEntries, value, [])];
  writer.writeTag("map", () => writer.writeItems(entries, depth + 1));
});
writersByPrototype.set(Set.prototype, (writer, value, depth) => {
  const items = [...Reflect.apply(setValues, value, [])];
  writer.writeTag("set", () => writer.writeItems(items, depth + 1));
});
writersByPrototype.set(RegExp.prototype, (writer, value) => {
  const source = `${Reflect.apply(regexpSource, value, [])}`;
  const flags = `${Reflect.apply(regexpFlags, value, [])}`;
  writer.writeTag("regexp", () => writer.writeItems([source, flags], 0));
});
writersByPrototype.set(typedArrayPrototype, (writer, value) =>
  writeBytes(
    writer,
    "bytes",
    new Uint8Array(
      Reflect.apply(typedArrayBuffer, value, []),
      Reflect.apply(typedArrayOffset, value, []),
      Reflect.apply(typedArrayLength, value, []),
    ),
  ),
);
writersByPrototype.set(DataView.prototype, (writer, value) =>
  writeBytes(
    writer,
    "bytes",
    new Uint8Array(
      Reflect.apply(dataViewBuffer, value, []),
      Reflect.apply(dataViewOffset, value, []),
      Reflect.apply(dataViewLength, value, []),
    ),
  ),
);
writersByPrototype.set(ArrayBuffer.prototype, (writer, value) => {
  Reflect.apply(bufferLength, value, []);
  writeBytes(writer, "arraybuffer", new Uint8Array(value));
});
writersByPrototype.set(Error.prototype, (writer, value, depth) => writeError(writer, value, depth));
writersByPrototype.set(Number.prototype, (writer, value, depth) => writer.write(Reflect.apply(numberValue, value, []), depth));
writersByPrototype.set(String.prototype, (writer, value, depth) => writer.write(Reflect.apply(stringValue, value, []), depth));
writersByPrototype.set(Boolean.prototype, (writer, value, depth) => writer.write(Reflect.apply(booleanValue, value, []), depth));
writersByPrototype.set(BigInt.prototype, (writer, value, depth) => writer.write(Reflect.apply(bigintValue, value, []), depth));
writersByPrototype.set(URL.prototype, (writer, value) => writer.putString(Reflect.apply(urlText, value, [])));
writersByPrototype.set(Promise.prototype, (writer) =>
  writer.refuse("is a Promise", "Await it first: `await …`, or `await Promise.all(list)` for a list of them."),
);

/**
 * Find how an object is written that is not plain data.
 *
 * @param {object} value
 * @returns {WriteObject | undefined} undefined: as an array or a plain object
 */
function specialWriter(value) {
  try {
    let prototype = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === Array.prototype || prototype === null) return undefined;
    for (let length = 0; prototype !== null && length < 100; length += 1) {
      const write = writersByPrototype.get(prototype);
      if (write !== undefined) return isWhatItInherits(value, prototype) ? write : undefined;
      prototype = Object.getPrototypeOf(prototype);
    }
  } catch {
    // A proxy that refuses to be looked at: reading it as plain data says what is wrong.
  }
  return undefined;
}

/**
 * Prove by its internal slots that an object is of the kind whose prototype it has.
 *
 * @param {object} value
 * @param {object} prototype
 * @returns {boolean}
 */
function isWhatItInherits(value, prototype) {
  try {
    switch (prototype) {
      case RealDate.prototype:
        Reflect.apply(dateTime, value, []);
        return true;
      case Map.prototype:
        Reflect.apply(mapEntries, value, []);
        return true;
      case Set.prototype:
        Reflect.apply(setValues, value, []);
        return true;
      case RegExp.prototype:
        Reflect.apply(regexpSource, value, []);
        return value !== prototype;
      case typedArrayPrototype:
        return Reflect.apply(typedArrayBuffer, value, []) !== undefined;
      case DataView.prototype:
        Reflect.apply(dataViewLength, value, []);
        return true;
      case ArrayBuffer.prototype:
        Reflect.apply(bufferLength, value, []);
        return true;
      case Number.prototype:
        Reflect.apply(numberValue, value, []);
        return true;
      case String.prototype:
        Reflect.apply(stringValue, value, []);
        return true;
      case Boolean.prototype:
        Reflect.apply(booleanValue, value, []);
        return true;
      case BigInt.prototype:
        Reflect.apply(bigintValue, value, []);
        return true;
      case URL.prototype:
        Reflect.apply(urlText, value, []);
        return true;
      default:
        return true;
    }
  } catch {
    return false;
  }
}

/**
 * @param {ValueWriter} writer
 * @param {"bytes" | "arraybuffer"} tag
 * @param {Uint8Array} bytes
 */
function writeBytes(writer, tag, bytes) {
  writer.writeTag(tag, () => {
    writer.put('"');
    // In pieces of a multiple of three bytes, so that base64 pads only the last one.
    for (let start = 0; start < bytes.length; start += 30_000) {
      writer.put(encodeBase64(String.fromCharCode.apply(null, /** @type {any} */ (bytes.subarray(start, start + 30_000)))));
    }
    writer.put('"');
  });
}

/**
 * The stack is left out: it names places, differs between engines, and would make a replay diverge.
 *
 * @param {ValueWriter} writer
 * @param {Error} error
 * @param {number} depth
 */
function writeError(writer, error, depth) {
  const name = readText(error, "name", "Error");
  const message = readText(error, "message", "");
  writer.writeTag("error", () => {
    writer.put(`{"name":${JSON.stringify(name)},"message":${JSON.stringify(message)}`);
    const cause = readOwn(error, "cause");
    if (cause !== undefined) {
      writer.put(',"cause":');
      writer.write(cause, depth + 2);
    }
    const data = errorData(error);
    if (data !== undefined) {
      writer.put(',"data":');
      writer.write(data, depth + 2);
    }
    writer.put("}");
  });
}

/**
 * @param {Error} error
 * @returns {unknown} `error.data`, or its code alone, or undefined
 */
function errorData(error) {
  const data = readOwn(error, "data");
  if (data !== undefined) return data;
  const code = readOwn(error, "code");
  return typeof code === "string" || typeof code === "number" ? { code } : undefined;
}

/**
 * @param {object} object
 * @param {string} key
 * @returns {unknown} undefined when it is not there or cannot be read
 */
function readOwn(object, key) {
  try {
    return Object.hasOwn(object, key) ? /** @type {Record<string, unknown>} */ (object)[key] : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @param {object} object
 * @param {string} key
 * @param {string} otherwise
 * @returns {string}
 */
function readText(object, key, otherwise) {
  try {
    const value = /** @type {Record<string, unknown>} */ (object)[key];
    return typeof value === "string" ? value.slice(0, 100_000) : otherwise;
  } catch {
    return otherwise;
  }
}
