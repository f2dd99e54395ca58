// What the page and the kernel, and the page and its sandbox frame, say to each other. Types only: nothing of this
// file reaches the page.

/**
 * Kernel to page. `to` is a page's id, or "*" for every page; `owner` is the executor that speaks, so that two
 * executors of one kernel do not end each other's runs.
 *
 * - who: say hello again.
 * - prepare: make the sandbox now; answered by `prepared` or `unusable`. `policy` is "" for our own
 *   Content-Security-Policy; a host's comes with the markup of a frame that has it.
 * - warm: have a Worker for Python ready in a frame with that policy; `files` says what it is made of, which the page
 *   looks for where `python_files.js` says. Answered by `python`.
 * - packages: have these packages' files in the page, for the passes that are to begin with them. Answered by `python`.
 * - piece: a part of a file that the page asked for by `want`, in the message's buffer.
 * - start: run `text` (the whole begin message of a pass) in a Worker of its own under the id `run`, in a frame with
 *   that policy; passes in `over` are over, as by `end`.
 * - text: hand one more message to the Worker of `run`.
 * - end: these passes are over; free their Workers.
 * - kill: end the pass by force, whatever its program is doing.
 * - ping: answer with pong; passes of this owner that are not in `runs` are orphans and are killed. `texts` says how
 *   many texts the kernel sent to each pass of `runs`: where another number arrived, the pass is lost.
 *
 * @typedef {{to: string, owner: string} & (
 *   | {type: "who"}
 *   | {type: "prepare", policy: string, frame?: string}
 *   | {type: "warm", policy: string, files: PythonList}
 *   | {type: "packages", policy: string, files: PackageFile[]}
 *   | {type: "piece", file: string, start: number}
 *   | {type: "start", run: string, policy: string, language: string, text: string, over: string[], packages?: Package[]}
 *   | {type: "text", run: string, text: string}
 *   | {type: "end", runs: string[]}
 *   | {type: "kill", run: string}
 *   | {type: "ping", runs: string[], texts?: number[]}
 * )} KernelMessage
 */

/**
 * Python's files: `digest` names the set, `parts` is the script of a Worker with a gap in its middle for `glue.js`. Of
 * each compressed file: its size in bytes, its SHA-256, and where a server may serve it, below the labextensions.
 *
 * @typedef {{
 *   digest: string,
 *   parts: [string, string],
 *   lock: string,
 *   files: {name: PythonFileName, size: number, sha256: string, path: string}[],
 * }} PythonList
 */

/**
 * The file of a package: its size in bytes, and its SHA-256, which is its name as well.
 *
 * @typedef {{name: string, size: number, sha256: string}} PackageFile
 */

/** A package that a pass begins with. @typedef {{name: string, sha256: string, place: string}} Package */

/** The same with its file, for the relay. @typedef {{name: string, place: string, data: Blob}} PackageData */

/** @typedef {"glue.js" | "pyodide.asm.wasm" | "python_stdlib.zip" | "snapshot.bin"} PythonFileName */

/** How Python's files came into the page: from its own cache, the server, or the kernel. @typedef {"cache" | "server" | "kernel"} PythonWay */

/**
 * How far Python is: `loading`, in bytes that have come, of Python itself or of `packages`; `starting`, with all there; `warm`, where `ways` says how many
 * bytes came by each, and `seconds` how long they took; `packages`: the page has the files with these SHA-256; `cold`: it
 * cannot be had; `message` is for a person.
 *
 * @typedef {(
 *   | {state: "loading", done: number, total: number, what?: "packages"}
 *   | {state: "starting"}
 *   | {state: "warm", ways: {[way in PythonWay]?: number}, seconds: number}
 *   | {state: "packages", files: string[]}
 *   | {state: "cold", message: string}
 * )} PythonNews
 */

/**
 * One text of a Worker, or a piece of it: the third element says whether more pieces of the same text follow.
 *
 * @typedef {[run: string, piece: string, more: boolean]} Piece
 */

/**
 * Page to kernel, each with the page's id as `from`.
 *
 * - cut: the page ended a pass that broke a limit; nothing more comes from it.
 * - lost: these passes are gone, and why: the sandbox's process died (frame), the page had to make the
 *   sandbox in another way (moved), the kernel fell silent (kernel), or messages of it are missing (connection).
 * - pong: the answer to ping, with the number of pieces that the page sent of each pass it was asked about (-1: of none
 *   that it knows). Without `runs` only a sign of life.
 * - python: how far a frame with that policy is with Python, as asked by `warm`, or because a Worker has become ready.
 * - want: send that part of a file; `of` is the executor that is asked.
 * - unusable: no sandbox with that policy can be made in this page; `message` is for a person.
 *
 * @typedef {(
 *   | {type: "hello", agent: string, path: string, visible: boolean}
 *   | {type: "bye"}
 *   | {type: "prepared", policy: string, frame: FramePlace["by"]}
 *   | {type: "unusable", policy: string, message: string}
 *   | {type: "python", policy: string, news: PythonNews}
 *   | {type: "want", of: string, file: string, start: number}
 *   | {type: "pong", runs?: [run: string, pieces: number][]}
 *   | {type: "texts", texts: Piece[]}
 *   | {type: "cut", run: string, kind: CutKind}
 *   | {type: "lost", runs: string[], reason: "frame" | "moved" | "kernel" | "connection"}
 * )} PageMessage
 */

/** @typedef {"too_large" | "protocol"} CutKind */

/**
 * What a Worker for Python is made of, ready for use.
 *
 * @typedef {{script: Blob, wasm: Blob, library: Blob, lock: string, snapshot: Blob}} PythonFiles
 */

/**
 * Page to the relay inside the sandbox frame.
 *
 * @typedef {(
 *   | {type: "runtime", source: string}
 *   | {type: "python", files: PythonFiles}
 *   | {type: "warm"}
 *   | {type: "start", run: string, text: string, language: string, packages: PackageData[]}
 *   | {type: "text", run: string, text: string}
 *   | {type: "end", run: string}
 *   | {type: "ping"}
 * )} ToRelay
 */

/**
 * The relay to the page. `run` is stamped by the relay, never by what runs in the Worker.
 *
 * @typedef {(
 *   | {type: "ready"}
 *   | {type: "unusable", message: string}
 *   | {type: "warm"}
 *   | {type: "cold", message: string}
 *   | {type: "text", run: string, text: string}
 *   | {type: "cut", run: string, kind: CutKind}
 *   | {type: "pong"}
 * )} FromRelay
 */

/** A message arrived; the kernel behind the model went away or came back. @typedef {"msg:custom" | "comm_live_update"} ModelEvent */

/**
 * The part of an anywidget model that the page uses. Traits are read once and never written: a trait written while a
 * cell runs would be stuck for good.
 *
 * @typedef {{
 *   get(name: string): string,
 *   send(content: PageMessage & {from: string}): void,
 *   on(event: ModelEvent, callback: (content: KernelMessage, buffers?: DataView[]) => void): void,
 *   off(event: ModelEvent, callback: (content: KernelMessage, buffers?: DataView[]) => void): void,
 * }} Model
 */
