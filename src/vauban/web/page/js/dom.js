// Making elements. Styles go through CSSOM and never through attributes: the content security policy forbids those.

import { t } from "./strings.js";
import { settle } from "./toasts.js";

const SVG = "http://www.w3.org/2000/svg";

/** An element: `el("button", {class: "big", onclick: f, "aria-label": "x"}, child, …)`. */
export function el(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** The same for SVG. */
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (name in PROPERTIES) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// These differ as attributes: a value typed in later, a checked state, an indeterminate bar.
const PROPERTIES = { value: 0, checked: 0, disabled: 0, hidden: 0, selected: 0, open: 0 };

/** A drawing out of pieces.svg. */
export function drawing(name, kind = "drawing") {
  return svg("svg", { class: kind, viewBox: "0 0 24 24", "aria-hidden": "true" }, use(name, 0, 0, 24));
}

export function use(name, x, y, size, kind = null) {
  return svg("use", { href: `#${name}`, x, y, width: size, height: size, class: kind });
}

/** Take all drawings into the document: of another file they would be asked for again, even when the server is gone. */
export async function loadDrawings() {
  const text = await (await fetch("/static/pieces.svg")).text();
  const sheet = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  sheet.setAttribute("class", "drawings");
  sheet.setAttribute("aria-hidden", "true");
  document.body.prepend(document.adoptNode(sheet));
}

/** A page that only says something, with a way out: a link or a button. */
export function notice(title, text, way) {
  return el("section", { class: "page" }, el("h1", {}, title), el("p", {}, text), way);
}

/** A link that looks like the button to press next. */
export function way(text, href) {
  return el("a", { class: "button primary", href }, text);
}

/** A button with a text. */
export function button(text, onclick, properties = {}) {
  return el("button", { type: "button", onclick, ...properties }, text);
}

/** Show on a button that what it was pressed for is under way, at once and for the ear; returns what ends that. */
export function busy(pressed, words) {
  const faces = [...pressed.childNodes];
  pressed.disabled = true;
  pressed.setAttribute("aria-busy", "true");
  pressed.replaceChildren(el("span", { class: "dots" }, words));
  say(words);
  return () => {
    pressed.disabled = false;
    pressed.removeAttribute("aria-busy");
    pressed.replaceChildren(...faces);
  };
}

/** Radio buttons that look like one switch: `choices` are [value, text] or [value, text, explanation]. */
export function choice(name, legend, choices, value, onchange, kind = "segments") {
  return el(
    "fieldset",
    { class: kind },
    el("legend", {}, legend),
    el(
      "div",
      { class: "options" },
      choices.map(([key, text, more]) =>
        el(
          "label",
          { class: "option" },
          el("input", { type: "radio", name, value: key, checked: key === value, onchange: () => onchange(key) }),
          el("span", { class: "face" }, el("span", { class: "word" }, text), more && el("small", {}, more)),
        ),
      ),
    ),
  );
}

/** Replace what is in a place. What had the focus has it again; false if it had, and is gone. */
export function refill(place, ...children) {
  const held = place.contains(document.activeElement) ? nameOf(document.activeElement) : null;
  place.replaceChildren(...children);
  if (held === null) return true;
  const again = [...place.querySelectorAll("a, button, input, select")].find(
    (each) => !each.disabled && nameOf(each) === held,
  );
  again?.focus();
  return Boolean(again);
}

// What is the same button under another word says so.
const nameOf = (each) =>
  each.dataset.same ??
  [each.tagName, each.type, each.name, each.value, each.getAttribute("aria-label"), each.textContent].join(" ");

/** A modal dialog. `build(close)` gives its content; resolves with what `close` was called with (null if dismissed). */
export function dialog(title, build, kind = "") {
  return new Promise((resolve) => {
    let answer = null;
    const heading = el("h2", { id: "dialog-title" }, title);
    const box = el("dialog", { class: `dialog ${kind}`, "aria-labelledby": "dialog-title" });
    const close = (value = null) => {
      answer = value;
      box.close();
    };
    box.append(heading, ...[build(close)].flat().filter(Boolean));
    box.addEventListener("close", () => {
      box.remove();
      resolve(answer);
    });
    // Beside it, pressed and let go: a finger that has opened it by a long press is let go over it.
    let beside = false;
    box.addEventListener("pointerdown", (event) => {
      beside = event.target === box;
    });
    box.addEventListener("click", (event) => {
      if (event.target === box && beside) close();
    });
    document.body.append(box);
    box.showModal();
  });
}

/** A question with two answers; resolves to true or false. */
export async function ask(title, text, yes, no, kind = "") {
  return Boolean(
    await dialog(title, (close) => [
      text && el("p", {}, text),
      el(
        "div",
        { class: "answers" },
        button(no, () => close(false), { autofocus: true }),
        button(yes, () => close(true), { class: `primary ${kind}` }),
      ),
    ]),
  );
}

/** Say something through the screen reader; `urgent` interrupts. What `stays` is left beside the next that does: a fight
 *  and the answer to it may come within half a second, and readers drop what is gone before they come to it. */
export function say(text, { urgent = false, stays = false } = {}) {
  const region = document.getElementById(urgent ? "alert" : "live");
  const staying = [...region.children].filter((each) => "stays" in each.dataset).slice(stays ? -1 : 0);
  for (const each of [...region.children]) if (!staying.includes(each)) each.remove();
  region.append(el("p", { "data-stays": stays }, text));
}

/** Take back all that was said: nobody who comes now is to hear of it. */
export function hush() {
  for (const region of ["live", "alert"]) document.getElementById(region).replaceChildren();
}

/** A passing message, perhaps with things to press; it is said as well. */
export function toast(text, { actions = [], seconds = 6, urgent = false } = {}) {
  say(text, { urgent });
  const box = el("div", { class: "toast" }, el("p", {}, text));
  const remove = () => box.remove();
  for (const [word, action] of actions)
    box.append(
      button(
        word,
        () => {
          remove();
          action();
        },
        { class: "small" },
      ),
    );
  box.append(button("×", remove, { class: "close", "aria-label": t("close") }));
  const place = document.getElementById("toasts");
  while (place.children.length > 1) place.firstChild.remove();
  place.append(box);
  settle();
  setTimeout(remove, 1000 * (actions.length ? 2 * seconds : seconds));
  return remove;
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages served over plain http to another host have no clipboard: the old way still works there.
    const area = el("textarea", { class: "unseen" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export function download(name, text, type = "text/plain") {
  const url = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
