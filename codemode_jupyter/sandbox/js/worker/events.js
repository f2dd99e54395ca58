// The pump: what happens to a program, one event per macrotask, live exactly as in a replay.
//
// An event is a call's promise that settles or a timer that fires. Between two events every microtask has run, so the
// program is quiet and what it does next depends on the next event alone. Recorded events come first and in their
// recorded order; then completed calls that have no recorded event, in the kernel's order; then what arrives; then
// timers that are due. Owns the order; calls.js and timers.js own what an event does.

/** How long a program may be quiet with nothing to come before it is given up, in real ms. */
const UNSETTLED_GRACE = 1_000;

/** @typedef {["call" | "timer", number, number]} ProgramEvent kind, seq or timer id, clock */

/** @type {ProgramEvent[]} */
let recordedEvents = [];
let replayPosition = 0;
/** By seq: whether a call has a recorded event. @type {(true | undefined)[]} */
const recordedCallEvents = [];
/** Events that the kernel has not been told. @type {ProgramEvent[]} */
let newEvents = [];
/** How many recorded events happened again that the kernel has not been told of. */
let replayedCount = 0;

/**
 * Most turns that one message brings, each in a listener of its own. Browsers run every microtask after each listener
 * (HTML, "clean up after running script"), so the program is as quiet between two of them as between two tasks, and a
 * task costs ten times as much. Listeners that find nothing to do cost little, but not nothing.
 */
const TURNS_PER_MESSAGE = 16;
const pumpChannel = new MessageChannel();
/** Listeners of the present message that are still to come. */
let listenersLeft = 0;
/** Whether the microtasks after the last turn have run: where an engine puts that off, a turn waits for a task. */
let microtasksRan = false;
/** What brings the next turn, if one is due. @type {"task" | "listener" | null} */
let nextTurn = null;
/** @type {number | undefined} */
let timerHandle;
/** @type {number | undefined} */
let graceHandle;
/** Fired when nothing can happen any more. */
let programHasEnded = false;

/** Have a turn soon: something may have become ready. */
function wake() {
  if (nextTurn !== null || programHasEnded) return;
  // After the outcome only tasks count: engines report unhandled rejections between them.
  nextTurn = listenersLeft > 0 && programOutcome === null ? "listener" : "task";
  if (nextTurn === "task") askForTask();
}

function askForTask() {
  // Never by messages in Deno: it may take two that are there within one macrotask.
  if (realSetImmediate === undefined) pumpChannel.port2.postMessage(null);
  else realSetImmediate(takeTurn);
}

/** @param {boolean} isTask whether this is the first listener, before which nothing of the task has run */
function takeTurnInListener(isTask) {
  if (isTask || microtasksRan) {
    microtasksRan = false;
    realQueueMicrotask(() => {
      microtasksRan = true;
    });
    takeTurn();
  } else {
    nextTurn = "task";
    askForTask();
  }
}

/**
 * Have a turn at once if none is due: since the last one, which found nothing to do, nothing of the program has run.
 * To be called in a task of its own.
 */
function turnNow() {
  if (nextTurn === null) takeTurn();
}

function startPump() {
  if (realSetImmediate !== undefined) return;
  for (let place = 0; place < TURNS_PER_MESSAGE; place += 1) {
    pumpChannel.port1.addEventListener("message", () => {
      listenersLeft = TURNS_PER_MESSAGE - 1 - place;
      if (nextTurn === (place === 0 ? "task" : "listener")) takeTurnInListener(place === 0);
    });
  }
  pumpChannel.port1.start();
  // A channel's first message takes milliseconds: it is sent now, when no turn is due, and not by a program.
  pumpChannel.port2.postMessage(null);
}

/** @param {ProgramEvent[]} events */
function setRecordedEvents(events) {
  recordedEvents = events;
  for (const [kind, id] of events) if (kind === "call") recordedCallEvents[id] = true;
}

/** @returns {ProgramEvent | undefined} the recorded event that happens next; undefined: the record is used up */
function nextRecordedEvent() {
  return recordedEvents[replayPosition];
}

function takeTurn() {
  nextTurn = null;
  if (programHasEnded) return;
  if (timerHandle !== undefined) realClearTimeout(timerHandle);
  if (graceHandle !== undefined) realClearTimeout(graceHandle);
  timerHandle = graceHandle = undefined;
  sendIssuedCalls();
  if (programOutcome !== null) {
    endWithOutcome();
    return;
  }
  const recorded = nextRecordedEvent();
  if (recorded === undefined ? happenNext() : replayEvent(recorded)) wake();
  else if (!programHasEnded) rest();
}

/**
 * @param {ProgramEvent} event
 * @returns {boolean} whether it happened
 */
function replayEvent([kind, id, time]) {
  if (kind === "call") {
    const call = calls[id];
    if (call?.state === "waiting") return false;
    if (call?.state !== "ready") return diverge(`call ${id} settled`);
    happenedAgain(time);
    settle(call);
    return true;
  }
  const timer = timers.get(id);
  if (timer === undefined) return diverge(`timer ${id} fired`);
  happenedAgain(time);
  fireTimer(timer);
  return true;
}

/** @returns {boolean} whether an event happened */
function happenNext() {
  startLiveClock();
  // A step is alone while it runs: all that happens meanwhile is its own.
  if (activeStep !== null) return false;
  const call = nextReadyCall();
  if (call !== undefined) {
    happened("call", call.seq);
    settle(call);
    return true;
  }
  if (startNextStep()) return true;
  const timer = pendingCount === 0 ? nextTimer() : undefined;
  if (timer === undefined || timer.due > liveTime()) return false;
  happened("timer", timer.id);
  fireTimer(timer);
  return true;
}

/** Nothing is ready: wait for what can come, or end the pass when nothing can. */
function rest() {
  const timersRun = pendingCount === 0 && activeStep === null && nextRecordedEvent() === undefined;
  const timer = timersRun ? nextTimer() : undefined;
  if (timer !== undefined) timerHandle = realSetTimeout(wake, Math.max(1, timer.due - liveTime()));
  if (timer !== undefined || waitingCount > 0) return;
  if (pendingCount > 0 && activeStep === null) {
    endPass("paused");
    return;
  }
  graceHandle = realSetTimeout(giveUp, UNSETTLED_GRACE);
}

function giveUp() {
  if (programHasEnded || nextTurn !== null) return;
  if (activeStep !== null && activeStep.timers.size > 0) {
    graceHandle = realSetTimeout(giveUp, UNSETTLED_GRACE);
    return;
  }
  if (unhandledRejections.size > 0) {
    failProgram([...unhandledRejections.values()][0]);
    return;
  }
  const what = activeStep === null ? "The program" : `The step "${activeStep.call.method}"`;
  failProgram(
    codedError(
      "unsettled",
      `${what} waits for something that will never happen: no call and no timer is under way, and the promise it awaits is never settled.`,
    ),
  );
}

/** @param {number} time of the next recorded event, which happens now */
function happenedAgain(time) {
  advanceClock(time);
  callsAtOnce = 0;
  replayPosition += 1;
  replayedCount += 1;
}

/**
 * @param {"call" | "timer"} kind
 * @param {number} id
 */
function happened(kind, id) {
  advanceClock(liveTime());
  callsAtOnce = 0;
  newEvents.push([kind, id, clockTime]);
}

/** @returns {{replayed: number, events: ProgramEvent[]}} what the kernel has not been told, and now is */
function takeNewEvents() {
  const told = { replayed: replayedCount, events: newEvents };
  replayedCount = 0;
  newEvents = [];
  return told;
}

/**
 * @param {string} event
 * @returns {false}
 */
function diverge(event) {
  endPass("diverged", {
    error: encodeMessage(
      "Error",
      `The program did not do the same as before: the recorded run went on when ${event}, which cannot happen in this run. ` +
        "Something in it changes from run to run; wrap it in codemode.step(name, fn).",
      "divergence",
    ),
  });
  return false;
}
