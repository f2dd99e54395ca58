// The program's clock: it stands still between events and takes its values from the record during a replay.
//
// Owns the time that Date, performance, Intl and Event show. Whole milliseconds since the epoch.

let clockStart = 0;
/** The time of the last event. */
let clockTime = 0;
/** Program time and real time when the record was used up; from there on real time passes. */
let liveSince = 0;
let liveOrigin = 0;
let clockIsLive = false;
/** A call waits for a person: no time passes for the program. */
let clockIsStopped = false;

/** @param {number} start */
function setClock(start) {
  clockStart = start;
  clockTime = start;
}

/** @param {number} time */
function advanceClock(time) {
  if (time > clockTime) clockTime = time;
}

function startLiveClock() {
  if (clockIsLive) return;
  clockIsLive = true;
  liveSince = clockTime;
  liveOrigin = realNow();
}

function stopClock() {
  if (clockIsStopped) return;
  clockTime = liveTime();
  clockIsStopped = true;
}

/** @returns {number} the time an event has that happens now */
function liveTime() {
  if (!clockIsLive || clockIsStopped) return clockTime;
  return Math.max(clockTime, Math.floor(liveSince + realNow() - liveOrigin));
}

/** @returns {number} what the program reads; a step sees time pass, as it is not run again */
function currentTime() {
  return activeStep === null ? clockTime : liveTime();
}

function installClock() {
  installDate();
  installIntlClock();
  replaceGlobal("performance", {
    now: () => currentTime() - clockStart,
    get timeOrigin() {
      return clockStart;
    },
  });
  const timeStamp = () => currentTime() - clockStart;
  Object.defineProperty(Event.prototype, "timeStamp", { get: timeStamp, enumerable: true, configurable: true });
}

function installDate() {
  /** @this {unknown} @param {unknown[]} parts */
  function ProgramDate(...parts) {
    if (new.target === undefined) return new RealDate(currentTime()).toString();
    return Reflect.construct(RealDate, parts.length === 0 ? [currentTime()] : parts, new.target);
  }
  defineHidden(ProgramDate, "name", "Date");
  defineHidden(ProgramDate, "length", 7);
  defineHidden(ProgramDate, "now", () => currentTime());
  defineHidden(ProgramDate, "parse", RealDate.parse);
  defineHidden(ProgramDate, "UTC", RealDate.UTC);
  Object.defineProperty(ProgramDate, "prototype", { value: RealDate.prototype, writable: false });
  defineHidden(RealDate.prototype, "constructor", ProgramDate);
  replaceGlobal("Date", ProgramDate);
}

/** `format()` and `formatToParts()` without a date mean now. */
function installIntlClock() {
  const prototype = Intl.DateTimeFormat.prototype;
  const formatOf = /** @type {(this: Intl.DateTimeFormat) => (date?: unknown) => string} */ (
    Object.getOwnPropertyDescriptor(prototype, "format")?.get
  );
  const formatToParts = prototype.formatToParts;
  Object.defineProperty(prototype, "format", {
    /** @this {Intl.DateTimeFormat} */
    get() {
      const format = Reflect.apply(formatOf, this, []);
      return (/** @type {unknown} */ date) => format(date === undefined ? currentTime() : date);
    },
    configurable: true,
  });
  defineHidden(
    prototype,
    "formatToParts",
    /** @this {Intl.DateTimeFormat} @param {Date | number} [date] */
    function (date) {
      return Reflect.apply(formatToParts, this, [date === undefined ? currentTime() : date]);
    },
  );
}
