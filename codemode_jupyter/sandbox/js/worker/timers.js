// setTimeout and setInterval of a program. A timer that fires is an event: events.js decides when, and records it.
//
// Timers that a step sets are real ones with ids of their own: a step is not run again in a replay, so nothing of
// it may be counted or recorded.

const LONGEST_DELAY = 2_147_483_647;

/** @typedef {{id: number, due: number, period: number | null, callback: Function, parameters: unknown[]}} Timer */

/** @type {Map<number, Timer>} */
const timers = new Map();
/** May hold timers that were cleared, or an older state of one that repeats; `nextTimer` drops them. */
const timersByTime = new Heap(
  /**
   * @param {{timer: Timer, due: number}} a
   * @param {{timer: Timer, due: number}} b
   */
  (a, b) => a.due < b.due || (a.due === b.due && a.timer.id < b.timer.id),
);
let lastTimerId = 0;

/**
 * @param {unknown} callback
 * @param {unknown} delay
 * @param {boolean} repeats
 * @param {unknown[]} parameters
 * @returns {number}
 */
function addTimer(callback, delay, repeats, parameters) {
  if (typeof callback !== "function") throw new TypeError("A timer needs a function to call, and text is not run here");
  const wanted = Math.trunc(Number(delay)) || 0;
  const period = Math.min(Math.max(wanted, repeats ? 1 : 0), LONGEST_DELAY);
  if (activeStep !== null) return addStepTimer(activeStep, callback, period, repeats, parameters);
  lastTimerId += 1;
  const due = clockTime + period;
  const timer = { id: lastTimerId, due, period: repeats ? period : null, callback, parameters };
  timers.set(timer.id, timer);
  timersByTime.push({ timer, due });
  wake();
  return timer.id;
}

/** @returns {Timer | undefined} the timer that is due next */
function nextTimer() {
  for (;;) {
    const entry = timersByTime.peek();
    if (entry === undefined) return undefined;
    if (timers.get(entry.timer.id) === entry.timer && entry.timer.due === entry.due) return entry.timer;
    timersByTime.pop();
  }
}

/** @param {Timer} timer */
function fireTimer(timer) {
  if (timer.period === null) {
    timers.delete(timer.id);
  } else {
    timer.due = clockTime + timer.period;
    timersByTime.push({ timer, due: timer.due });
  }
  try {
    Reflect.apply(timer.callback, undefined, timer.parameters);
  } catch (error) {
    failProgram(error);
  }
}

/**
 * @param {Step} step
 * @param {Function} callback
 * @param {number} delay
 * @param {boolean} repeats
 * @param {unknown[]} parameters
 * @returns {number} a negative id
 */
function addStepTimer(step, callback, delay, repeats, parameters) {
  step.lastTimerId -= 1;
  const id = step.lastTimerId;
  const fire = () => {
    if (repeats) step.timers.set(id, realSetTimeout(fire, delay));
    else step.timers.delete(id);
    try {
      Reflect.apply(callback, undefined, parameters);
    } catch (error) {
      failProgram(error);
    }
  };
  step.timers.set(id, realSetTimeout(fire, delay));
  return id;
}

/** @param {unknown} id */
function clearTimer(id) {
  const number = Number(id);
  if (timers.delete(number)) return;
  const handle = activeStep?.timers.get(number);
  if (handle === undefined) return;
  realClearTimeout(handle);
  activeStep?.timers.delete(number);
}

function installTimers() {
  replaceGlobal("setTimeout", (/** @type {unknown} */ callback, /** @type {unknown} */ delay, /** @type {unknown[]} */ ...rest) =>
    addTimer(callback, delay, false, rest),
  );
  replaceGlobal("setInterval", (/** @type {unknown} */ callback, /** @type {unknown} */ delay, /** @type {unknown[]} */ ...rest) =>
    addTimer(callback, delay, true, rest),
  );
  replaceGlobal("clearTimeout", clearTimer);
  replaceGlobal("clearInterval", clearTimer);
  replaceGlobal("queueMicrotask", (/** @type {unknown} */ callback) => {
    if (typeof callback !== "function") throw new TypeError("queueMicrotask needs a function");
    realQueueMicrotask(() => {
      try {
        callback();
      } catch (error) {
        failProgram(error);
      }
    });
  });
  defineHidden(AbortSignal, "timeout", (/** @type {unknown} */ delay) => {
    const controller = new AbortController();
    const reason = new DOMException("The operation was aborted due to timeout", "TimeoutError");
    addTimer(() => controller.abort(reason), delay, false, []);
    return controller.signal;
  });
}
