// The program's console: lines are formatted here; the first few are sent at once, a flood of them
// is kept for a moment and sent together.
//
// Owns the buffer and its limits; past them one note is printed and the rest is dropped.

const CONSOLE_FLUSH_DELAY = 50;
/** Lines of one such time that are sent at once: what a program prints before it hangs is seen. */
const CONSOLE_FLUSH_BURST = 10;
const MAX_CONSOLE_LINES = 5_000;
/** All lines of a pass together, in UTF-16 units. */
const MAX_CONSOLE_LENGTH = 500_000;
const MAX_LINE_LENGTH = 20_000;

/** @typedef {"log" | "info" | "debug" | "warn" | "error"} ConsoleLevel */

/** @type {[ConsoleLevel, string][]} */
let consoleLines = [];
let consoleCount = 0;
let consoleLength = 0;
let consoleIsFull = false;
let consoleFlushIsPlanned = false;
let consoleBurstStart = Number.NEGATIVE_INFINITY;
let consoleBurst = 0;
let consoleIndent = "";

/**
 * @param {ConsoleLevel} level
 * @param {unknown[]} values
 */
function print(level, values) {
  if (consoleIsFull || programHasEnded) return;
  let text = cutText(formatLine(values), MAX_LINE_LENGTH);
  if (consoleIndent !== "") text = consoleIndent + text.replaceAll("\n", `\n${consoleIndent}`);
  consoleCount += 1;
  consoleLength += text.length;
  if (consoleCount > MAX_CONSOLE_LINES || consoleLength > MAX_CONSOLE_LENGTH) {
    consoleIsFull = true;
    consoleLines.push(["warn", "The console is full: what the program prints from here on is left out."]);
  } else {
    consoleLines.push([level, text]);
  }
  if (realNow() - consoleBurstStart > CONSOLE_FLUSH_DELAY) {
    consoleBurstStart = realNow();
    consoleBurst = 0;
  }
  consoleBurst += 1;
  if (consoleBurst <= CONSOLE_FLUSH_BURST) {
    flushConsole();
    return;
  }
  if (consoleFlushIsPlanned) return;
  consoleFlushIsPlanned = true;
  realSetTimeout(() => {
    consoleFlushIsPlanned = false;
    if (!programHasEnded) flushConsole();
  }, CONSOLE_FLUSH_DELAY);
}

function flushConsole() {
  const lines = takeConsoleLines();
  if (lines.length > 0) sendText(`{"type":"console","lines":${JSON.stringify(lines)}}`);
}

/** @returns {[ConsoleLevel, string][]} */
function takeConsoleLines() {
  const lines = consoleLines;
  consoleLines = [];
  return lines;
}

function installConsole() {
  /** @type {Map<string, number>} */
  const counts = new Map();
  /** @type {Map<string, number>} */
  const starts = new Map();
  const labelOf = (/** @type {unknown} */ label) => (label === undefined ? "default" : describeThrown(label));
  const printAt =
    (/** @type {ConsoleLevel} */ level) =>
    (/** @type {unknown[]} */ ...values) =>
      print(level, values);
  const group = (/** @type {unknown[]} */ ...values) => {
    if (values.length > 0) print("log", values);
    if (consoleIndent.length < 40) consoleIndent += "  ";
  };
  const elapsed = (/** @type {string} */ label) => {
    const start = starts.get(label);
    return start === undefined ? undefined : `${label}: ${currentTime() - start} ms`;
  };
  replaceGlobal("console", {
    log: printAt("log"),
    info: printAt("info"),
    debug: printAt("debug"),
    warn: printAt("warn"),
    error: printAt("error"),
    trace: (/** @type {unknown[]} */ ...values) => print("debug", ["Trace:", ...values]),
    dir: (/** @type {unknown} */ value) => print("log", [typeof value === "string" ? quoteText(value) : value]),
    dirxml: printAt("log"),
    table: (/** @type {unknown} */ data) => print("log", [tableText(data)]),
    assert: (/** @type {unknown} */ condition, /** @type {unknown[]} */ ...values) => {
      if (!condition) print("error", values.length > 0 ? ["Assertion failed:", ...values] : ["Assertion failed"]);
    },
    count: (/** @type {unknown} */ label) => {
      const name = labelOf(label);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      print("log", [`${name}: ${counts.get(name)}`]);
    },
    countReset: (/** @type {unknown} */ label) => counts.delete(labelOf(label)),
    time: (/** @type {unknown} */ label) => starts.set(labelOf(label), currentTime()),
    timeLog: (/** @type {unknown} */ label, /** @type {unknown[]} */ ...values) => {
      const text = elapsed(labelOf(label));
      if (text !== undefined) print("log", [text, ...values]);
    },
    timeEnd: (/** @type {unknown} */ label) => {
      const text = elapsed(labelOf(label));
      if (text !== undefined) print("log", [text]);
      starts.delete(labelOf(label));
    },
    group,
    groupCollapsed: group,
    groupEnd: () => {
      consoleIndent = consoleIndent.slice(2);
    },
    clear: () => {},
  });
}

/**
 * @param {unknown} data
 * @returns {unknown} a table in characters for a list of records, anything else as it is
 */
function tableText(data) {
  if (!Array.isArray(data) || data.length === 0) return data;
  /** @type {string[]} */
  const columns = [];
  const rows = data.slice(0, 1_000);
  for (const row of rows) {
    if (typeof row !== "object" || row === null) return data;
    for (const key of Object.keys(row)) if (!columns.includes(key) && columns.length < 50) columns.push(key);
  }
  const cell = (/** @type {unknown} */ value) => (value === undefined ? "" : cutText(inspect(value, 0), 60));
  const header = ["(index)", ...columns];
  const lines = [header, ...rows.map((row, index) => [`${index}`, ...columns.map((column) => cell(row[column]))])];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const drawn = lines.map((line) => line.map((text, column) => text.padEnd(widths[column] ?? 0)).join(" │ ").trimEnd());
  drawn.splice(1, 0, widths.map((width) => "─".repeat(width)).join("─┼─"));
  if (data.length > rows.length) drawn.push(`… ${grouped(data.length - rows.length)} more rows`);
  return drawn.join("\n");
}
