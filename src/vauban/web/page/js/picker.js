// A choice that folds where there is little room: it shows what is chosen, and opens when it is pressed.

import { choice, el } from "./dom.js";

// Where the start screen has one column, as in style.css: two open lists there would hide the setup far below.
const NARROW = matchMedia("(max-width: 59.99rem)");
NARROW.addEventListener("change", () => {
  for (const each of document.querySelectorAll(".picker")) each.open = !NARROW.matches;
});

/** As `choice` in dom.js. */
export function picker(name, legend, choices, value, onchange, kind) {
  const chosen = el("summary");
  const show = (wanted) => {
    const [, text] = choices.find(([key]) => key === wanted);
    chosen.replaceChildren(el("span", { class: "label" }, legend), text.cloneNode?.(true) ?? text);
  };
  const list = choice(
    name,
    legend,
    choices,
    value,
    (wanted) => {
      show(wanted);
      onchange(wanted);
    },
    kind,
  );
  const box = el("details", { class: "picker", open: !NARROW.matches }, chosen, list);
  // A finger has chosen with one press; whoever goes through the list with arrow keys (a click of no press) has not yet.
  list.addEventListener("click", (event) => {
    if (!NARROW.matches || !event.detail || event.target.type !== "radio") return;
    box.open = false;
    chosen.focus({ preventScroll: true });
    chosen.scrollIntoView({ block: "nearest" });
  });
  show(value);
  return box;
}
