// The view of a run card: makes the element tree that the kernel laid out, and sends clicks back.
//
// Owns: finding the places where the card shows, turning a tree into elements, keeping focus, open folds and typed text across
// updates, the buttons' messages.
// Never does: markup (text is set as text, tags and attributes come from the lists below, whatever the kernel says),
// deciding (a click is a request; the kernel checks it), writing traits (only custom messages go back).

/** @typedef {[tag: string, attributes: Record<string, string>, children: Tree[]]} TreeElement */
/** @typedef {string | TreeElement} Tree text or an element */

/**
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(name: string, callback: () => void) => void} on
 * @property {(name: string, callback: () => void) => void} off
 * @property {(content: unknown) => void} send
 */

const TAGS = new Set(
  (
    "bdi button code details div header input label li ol option pre section select span strong summary " +
    "table tbody td textarea th thead tr ul"
  ).split(" "),
);

const ATTRIBUTES = new Set(
  (
    "class title role dir open hidden type name value selected placeholder maxlength scope tabindex autocomplete " +
    "aria-label aria-live aria-hidden aria-disabled aria-expanded aria-invalid " +
    "data-key data-state data-action data-execution data-seq data-digest data-form data-field data-busy"
  ).split(" "),
);

const INPUT_TYPES = new Set(["text", "date", "button"]);
const ACTIONS = new Set("approve approve_all reject run_again happened give_up accept decline cancel stop seen save replace rollback".split(" "));
const NO_ANSWER_AFTER = 8000;

/**
 * One card in the page.
 * @typedef {object} View
 * @property {HTMLElement} el the element that holds it
 * @property {() => void} moved to be called after the element was put into another place
 * @property {() => void} gone to be called when the element has no place any more
 * @property {(isSeen: boolean) => void} tell tell the kernel whether it is in the page, where that changed
 * @property {() => void} cut to be called when the kernel has gone
 * @property {() => void} close
 */

/**
 * @param {Model} model
 * @returns {View}
 */
function makeView(model) {
  const el = document.createElement("div");
  const controller = new AbortController();
  const { signal } = controller;
  /** @type {Tree | null} */
  let shown = null;
  let isSeen = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let unanswered;

  const update = () => {
    clearTimeout(unanswered);
    const tree = /** @type {Tree} */ (model.get("tree"));
    if (!Array.isArray(tree)) return;
    const focus = rememberFocus(el);
    try {
      const first = el.firstChild;
      if (first && shown !== null && isSame(shown, tree)) patch(first, shown, tree);
      else el.replaceChildren(make(tree));
      shown = tree;
    } catch (error) {
      shown = null;
      el.textContent = `This card cannot be shown: ${error instanceof Error ? error.message : error}`;
      return;
    }
    restoreFocus(el, focus);
  };

  /** @param {HTMLElement} control */
  const act = (control) => {
    const action = control.dataset.action ?? "";
    if (action === "toggle") return toggle(control);
    if (!ACTIONS.has(action) || control.getAttribute("aria-disabled") === "true") return;
    const fields = fieldsOf(control);
    const { execution, seq, digest } = control.dataset;
    setBusy(el, control);
    model.send({
      action,
      execution: execution ?? null,
      seq: seq === undefined ? null : Number(seq),
      digest: digest ?? null,
      fields,
    });
    clearTimeout(unanswered);
    unanswered = setTimeout(() => sayNoAnswer(el), NO_ANSWER_AFTER);
  };

  el.addEventListener(
    "click",
    (event) => {
      const control = event.target instanceof Element ? event.target.closest("button[data-action]") : null;
      // The second click of a double click is for the button that was there before, not for the next call's.
      if (control instanceof HTMLElement && el.contains(control) && event.detail < 2) act(control);
    },
    { signal },
  );
  el.addEventListener("keydown", (event) => onKey(event, el, act), { signal });
  model.on("change:tree", update);
  el.dataset.lmSuppressShortcuts = "true"; // the notebook's own keys (d d deletes a cell) do not apply in here
  update();
  return {
    el,
    ...keepFocus(el, signal),
    tell: (isSeenNow) => {
      if (isSeen !== isSeenNow) model.send({ action: isSeenNow ? "shown" : "hidden" });
      isSeen = isSeenNow;
    },
    cut: () => el.classList.add("cm-without-kernel"),
    close: () => {
      controller.abort();
      model.off("change:tree", update);
      clearTimeout(unanswered);
    },
  };
}

/**
 * The model is not displayed by itself: it shows in every element of the page that has the class of its place, whenever one comes.
 * When an output is written anew its element is another one, and the card moves there as it is. Without its kernel the card stays,
 * without buttons.
 * @param {{ model: Model }} host
 * @returns {(() => void) | undefined}
 */
function initialize({ model }) {
  const place = model.get("place");
  if (typeof place !== "string" || !place) return undefined;
  /** @type {Map<Element, View>} */
  const views = new Map();
  const look = () => {
    const left = [...views.keys()].filter((element) => !element.isConnected);
    for (const element of document.getElementsByClassName(place)) {
      if (views.has(element)) continue;
      const before = left.pop();
      const view = (before && views.get(before)) ?? makeView(model);
      if (before) views.delete(before);
      element.replaceChildren(view.el);
      views.set(element, view);
      view.moved();
    }
    for (const [element, view] of views) {
      view.tell(element.isConnected);
      if (!element.isConnected) view.gone();
    }
  };
  const cut = () => {
    for (const view of views.values()) view.cut();
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, { childList: true, subtree: true });
  model.on("comm_live_update", cut); // said by the front end when the kernel restarts
  look();
  return () => {
    observer.disconnect();
    model.off("comm_live_update", cut);
    cut();
    for (const view of views.values()) view.close();
    views.clear();
  };
}

export default { initialize };

// ---- keys

/**
 * Enter in a field presses the button of its form; Escape closes the drawer and goes back to what opened it. No key gets through
 * to the notebook's own shortcuts while somebody types.
 * @param {KeyboardEvent} event
 * @param {HTMLElement} el
 * @param {(control: HTMLElement) => void} act
 */
function onKey(event, el, act) {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return;
  const field = target instanceof HTMLInputElement;
  if (event.key === "Escape") {
    const drawer = target.closest(".cm-drawer");
    const control = drawer?.querySelector("[data-action=toggle][aria-expanded=true]");
    if (control instanceof HTMLElement && el.contains(control)) {
      toggle(control);
      event.preventDefault();
      event.stopPropagation();
    }
    return;
  }
  if (event.repeat && event.key === "Enter") {
    event.preventDefault(); // a key that is held down decides once
  } else if (field && event.key === "Enter" && !event.isComposing) {
    const button = target.closest("[data-form]")?.querySelector("button[data-action]");
    if (button instanceof HTMLElement) act(button);
    event.preventDefault();
  }
  const types = field || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
  if (types || event.key === "Enter" || event.key === " ") event.stopPropagation();
}

/**
 * Open or close the drawer of a button. An opened one takes the focus to its first field or button.
 * @param {HTMLElement} control
 */
function toggle(control) {
  const form = control.parentElement?.querySelector("[data-form]");
  if (!(form instanceof HTMLElement)) return;
  form.hidden = !form.hidden;
  control.setAttribute("aria-expanded", String(!form.hidden));
  const first = form.hidden ? control : form.querySelector("input, button[data-action]");
  if (first instanceof HTMLElement) first.focus();
}

// ---- clicks

/**
 * @param {HTMLElement} control
 * @returns {Record<string, string>}
 */
function fieldsOf(control) {
  /** @type {Record<string, string>} */
  const fields = {};
  for (const field of control.closest("[data-form]")?.querySelectorAll("[data-field]") ?? []) {
    const isControl = field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement;
    if (isControl && field.dataset.field) fields[field.dataset.field] = field.value;
  }
  return fields;
}

/**
 * From a click until the kernel's answer no other click counts; the buttons keep the focus (they are not `disabled`).
 * @param {HTMLElement} el
 * @param {HTMLElement} control
 */
function setBusy(el, control) {
  for (const button of el.querySelectorAll("button[data-action]:not([data-action=toggle])")) button.setAttribute("aria-disabled", "true");
  if (control.dataset.busy) control.textContent = control.dataset.busy;
}

/** @param {HTMLElement} el */
function sayNoAnswer(el) {
  const place = el.querySelector(".cm-notices");
  if (!place) return;
  const notice = document.createElement("div");
  notice.className = "cm-notice";
  notice.textContent = "The kernel has not answered yet. It may be busy, or it was restarted.";
  place.replaceChildren(notice);
}

// ---- elements

/**
 * @param {Tree} tree
 * @returns {Node}
 */
function make(tree) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const [tag, attributes, children] = tree;
  if (!TAGS.has(tag)) throw new Error(`a card has no <${tag}>`);
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(node, name, value);
  for (const child of children) node.append(make(child));
  return node;
}

/**
 * @param {Element} node
 * @param {string} name
 * @param {string} value
 */
function setAttribute(node, name, value) {
  if (!ATTRIBUTES.has(name)) throw new Error(`a card's elements have no attribute ${name}`);
  if (name === "type" && !INPUT_TYPES.has(value)) throw new Error(`a card has no input of type ${value}`);
  node.setAttribute(name, String(value));
}

/**
 * Whether one tree is a later state of the other: the same element at the same place.
 * @param {Tree} a
 * @param {Tree} b
 */
function isSame(a, b) {
  if (typeof a === "string" || typeof b === "string") return typeof a === typeof b;
  return a[0] === b[0] && a[1]["data-key"] === b[1]["data-key"];
}

/**
 * Change a node from one tree to the next. What is equal in both is not touched, so what a person did to it stays.
 * @param {Node} node
 * @param {Tree} before
 * @param {Tree} after
 */
function patch(node, before, after) {
  if (typeof after === "string") {
    if (before !== after || node.textContent !== after) node.textContent = after;
    return;
  }
  if (typeof before === "string" || !(node instanceof Element)) return;
  patchAttributes(node, before[1], after[1]);
  patchChildren(node, before[2], after[2]);
}

/**
 * @param {Element} node
 * @param {Record<string, string>} before
 * @param {Record<string, string>} after
 */
function patchAttributes(node, before, after) {
  for (const name of Object.keys(before)) {
    if (!(name in after)) node.removeAttribute(name);
  }
  for (const [name, value] of Object.entries(after)) {
    if (before[name] !== value) setAttribute(node, name, value);
  }
  // A click marks buttons as busy before the kernel knows; the kernel's word is the last one.
  if (node.tagName === "BUTTON" && !("aria-disabled" in after)) node.removeAttribute("aria-disabled");
}

/**
 * @param {Element} node
 * @param {Tree[]} before
 * @param {Tree[]} after
 */
function patchChildren(node, before, after) {
  const old = Array.from(node.childNodes);
  if (old.length !== before.length) {
    node.replaceChildren(...after.map(make)); // somebody else changed it: ours again
    return;
  }
  /** @type {Map<string, number>} */
  const keyed = new Map();
  before.forEach((tree, index) => {
    const key = keyOf(tree);
    if (key !== undefined) keyed.set(key, index);
  });
  const used = new Set();
  let position = 0;
  const next = after.map((tree) => {
    const key = keyOf(tree);
    let index = key === undefined ? nextUnkeyed(before, position) : (keyed.get(key) ?? -1);
    if (index >= 0 && (used.has(index) || !isSame(/** @type {Tree} */ (before[index]), tree))) index = -1;
    if (index < 0) return make(tree);
    used.add(index);
    if (key === undefined) position = index + 1;
    const child = /** @type {ChildNode} */ (old[index]);
    patch(child, /** @type {Tree} */ (before[index]), tree);
    return child;
  });
  old.forEach((child, index) => {
    if (!used.has(index)) child.remove();
  });
  next.forEach((child, index) => {
    if (node.childNodes[index] !== child) node.insertBefore(child, node.childNodes[index] ?? null);
  });
}

/** @param {Tree} tree */
function keyOf(tree) {
  return typeof tree === "string" ? undefined : tree[1]["data-key"];
}

/**
 * @param {Tree[]} trees
 * @param {number} from
 */
function nextUnkeyed(trees, from) {
  for (let index = from; index < trees.length; index += 1) {
    if (keyOf(/** @type {Tree} */ (trees[index])) === undefined) return index;
  }
  return -1;
}

// ---- focus

/**
 * @param {HTMLElement} el
 * @returns {Element | null}
 */
function rememberFocus(el) {
  const active = el.ownerDocument.activeElement;
  return active && el.contains(active) ? active : null;
}

/**
 * The focus stays where it was; where that is gone it goes to the next decision, else to the status.
 * @param {HTMLElement} el
 * @param {Element | null} before
 */
function restoreFocus(el, before) {
  if (!before || before === el.ownerDocument.activeElement) return;
  const target = el.contains(before)
    ? before
    : (el.querySelector("button.cm-primary[data-action]") ?? el.querySelector(".cm-status"));
  if (target instanceof HTMLElement) target.focus({ preventScroll: true });
}

/**
 * Keep in mind what has the focus, because it is lost when the card moves to another place or leaves. `moved` gives it back; `gone`
 * gives it to what stood around the card (the cell, the notebook), so that the notebook's own keys go on working.
 * @param {HTMLElement} el
 * @param {AbortSignal} signal
 * @returns {{ moved: () => void, gone: () => void }}
 */
function keepFocus(el, signal) {
  /** @type {EventTarget | null} */
  let focused = null;
  /** @type {EventTarget[]} */
  let around = [];
  const leave = () => {
    if (el.isConnected && !rememberFocus(el)) focused = null;
  };
  const isLost = () => focused instanceof HTMLElement && el.ownerDocument.activeElement === el.ownerDocument.body;
  el.addEventListener(
    "focusin",
    (event) => {
      focused = event.target;
      around = event.composedPath();
    },
    { signal },
  );
  el.addEventListener("focusout", () => queueMicrotask(leave), { signal });
  return {
    moved: () => {
      if (isLost() && focused instanceof HTMLElement && el.contains(focused)) focused.focus({ preventScroll: true });
    },
    gone: () => {
      if (!isLost()) return;
      const next = around.find((node) => node instanceof HTMLElement && node.isConnected && node.hasAttribute("tabindex"));
      if (next instanceof HTMLElement) next.focus({ preventScroll: true });
      focused = null;
    },
  };
}
