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
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = /** @type {T} */ (items[above]);
      if (!this.#before(item, parent)) break;
      items[index] = parent;
      index = above;
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
      let below = 2 * index + 1;
      if (below >= items.length) break;
      let child = /** @type {T} */ (items[below]);
      const sibling = items[below + 1];
      if (below + 1 < items.length && this.#before(/** @type {T} */ (sibling), child)) {
        below += 1;
        child = /** @type {T} */ (sibling);
      }
      if (!this.#before(child, last)) break;
      items[index] = child;
      index = below;
    }
    items[index] = last;
    return first;
  }
}
