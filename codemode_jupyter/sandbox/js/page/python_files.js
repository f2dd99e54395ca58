// Python's files on their way into the page: out of its own store, from the server that serves it, or from the kernel.
//
// The kernel names the files, each with its size and SHA-256; whatever came by whichever way is used, and kept in the
// store, only if it is that. The store is shared by all that was ever served from here, so it is not trusted.

/** The page's store of files (IndexedDB, which is there without TLS as well). */
const STORE = "codemode-jupyter";
/** Files that were not used for so long are taken out of the store, in ms. */
const STORE_TIME = 30 * 24 * 3_600_000;
/** How long the server or the kernel may be silent in the middle of a file, in ms. */
const FILE_SILENCE = 15_000;
/** How often a piece is asked for before the kernel counts as deaf. */
const PIECE_TRIES = 3;
/** How often progress is told, in ms. */
const PROGRESS_INTERVAL = 200;

/** A file without a path is one that no server has. @typedef {PythonList["files"][number] | PackageFile} AnyFile */

/**
 * @param {Blob} blob
 * @param {AnyFile} file
 * @returns {Promise<boolean>} whether the one is the other
 */
async function isGenuine(blob, { size, sha256 }) {
  if (blob.size !== size) return false;
  const digest = Uint8Array.from(sha256.match(/../g) ?? [], (byte) => parseInt(byte, 16));
  if (isSecureContext) {
    const found = new Uint8Array(await crypto.subtle.digest("SHA-256", await blob.arrayBuffer()));
    return digest.length === found.length && digest.every((byte, index) => byte === found[index]);
  }
  // Without TLS there is no `crypto.subtle`, but `fetch` checks what it is told to expect (Subresource Integrity).
  const url = URL.createObjectURL(blob);
  try {
    const checked = await fetch(url, { integrity: `sha256-${btoa(String.fromCharCode(...digest))}` });
    await checked.arrayBuffer();
    return true;
  } catch {
    return false;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Compressed files by their SHA-256, kept from page to page. Where there is no store it is empty. */
class FileStore {
  /** @type {Promise<IDBDatabase | null>} */
  #database = new Promise((resolve) => {
    try {
      const opening = indexedDB.open(STORE, 1);
      opening.onupgradeneeded = () => {
        opening.result.createObjectStore("files");
        opening.result.createObjectStore("used");
      };
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = opening.onblocked = () => resolve(null);
    } catch {
      resolve(null);
    }
  });

  /**
   * @param {AnyFile} file
   * @returns {Promise<Blob | null>}
   */
  async get({ sha256 }) {
    const found = await this.#do("readonly", (files) => files.get(sha256));
    return found instanceof Blob ? found : null;
  }

  /**
   * @param {AnyFile} file
   * @param {Blob} blob
   */
  async put({ sha256 }, blob) {
    await this.#do("readwrite", (files) => files.put(blob, sha256));
  }

  /**
   * Note which files are used now; those that were not used for long go.
   *
   * @param {AnyFile[]} files
   */
  async noteUse(files) {
    const times = /** @type {unknown[] | null} */ (await this.#do("readonly", (_, used) => used.getAll()));
    const keys = /** @type {string[] | null} */ (await this.#do("readonly", (_, used) => used.getAllKeys()));
    await this.#do("readwrite", (store, used) => {
      keys?.forEach((key, index) => {
        if (Date.now() - Number(times?.[index]) < STORE_TIME) return;
        store.delete(key);
        used.delete(key);
      });
      files.forEach(({ sha256 }) => used.put(Date.now(), sha256));
    });
  }

  /**
   * @param {IDBTransactionMode} mode
   * @param {(files: IDBObjectStore, used: IDBObjectStore) => IDBRequest | void} work
   * @returns {Promise<unknown>} what the request came to; null: nothing, or it failed
   */
  async #do(mode, work) {
    const database = await this.#database;
    if (database === null) return null;
    return new Promise((resolve) => {
      try {
        const transaction = database.transaction(["files", "used"], mode);
        const request = work(transaction.objectStore("files"), transaction.objectStore("used"));
        transaction.oncomplete = () => resolve(request?.result ?? null);
        transaction.onerror = transaction.onabort = () => resolve(null);
      } catch {
        resolve(null);
      }
    });
  }
}

/** Loads the files, each set once for all that want it. */
class PythonLoader {
  /** @type {(of: string, file: string, start: number) => void} */
  #want;
  /** @type {string | null} */
  #served;
  #store = new FileStore();
  /** By the set's digest. @type {Map<string, Promise<PythonFiles>>} */
  #loads = new Map();
  /** Who wants to hear how far it is. @type {Set<(news: PythonNews) => void>} */
  #listeners = new Set();
  /** The files of packages that are here, by their SHA-256. @type {Map<string, Blob>} */
  #packages = new Map();
  /** The last piece that was asked for: one at a time. @type {Promise<unknown>} */
  #asked = Promise.resolve();
  /** The piece that is waited for. @type {{file: string, start: number, take: (piece: Uint8Array<ArrayBuffer> | null) => void} | null} */
  #awaited = null;
  /** The executor that spoke last: it can answer. */
  #owner = "";
  #closing = new AbortController();
  /** How many bytes came by which way, and how long it took. @type {{ways: {[way in PythonWay]?: number}, seconds: number}} */
  found = { ways: {}, seconds: 0 };

  /**
   * @param {string | null} served the address of the labextensions; null: the page does not say
   * @param {(of: string, file: string, start: number) => void} want asks an executor of the kernel for a piece
   */
  constructor(served, want) {
    this.#served = served;
    this.#want = want;
  }

  /**
   * @param {PythonList} list
   * @param {string} owner
   * @param {(news: PythonNews) => void} listener
   * @returns {Promise<PythonFiles>}
   */
  async load(list, owner, listener) {
    this.#owner = owner;
    this.#listeners.add(listener);
    let loading = this.#loads.get(list.digest);
    if (loading === undefined) {
      loading = this.#load(list);
      this.#loads.set(list.digest, loading);
      loading.catch(() => this.#loads.delete(list.digest));
    }
    try {
      return await loading;
    } finally {
      this.#listeners.delete(listener);
    }
  }

  /**
   * Have the files of packages here.
   *
   * @param {PackageFile[]} files
   * @param {string} owner
   * @param {(news: PythonNews) => void} tell
   */
  async loadPackages(files, owner, tell) {
    this.#owner = owner;
    const missing = files.filter(({ sha256 }) => !this.#packages.has(sha256));
    const total = missing.reduce((sum, { size }) => sum + size, 0);
    let before = 0;
    for (const file of missing) {
      const { blob, way } = await this.#find(file, (done) => tell({ state: "loading", done: before + done, total, what: "packages" }));
      before += file.size;
      this.#packages.set(file.sha256, blob);
      if (way !== "cache") this.#store.put(file, blob);
    }
    this.#store.noteUse(files);
    tell({ state: "packages", files: files.map(({ sha256 }) => sha256) });
  }

  /**
   * @param {Package} wanted
   * @returns {PackageData | null} null: its file is not here
   */
  package({ name, place, sha256 }) {
    const data = this.#packages.get(sha256);
    return data === undefined ? null : { name, place, data };
  }

  /**
   * Take a piece of a file from the kernel.
   *
   * @param {string} file
   * @param {number} start
   * @param {DataView | undefined} buffer
   */
  take(file, start, buffer) {
    if (this.#awaited?.file !== file || this.#awaited.start !== start || buffer === undefined) return;
    // A copy: the buffer may be part of a larger one, which would be kept as long as the piece.
    const piece = new Uint8Array(buffer.byteLength);
    piece.set(new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength));
    this.#awaited.take(piece);
  }

  close() {
    this.#closing.abort();
    this.#awaited?.take(null);
  }

  /**
   * @param {PythonList} list
   * @returns {Promise<PythonFiles>}
   */
  async #load({ parts, lock, files }) {
    const began = performance.now();
    /** @type {{[way in PythonWay]?: number}} */
    const ways = {};
    /** @type {Map<PythonFileName, Promise<Blob>>} */
    const unpacked = new Map();
    const total = files.reduce((sum, { size }) => sum + size, 0);
    let before = 0;
    let told = 0;
    for (const file of files) {
      const { blob, way } = await this.#find(file, (done) => {
        if (performance.now() - told < PROGRESS_INTERVAL) return;
        told = performance.now();
        for (const listener of this.#listeners) listener({ state: "loading", done: before + done, total });
      });
      before += file.size;
      ways[way] = (ways[way] ?? 0) + file.size;
      if (way !== "cache") this.#store.put(file, blob);
      unpacked.set(file.name, new Response(blob.stream().pipeThrough(new DecompressionStream("gzip"))).blob());
    }
    this.#store.noteUse(files);
    const get = (/** @type {PythonFileName} */ name) => /** @type {Promise<Blob>} */ (unpacked.get(name));
    const ready = {
      script: new Blob([parts[0], await get("glue.js"), parts[1]], { type: "text/javascript" }),
      wasm: await get("pyodide.asm.wasm"),
      library: await get("python_stdlib.zip"),
      lock,
      snapshot: await get("snapshot.bin"),
    };
    this.found = { ways, seconds: (performance.now() - began) / 1000 };
    return ready;
  }

  /**
   * @param {AnyFile} file
   * @param {(done: number) => void} progress
   * @returns {Promise<{blob: Blob, way: PythonWay}>}
   */
  async #find(file, progress) {
    /** @type {[PythonWay, () => Promise<Blob | null>][]} */
    const ways = [["cache", () => this.#store.get(file)]];
    if ("path" in file) ways.push(["server", () => this.#fromServer(file, progress)]);
    ways.push(["kernel", () => this.#fromKernel(file, progress)]);
    for (const [way, find] of ways) {
      const blob = await find().catch(() => null);
      if (blob !== null && (await isGenuine(blob, file).catch(() => false))) return { blob, way };
      if (way === "server") this.#served = null; // the others are not there either, or not those
    }
    throw new Error(`${file.name} did not arrive from the kernel as it should.`);
  }

  /**
   * @param {PythonList["files"][number]} file
   * @param {(done: number) => void} progress
   * @returns {Promise<Blob | null>} null: the server has no such file
   */
  async #fromServer({ path, size }, progress) {
    if (this.#served === null) return null;
    const stopping = new AbortController();
    const { signal } = stopping;
    this.#closing.signal.addEventListener("abort", () => stopping.abort(), { signal });
    let silence = setTimeout(() => stopping.abort(), FILE_SILENCE);
    try {
      const response = await fetch(`${this.#served}/${path}`, { signal });
      const reader = response.ok ? response.body?.getReader() : undefined;
      if (reader === undefined) return null;
      const chunks = [];
      let done = 0;
      for (let { value } = await reader.read(); value !== undefined; { value } = await reader.read()) {
        clearTimeout(silence);
        silence = setTimeout(() => stopping.abort(), FILE_SILENCE);
        chunks.push(value);
        done += value.length;
        if (done > size) return null;
        progress(done);
      }
      return new Blob(chunks);
    } finally {
      clearTimeout(silence);
      stopping.abort();
    }
  }

  /**
   * @param {AnyFile} file
   * @param {(done: number) => void} progress
   * @returns {Promise<Blob | null>} null: the kernel does not answer
   */
  async #fromKernel({ name, size }, progress) {
    const pieces = [];
    for (let start = 0; start < size; ) {
      let piece = null;
      for (let tries = 0; piece === null && tries < PIECE_TRIES; tries += 1) piece = await this.#ask(name, start);
      if (piece === null || piece.length === 0) return null;
      pieces.push(piece);
      start += piece.length;
      progress(start);
    }
    return new Blob(pieces);
  }

  /**
   * @param {string} file
   * @param {number} start
   * @returns {Promise<Uint8Array<ArrayBuffer> | null>} null: no answer in time
   */
  #ask(file, start) {
    const asked = this.#asked.then(() => this.#askNow(file, start));
    this.#asked = asked;
    return asked;
  }

  /**
   * @param {string} file
   * @param {number} start
   * @returns {Promise<Uint8Array<ArrayBuffer> | null>}
   */
  #askNow(file, start) {
    return new Promise((resolve) => {
      if (this.#closing.signal.aborted) return resolve(null);
      const silence = setTimeout(() => take(null), FILE_SILENCE);
      const take = (/** @type {Uint8Array<ArrayBuffer> | null} */ piece) => {
        clearTimeout(silence);
        this.#awaited = null;
        resolve(piece);
      };
      this.#awaited = { file, start, take };
      this.#want(this.#owner, file, start);
    });
  }
}
