// A binary heap: the smallest item first. Used for timers (by due time) and for calls served from the log.

/** @template T */
class Heap {
  /** @type {T[]} */
  #items = [];
  /** @type {(a: T, b: T) => boolean} */
  #before;

  /** @param {(a: T, b: T) => boolean} before whether `a` comes out before `b` */
  constructor(before) {
    this.#before = before;
  }

  get size() {
    return this.#items.length;
  }

  /** @returns {T | undefined} the first item, left in place */
  peek() {
    return this.#items[0];
  }

  /** @param {T} item */
  push(item) {
    const items = this.#items;
    let index = items.length;
    items[index] = item;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#before(item, items[parent])) break;
      items[index] = items[parent];
      index = parent;
    }
    items[index] = item;
  }

  /** @returns {T | undefined} the first item, taken out */
  pop() {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#before(items[child + 1], items[child])) child += 1;
      if (!this.#before(items[child], last)) break;
      items[index] = items[child];
      index = child;
    }
    items[index] = last;
    return first;
  }
}
