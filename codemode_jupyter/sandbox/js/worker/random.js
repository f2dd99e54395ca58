// Random numbers of a program: from the execution's seed, so that every pass draws the same ones.
//
// Each stream is xoshiro128** (Blackman and Vigna, 2018), its seed mixed as in splitmix32. Not for keys: the kernel knows
// the seed.

/** @typedef {[number, number, number, number]} Seed four words of 32 bits */

class RandomStream {
  #a;
  #b;
  #c;
  #d;

  /** @param {Seed} seed all zero is allowed */
  constructor([a, b, c, d]) {
    this.#a = mixWord(a + 0x9e3779b9);
    this.#b = mixWord(b ^ this.#a);
    this.#c = mixWord(c ^ this.#b);
    this.#d = mixWord(d ^ this.#c) | 1;
    for (let warmUp = 0; warmUp < 16; warmUp += 1) this.word();
  }

  /** @returns {number} 32 random bits, 0 to 2^32 - 1 */
  word() {
    const scrambled = Math.imul(this.#b, 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result;
  }

  /** @returns {number} uniform in [0, 1) with 53 bits, as Math.random */
  fraction() {
    return ((this.word() >>> 5) * 67_108_864 + (this.word() >>> 6)) / 9_007_199_254_740_992;
  }
}

/**
 * The finaliser of splitmix32: spreads every bit of a word over all of it.
 *
 * @param {number} word
 */
function mixWord(word) {
  let mixed = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}

/** The execution's. @type {Seed} */
let programSeed = [0, 0, 0, 0];
let programRandom = new RandomStream(programSeed);

/** @param {string} hex 32 hexadecimal digits */
function seedRandom(hex) {
  const word = (/** @type {number} */ start) => Number.parseInt(hex.slice(start, start + 8), 16) | 0;
  programSeed = [word(0), word(8), word(16), word(24)];
  programRandom = new RandomStream(programSeed);
}

/**
 * A stream for one step: a step does not run again in a replay, so it must not draw from the program's stream.
 *
 * @param {number} seq
 */
function stepRandom(seq) {
  const [a, b, c, d] = programSeed;
  return new RandomStream([a, b ^ (seq + 1), c, d ^ 0x5eed5eed]);
}

/** @returns {RandomStream} the stream of whatever runs now */
function currentRandom() {
  return activeStep?.random ?? programRandom;
}

/** Put the program's own sources of randomness in the place of the real ones. */
function installRandom() {
  const byteLengthOf = /** @type {(this: object) => number} */ (
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), "byteLength")?.get
  );
  /** @type {<T extends ArrayBufferView>(array: T) => T} */
  const getRandomValues = (array) => {
    const length = Reflect.apply(byteLengthOf, array, []);
    if (length > 65_536) throw new RangeError("crypto.getRandomValues fills at most 65,536 bytes at a time");
    const bytes = new Uint8Array(array.buffer, array.byteOffset, length);
    const random = currentRandom();
    for (let index = 0; index < length; index += 1) bytes[index] = random.word() >>> 24;
    return array;
  };
  const randomUUID = () => {
    let hex = "";
    for (const byte of getRandomValues(new Uint8Array(16))) hex += (byte + 0x100).toString(16).slice(1);
    // RFC 9562: version 4, variant 10.
    const variant = "89ab"[Number.parseInt(hex.slice(16, 17), 16) & 3];
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  replaceGlobal("crypto", { getRandomValues, randomUUID });
  const random = () => currentRandom().fraction();
  defineHidden(Math, "random", random);
}
