// Random numbers of a program: from the execution's seed, so that every pass draws the same ones.
//
// Each stream is xoshiro128** (Blackman and Vigna, 2018), seeded through splitmix32. Not for keys: the kernel knows
// the seed.

class RandomStream {
  #state = new Uint32Array(4);

  /** @param {Uint32Array} seed four words; all zero is allowed */
  constructor(seed) {
    let mixed = 0x9e3779b9;
    for (let index = 0; index < 4; index += 1) {
      mixed = (mixed + seed[index] + 0x9e3779b9) | 0;
      let word = mixed ^ (mixed >>> 16);
      word = Math.imul(word, 0x21f0aaad);
      word ^= word >>> 15;
      word = Math.imul(word, 0x735a2d97);
      this.#state[index] = word ^ (word >>> 15) ^ index;
    }
    for (let warmUp = 0; warmUp < 16; warmUp += 1) this.word();
  }

  /** @returns {number} 32 random bits, 0 to 2^32 - 1 */
  word() {
    const s = this.#state;
    const scrambled = Math.imul(s[1], 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
    const shifted = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = (s[3] << 11) | (s[3] >>> 21);
    return result;
  }

  /** @returns {number} uniform in [0, 1) with 53 bits, as Math.random */
  fraction() {
    return ((this.word() >>> 5) * 67_108_864 + (this.word() >>> 6)) / 9_007_199_254_740_992;
  }
}

/** The execution's seed, four words. */
let programSeed = new Uint32Array(4);
let programRandom = new RandomStream(programSeed);

/** @param {string} hex 32 hexadecimal digits */
function seedRandom(hex) {
  programSeed = new Uint32Array(4);
  for (let index = 0; index < 4; index += 1) programSeed[index] = Number.parseInt(hex.slice(8 * index, 8 * index + 8), 16);
  programRandom = new RandomStream(programSeed);
}

/**
 * A stream for one step: a step does not run again in a replay, so it must not draw from the program's stream.
 *
 * @param {number} seq
 */
function stepRandom(seq) {
  const seed = new Uint32Array(programSeed);
  seed[0] ^= seq + 1;
  seed[3] ^= 0x5eed5eed;
  return new RandomStream(seed);
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
    const bytes = getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let text = "";
    for (let index = 0; index < 16; index += 1) {
      if (index === 4 || index === 6 || index === 8 || index === 10) text += "-";
      text += (bytes[index] + 0x100).toString(16).slice(1);
    }
    return text;
  };
  replaceGlobal("crypto", { getRandomValues, randomUUID });
  const random = () => currentRandom().fraction();
  defineHidden(Math, "random", random);
}
