// What was thrown, in words and with its place in what the author wrote.
//
// Programs are evaluated under names of their own (program.js, snippet-NAME.js, module-NAME.js), so a stack tells their frames from
// the runtime's. Where the engine lets us (V8), stacks are made without the runtime's frames and with the author's
// line numbers; elsewhere the outcome's error is mapped afterwards.

const RUNTIME_FILE = "codemode-sandbox.js";
const PROGRAM_FILE = "program.js";
/** How many of an AggregateError's errors are told. */
const MAX_REASONS = 5;
const FRAME_PLACE = /\b(program|(?:snippet|module)-[\w.-]+)\.js:(\d+):(\d+)/;

/** Lines by which each evaluated file is shifted against what its author wrote. @type {Map<string, number>} */
const lineShifts = new Map();
/** Whether the engine asks `Error.prepareStackTrace` for stacks. */
let stacksAreMapped = false;

/**
 * @param {string} frame a line of a stack
 * @returns {string} the same with the author's line number; empty when the place is in the wrapper
 */
function mapFrame(frame) {
  const place = FRAME_PLACE.exec(frame);
  const shift = place === null ? undefined : lineShifts.get(`${place[1]}.js`);
  if (place === null || shift === undefined) return frame;
  const line = Number(place[2]) - shift;
  return line < 1 ? "" : frame.replace(place[0], `${place[1]}.js:${line}:${place[3]}`);
}

function installStackTraces() {
  defineHidden(Error, "prepareStackTrace", (/** @type {unknown} */ error, /** @type {unknown[]} */ frames) => {
    let text = describeThrown(error);
    for (let index = 0; index < frames.length; index += 1) {
      const frame = `${frames[index]}`;
      const mapped = FRAME_PLACE.test(frame) ? mapFrame(frame) : "";
      if (mapped !== "") text += `\n    at ${mapped}`;
    }
    return text;
  });
  stacksAreMapped = !`${new Error("probe").stack}`.includes(RUNTIME_FILE);
}

/**
 * @param {unknown} thrown
 * @returns {string} one short text, for messages; never throws
 */
function describeThrown(thrown) {
  try {
    if (isError(thrown)) {
      const name = readText(thrown, "name", "Error");
      const message = readText(thrown, "message", "");
      return message === "" ? name : `${name}: ${message}`;
    }
    return typeof thrown === "string" ? thrown : String(thrown);
  } catch {
    return "an object that cannot be shown";
  }
}

/**
 * @param {unknown} value
 * @returns {value is Error}
 */
function isError(value) {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

/**
 * @param {string} name
 * @param {string} message
 * @param {string} [code]
 * @returns {string} a tagged error
 */
function encodeMessage(name, message, code) {
  const data = code === undefined ? "" : `,"data":{"code":${JSON.stringify(code)}}`;
  return `{"$type":"error","value":{"name":${JSON.stringify(name)},"message":${JSON.stringify(message)}${data}}}`;
}

/** A failure that another language's part of the runtime has put into words already. */
class TaggedFailure {
  #fields;

  /** @param {{error: string, line?: number, column?: number}} fields */
  constructor(fields) {
    this.#fields = fields;
  }

  /**
   * @param {unknown} thrown anything a program threw: it is asked nothing
   * @returns {{error: string, line?: number, column?: number} | null} null: it is none
   */
  static fieldsOf(thrown) {
    return typeof thrown === "object" && thrown !== null && #fields in thrown ? thrown.#fields : null;
  }
}

/**
 * What a program threw, as the tagged error that ends it, with its place.
 *
 * @param {unknown} thrown
 * @param {string[]} globals the names to offer when a name is not defined
 * @returns {{error: string, line?: number, column?: number}}
 */
function encodeThrown(thrown, globals) {
  const told = TaggedFailure.fieldsOf(thrown);
  if (told !== null) return told;
  if (!isError(thrown)) return { error: encodeMessage("Error", describeNonError(thrown), "thrown_value") };
  const stack = readText(thrown, "stack", "");
  const name = readText(thrown, "name", "Error");
  let message = readText(thrown, "message", "");
  if (name === "ReferenceError" && message.includes("is not defined")) {
    message += ` (the only globals available in the sandbox are: ${globals.join(", ")})`;
  }
  message += reasonsOf(thrown);
  const fields = [`"name":${JSON.stringify(name)}`, `"message":${JSON.stringify(message)}`];
  const frames = programFrames(stack);
  if (frames.length > 0) fields.push(`"stack":${JSON.stringify(frames.join("\n"))}`);
  addField(fields, "cause", readOwn(thrown, "cause"));
  addField(fields, "data", errorData(thrown));
  return { error: `{"$type":"error","value":{${fields.join(",")}}}`, ...programPlace(frames) };
}

/**
 * @param {Error} error
 * @returns {string} what stands behind it, to go after its message: its errors if it stands for several, or its cause
 */
function reasonsOf(error) {
  const errors = readOwn(error, "errors");
  if (errors !== undefined) {
    try {
      const reasons = Array.from(/** @type {unknown[]} */ (errors).slice(0, MAX_REASONS), shortReason);
      return reasons.length === 0 ? "" : ` (${reasons.join("; ")})`;
    } catch {
      return "";
    }
  }
  const cause = readOwn(error, "cause");
  return cause === undefined ? "" : ` (cause: ${shortReason(cause)})`;
}

/**
 * @param {unknown} reason
 * @returns {string}
 */
function shortReason(reason) {
  return describeThrown(reason).slice(0, 300);
}

/**
 * @param {string[]} fields
 * @param {string} name
 * @param {unknown} value left out when it cannot be stored
 */
function addField(fields, name, value) {
  if (value === undefined) return;
  try {
    fields.push(`"${name}":${encodeValue(value, "The error", "lenient", 100_000)}`);
  } catch {
    // The message is what matters.
  }
}

/**
 * @param {unknown} thrown
 * @returns {string}
 */
function describeNonError(thrown) {
  if (typeof thrown === "string") return thrown === "" ? 'The program threw "" (an empty string).' : thrown.slice(0, 100_000);
  const text = typeof thrown === "object" && thrown !== null ? inspect(thrown) : describeThrown(thrown);
  return `The program threw ${text.slice(0, 10_000)}, which is not an Error.`;
}

/**
 * @param {string} stack
 * @returns {string[]} the lines of a stack that lie in the program, with the author's line numbers
 */
function programFrames(stack) {
  const frames = [];
  for (const line of stack.split("\n")) {
    const frame = line.trim();
    const isFrame = frame.startsWith("at ") || /^[^\s]*@/.test(frame);
    const mapped = isFrame && FRAME_PLACE.test(frame) ? (stacksAreMapped ? frame : mapFrame(frame)) : "";
    if (mapped !== "") frames.push(mapped);
    if (frames.length === 20) break;
  }
  return frames;
}

/**
 * @param {string[]} frames
 * @returns {{line?: number, column?: number}} the innermost place in the program itself (not in a snippet or module)
 */
function programPlace(frames) {
  for (const frame of frames) {
    const place = FRAME_PLACE.exec(frame);
    if (place?.[1] === "program") return { line: Number(place[2]), column: Number(place[3]) };
  }
  return {};
}
