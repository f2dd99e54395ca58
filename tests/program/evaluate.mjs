// Runs prepared programs in this engine, one after the other, and prints what became of each as JSON.
// In: {"sources": [text, ...], "inputs": [value, ...]} on standard input. With "evaluate" as argument no program is called.
import { readFileSync } from "node:fs";

const job = JSON.parse(readFileSync(0, "utf8"));
const evaluateOnly = process.argv[2] === "evaluate";
const write = process.stdout.write.bind(process.stdout);
const indirectEval = eval;

const hex = (view) => Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString("hex");

/** The tagged form of the vectors. */
function tagged(value) {
  if (value === undefined) return { $js: "undefined" };
  if (typeof value === "bigint") return { $js: "bigint", value: String(value) };
  if (typeof value === "symbol") return { $js: "symbol" };
  if (typeof value === "number") {
    if (Number.isNaN(value)) return { $js: "NaN" };
    if (!Number.isFinite(value)) return { $js: value > 0 ? "Infinity" : "-Infinity" };
    return Object.is(value, -0) ? { $js: "-0" } : value;
  }
  if (typeof value === "function") {
    const isClass = /^class\b/.test(Function.prototype.toString.call(value));
    return { $js: isClass ? "class" : "function", name: value.name };
  }
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(tagged);
  if (value instanceof Date) return { $js: "Date", value: value.toISOString() };
  if (value instanceof RegExp) return { $js: "RegExp", value: String(value) };
  if (value instanceof Map) return { $js: "Map", value: [...value].map(tagged) };
  if (value instanceof Set) return { $js: "Set", value: [...value].map(tagged) };
  if (value instanceof Error) return { $js: "Error", name: value.name, message: value.message };
  if (ArrayBuffer.isView(value)) return { $js: value.constructor.name, hex: hex(value) };
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (kind === "Generator" || kind === "AsyncGenerator") return { $js: kind };
  const members = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, tagged(item)]));
  const maker = value.constructor;
  return maker && maker !== Object ? { $js: "instance", class: maker.name, props: members } : members;
}

async function run(source, input) {
  const calls = [];
  const logs = [];
  globalThis.codemode = new Proxy({}, {
    get: (_, method) => async (argument) => {
      calls.push([method, argument]);
      if (method === "fail") throw new Error(`tool failed: ${argument.why}`);
      return method === "pick" ? { n: argument.n } : argument;
    },
  });
  const line = (prefix) => (...parts) => void logs.push(prefix + parts.map(String).join(" "));
  globalThis.console = { log: line(""), warn: line("[warn] "), error: line("[error] ") };
  let program;
  try {
    program = indirectEval(`"use strict"; (\n${source}\n)`);
  } catch (error) {
    return { outcome: error instanceof SyntaxError ? "engine_refuses" : "escaped", message: String(error) };
  }
  try {
    return { outcome: "value", value: tagged(await program(input)), calls, logs };
  } catch (error) {
    const place = /<anonymous>:(\d+):(\d+)/.exec(error?.stack ?? "");
    const at = place && [Number(place[1]) - 1, Number(place[2])];
    return { outcome: "throws", message: error?.message, thrown: tagged(error), at, calls, logs };
  }
}

/** Evaluates the expression without calling what it gives; `evil` must not have run. */
function evaluate(source) {
  let ran = false;
  globalThis.evil = () => { ran = true; };
  try {
    const program = indirectEval(`"use strict"; (\n${source}\n)`);
    const isWrapper = Object.prototype.toString.call(program) === "[object AsyncFunction]";
    const whole = isWrapper && Function.prototype.toString.call(program) === source;
    return { outcome: ran ? "ran" : whole ? "function" : "other", source };
  } catch (error) {
    return { outcome: !ran && error instanceof SyntaxError ? "engine_refuses" : "ran", message: String(error), source };
  }
}

const results = [];
for (const [index, source] of job.sources.entries()) {
  results.push(evaluateOnly ? evaluate(source) : await run(source, job.inputs?.[index] ?? undefined));
}
write(JSON.stringify(results), () => process.exit(0));
