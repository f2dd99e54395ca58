// codemode.step(name, fn): fn runs here, once, and its value is what the program sees in every pass.
//
// A step runs alone: no event happens until it is over, so whatever runs meanwhile belongs to it. It draws random
// numbers of its own and sees time pass, since a replay does not run it and nothing of it may be counted. Its result
// goes to the kernel with the token that the kernel gave for it, which no program ever sees.

/** @typedef {{call: Call, random: RandomStream, timers: Map<number, number>, lastTimerId: number}} Step */

/** @type {Step | null} */
let activeStep = null;
/** @type {Call[]} */
const waitingSteps = [];

/**
 * @param {unknown} name
 * @param {unknown} run
 * @returns {Promise<unknown>}
 */
function issueStep(name, run) {
  return issueCall(
    "__step",
    `${name}`,
    () => {
      if (typeof name !== "string" || name === "" || typeof run !== "function") {
        throw codedError("invalid_arguments", "codemode.step takes a name (text) and a function: codemode.step(name, fn)", TypeError);
      }
      return "{}";
    },
    /** @type {() => unknown} */ (run),
  );
}

/** @returns {boolean} whether a step began */
function startNextStep() {
  const call = waitingSteps.shift();
  if (call === undefined) return false;
  const step = { call, random: stepRandom(call.seq), timers: new Map(), lastTimerId: 0 };
  activeStep = step;
  const { run } = call;
  const result = (async () => run?.())();
  result.then(
    (value) => {
      try {
        finishStep(step, "value", encodeValue(value, `The result of the step "${call.method}"`));
      } catch (error) {
        finishStep(step, "error", encodeStepError(error));
      }
    },
    (error) => finishStep(step, "error", encodeStepError(error)),
  );
  return true;
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function encodeStepError(error) {
  const told = TaggedFailure.fieldsOf(error);
  if (told !== null) return told.error;
  try {
    if (isError(error)) return encodeValue(error, "The error of a step", "lenient");
  } catch {
    return encodeMessage("Error", describeThrown(error).slice(0, 10_000));
  }
  return encodeMessage("Error", describeNonError(error));
}

/**
 * @param {Step} step
 * @param {"value" | "error"} kind
 * @param {string} text
 */
function finishStep(step, kind, text) {
  if (programHasEnded) return;
  for (const handle of step.timers.values()) realClearTimeout(handle);
  activeStep = null;
  const { call } = step;
  call.state = "waiting";
  waitingCount += 1;
  flushConsole();
  sendText(`{"type":"step","seq":${call.seq},"token":${JSON.stringify(call.token)},"${kind}":${JSON.stringify(text)}}`);
  wake();
}
