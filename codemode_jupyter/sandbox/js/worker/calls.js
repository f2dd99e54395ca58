// Calls of a program: numbered in issue order, served from the log where it has them, asked of the kernel where not.
//
// Owns the promise of each call. Never decides anything: an answer from the log is used only when connector, method
// and the text of the arguments are exactly the recorded ones; everything else the kernel judges.

/** Most calls in one pass; the kernel ends a pass that goes on. */
const MAX_CALLS = 20_000;

/** Longest name of a method or step, in characters; the kernel takes no longer one. */
const MAX_NAME_LENGTH = 1_000;

/** Of how many calls that are made at once it is kept where. */
const MAX_ORIGINS = 100;

/**
 * waiting: asked the kernel. ready: has its outcome, not yet delivered. pending: waits for a person.
 * step: to be run here. settled: delivered.
 *
 * @typedef {{
 *   seq: number, connector: string, method: string, arguments: string,
 *   state: "waiting" | "ready" | "pending" | "step" | "settled",
 *   failed: boolean, outcome: string,
 *   resolve: (value: unknown) => void, reject: (error: unknown) => void,
 *   origin: Error | null, run: (() => unknown) | null, token: string, takesText: boolean,
 * }} Call
 */

/** @typedef {[seq: number, connector: string, method: string, args: string, state: string, outcome: string | null]} RecordedCall */

/** By seq. @type {RecordedCall[]} */
const recordedCalls = [];
/** By seq. @type {Call[]} */
const calls = [];
let issuedCount = 0;
/** Issued since the last event: as many in every pass, so that stacks are the same. */
let callsAtOnce = 0;
/** Calls that await the kernel's answer. */
let waitingCount = 0;
/** Calls that wait for a person. */
let pendingCount = 0;
/** Issued and not yet sent. @type {Call[]} */
let issuedCalls = [];
/** Served from the log, without a recorded event: in the order of the log. */
const servedCalls = new Heap(
  /**
   * @param {Call} a
   * @param {Call} b
   */
  (a, b) => a.seq < b.seq,
);
/** Answered by the kernel, in order of arrival. @type {Call[]} */
let arrivedCalls = [];
let arrivedPosition = 0;

/** @param {RecordedCall[]} entries */
function setRecordedCalls(entries) {
  for (const entry of entries) recordedCalls[entry[0]] = entry;
}

/**
 * @param {string} connector
 * @param {string} method
 * @param {() => string} encodeArguments makes the text of the arguments; may refuse by throwing
 * @param {(() => unknown) | null} [run] a step's function
 * @param {boolean} [takesText] whether the promise settles with the tagged text itself
 * @returns {Promise<any>}
 */
function issueCall(connector, method, encodeArguments, run = null, takesText = false) {
  /** @type {(value: unknown) => void} */
  let resolve = () => {};
  /** @type {(error: unknown) => void} */
  let reject = () => {};
  const promise = new Promise((resolvePromise, rejectPromise) => {
    resolve = resolvePromise;
    reject = rejectPromise;
  });
  try {
    if (activeStep !== null) {
      throw codedError(
        "call_in_step",
        `${connector}.${method} was called inside the step "${activeStep.call.method}". A step may not make calls: ` +
          "make them before or after it and hand the values in.",
      );
    }
    // Text first: reading the arguments may run code of the program, which may issue calls of its own.
    const text = encodeArguments();
    if (method.length > MAX_NAME_LENGTH) {
      throw codedError("too_large", `A name has ${grouped(method.length)} characters; it may have ${grouped(MAX_NAME_LENGTH)}.`, RangeError);
    }
    if (issuedCount >= MAX_CALLS) {
      throw codedError("too_many_calls", `The program made ${grouped(MAX_CALLS)} calls, which is the most that one run may make.`);
    }
    const seq = issuedCount;
    issuedCount += 1;
    callsAtOnce += 1;
    /** @type {Call} */
    const call = {
      seq,
      connector,
      method,
      arguments: text,
      state: "waiting",
      failed: false,
      outcome: "",
      resolve,
      reject,
      origin: null,
      run,
      token: "",
      takesText,
    };
    calls[seq] = call;
    if (!serveFromLog(call)) {
      waitingCount += 1;
      issuedCalls.push(call);
    }
    // Where the call was made, for the error it may end with. Finding out takes longer than all else here, so of calls
    // made at once only the first ones have it.
    if (callsAtOnce <= MAX_ORIGINS && (call.state === "waiting" || call.failed)) call.origin = new Error();
    wake();
  } catch (error) {
    reject(error);
  }
  return promise;
}

/**
 * @param {Call} call
 * @returns {boolean} whether the log has this very call with its outcome
 */
function serveFromLog(call) {
  const recorded = recordedCalls[call.seq];
  if (recorded === undefined) return false;
  const [, connector, method, text, state, outcome] = recorded;
  if (state === "open" || outcome === null) return false;
  if (connector !== call.connector || method !== call.method || text !== call.arguments) return false;
  call.state = "ready";
  call.failed = state === "failed";
  call.outcome = outcome;
  if (recordedCallEvents[call.seq] === undefined) servedCalls.push(call);
  return true;
}

/** Ask the kernel for what the program issued since the last turn. */
function sendIssuedCalls() {
  if (issuedCalls.length === 0) return;
  const batch = [];
  for (const { seq, connector, method, arguments: text } of issuedCalls) {
    batch.push(`{"seq":${seq},"connector":${JSON.stringify(connector)},"method":${JSON.stringify(method)},"arguments":${JSON.stringify(text)}}`);
  }
  issuedCalls = [];
  flushConsole();
  const { replayed, events } = takeNewEvents();
  sendText(`{"type":"calls","calls":[${batch.join(",")}],"replayed":${replayed},"events":${JSON.stringify(events)}}`);
}

/**
 * @typedef {{seq: number, state: "applied" | "failed" | "pending" | "run", value?: string, error?: string, token?: string}} Reply
 */

/** @param {Reply[]} replies */
function receiveReplies(replies) {
  for (const reply of replies) {
    const call = calls[reply.seq];
    if (call?.state !== "waiting") continue;
    waitingCount -= 1;
    if (reply.state === "pending") {
      call.state = "pending";
      pendingCount += 1;
      stopClock();
    } else if (reply.state === "run" && call.run !== null) {
      call.state = "step";
      call.token = reply.token ?? "";
      waitingSteps.push(call);
    } else {
      call.state = "ready";
      call.failed = reply.state === "failed";
      call.outcome = (call.failed ? reply.error : reply.value) ?? UNDEFINED_TEXT;
      if (recordedCallEvents[call.seq] === undefined) arrivedCalls.push(call);
    }
  }
  turnNow();
}

/** @returns {Call | undefined} the call whose promise settles next */
function nextReadyCall() {
  const served = servedCalls.pop();
  if (served !== undefined) return served;
  if (arrivedPosition === arrivedCalls.length) {
    arrivedCalls = [];
    arrivedPosition = 0;
    return undefined;
  }
  arrivedPosition += 1;
  return arrivedCalls[arrivedPosition - 1];
}

/**
 * Settle a call's promise; the program goes on in the microtasks that follow.
 *
 * @param {Call} call
 */
function settle(call) {
  call.state = "settled";
  const value = call.takesText ? call.outcome : decodeValue(call.outcome);
  if (call.failed) call.reject(call.takesText ? value : withOrigin(value, call.origin));
  else call.resolve(value);
  call.outcome = "";
  call.arguments = "";
}

/**
 * @param {unknown} error
 * @param {Error | null} origin made where the program made the call
 * @returns {Error} an Error whose stack is that place
 */
function withOrigin(error, origin) {
  const result = isError(error) ? error : new Error(describeThrown(error));
  const stack = origin === null ? "" : readText(origin, "stack", "");
  const frames = stack.slice(Math.max(0, stack.indexOf("\n")));
  defineHidden(result, "stack", `${describeThrown(result)}${frames}`);
  return result;
}
