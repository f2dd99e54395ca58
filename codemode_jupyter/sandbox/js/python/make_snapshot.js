// Makes the memory snapshot, when the assets are made: Deno runs this after the glue and interpreter.js in one module.
//
// Arguments: folder of Pyodide's files, folder of the sandbox's own package (sources or compiled), file to write.

/** @type {any} */
const { Deno } = /** @type {any} */ (globalThis);
const [files, guest, output] = Deno.args;

/** Imported into the snapshot: what programs use most. */
const MODULES =
  "abc, asyncio, base64, bisect, calendar, collections, contextlib, copy, csv, dataclasses, datetime, decimal, difflib, enum, " +
  "fractions, functools, hashlib, heapq, html, inspect, io, itertools, json, logging, math, operator, os, pathlib, pprint, " +
  "random, re, secrets, shlex, statistics, string, sys, textwrap, time, traceback, types, typing, unicodedata, urllib.parse, " +
  "uuid, warnings, zoneinfo, importlib.resources, tzdata.zoneinfo, codemode_guest.program, codemode_guest.packages";


async function makeSnapshot() {
  const read = (/** @type {string} */ name) => Deno.readFileSync(`${files}/${name}`);
  const pyodide = await loadInterpreter(
    {
      module: await WebAssembly.compile(read("pyodide.asm.wasm")),
      library: read("python_stdlib.zip"),
      lock: new TextDecoder().decode(read("lock.json")),
      snapshot: null,
    },
    console.log,
  );
  const folder = "/lib/python3.14/site-packages/codemode_guest";
  pyodide.FS.mkdirTree(folder);
  for (const { name } of Deno.readDirSync(guest)) {
    if (/\.pyc?$/.test(name)) pyodide.FS.writeFile(`${folder}/${name}`, Deno.readFileSync(`${guest}/${name}`));
  }
  pyodide.runPython(`import ${MODULES}\nimport gc; gc.collect()`);
  Deno.writeFileSync(output, pyodide.makeMemorySnapshot());
}

makeSnapshot();
