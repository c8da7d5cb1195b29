// The board: a grid of labelled buttons, with the pieces in a layer above so that they can glide.

import { el, svg, use } from "./dom.js";
import { family } from "./family.js";
import { settings, still } from "./settings.js";
import { columnOf, rowOf, square } from "./squares.js";

const DRAG_AFTER = 6; // pixels: less is a click of an unsteady hand
const FALL_MS = 900;
const LONG_PRESS_MS = 550;
const ARCH = "M9 23V13C9 6 15 3 24 3s15 3 15 10v10M24 21V11M18 15.5 24 9.5l6 6"; // a gate, and the way out

export class Board {
  /**
   * @param variant {columns, rows, lakes: [names], gates: {name: side}}: a variant, or as much of one. A gate is a place
   *    beyond the edge that pieces of one side leave by; it is called as a square there would be: a0 lies below a1
   * @param flipped seen from blue's side
   * @param hooks press(square), canDrag(square), dragStart(square), drop(from, to), menu(square), label(square)
   * @param coordinates shown at its edge, if the person wants them
   * @param stepping the arrow keys step through a game: over the board they go only for whoever came to it by keyboard
   */
  constructor(variant, { flipped = false, label = "", hooks = {}, coordinates = true, stepping = false } = {}) {
    this.variant = variant;
    this.family = family(); // a setup that arrives when games of another family are on the screen is drawn as its own
    this.stepping = stepping;
    this.coordinates = coordinates;
    this.flipped = flipped;
    this.hooks = hooks;
    this.cells = new Map();
    this.tokens = new Map();
    this.cursor = null;
    this.grid = el("div", { class: "grid", role: "grid", "aria-label": label });
    this.pieces = el("div", { class: "pieces", "aria-hidden": "true" });
    this.heat = el("div", { class: "pieces", "aria-hidden": "true" });
    this.arrows = svg("svg", { class: "arrows", "aria-hidden": "true" });
    this.files = el("div", { class: "files", "aria-hidden": "true" });
    this.ranks = el("div", { class: "ranks", "aria-hidden": "true" });
    this.element = el(
      "div",
      { class: "board" },
      this.ranks,
      el("div", { class: "ground" }, this.grid, this.pieces, this.heat, this.arrows),
      this.files,
    );
    this.element.style.setProperty("--columns", variant.columns);
    this.element.style.setProperty("--rows", variant.rows);
    this.element.classList.toggle("gated", Boolean(variant.gates));
    this.arrows.setAttribute("viewBox", `0 0 ${variant.columns} ${variant.rows}`);
    this.#layCells();
    this.#listen();
  }

  #layCells() {
    const { columns, rows, gates = {} } = this.variant;
    const lakes = new Set(this.variant.lakes);
    const cellOf = (name, kind, place = {}) => {
      const cell = el("button", { type: "button", class: `cell ${kind}`, tabindex: "-1", "data-at": name });
      this.cells.set(name, cell);
      return el("div", { role: "gridcell", ...place }, cell);
    };
    const gateRow = (y) => {
      const columnsOf = Array.from({ length: columns }, (_, x) => x);
      const held = columnsOf.filter((x) => this.#nameAt(x, y) in gates);
      this.element.style.setProperty(y < 0 ? "--above" : "--beneath", held.length ? "var(--gate)" : 0);
      if (!held.length) return;
      const line = held.map((x) => {
        const name = this.#nameAt(x, y);
        const place = cellOf(name, `gate ${gates[name]}`, { "--x": x });
        place.firstChild.append(
          svg("svg", { viewBox: "0 0 48 24", class: "arch", "aria-hidden": "true" }, svg("path", { d: ARCH })),
        );
        return place;
      });
      this.grid.append(el("div", { class: `gate-row ${y < 0 ? "far" : "near"}`, role: "row" }, line));
    };
    this.cells.clear();
    this.grid.replaceChildren();
    gateRow(-1);
    for (let y = 0; y < rows; y++) {
      const line = el("div", { class: "row", role: "row" });
      for (let x = 0; x < columns; x++) {
        const name = this.#nameAt(x, y);
        const lake = lakes.has(name);
        const place = cellOf(name, lake ? "lake" : "");
        const cell = place.firstChild;
        if ((columnOf(name) + rowOf(name)) % 2) cell.classList.add("dark");
        if (lake)
          cell.append(
            svg("svg", { viewBox: "0 0 48 48", class: "waves", "aria-hidden": "true" }, use("waves", 0, 0, 48)),
          );
        line.append(place);
      }
      this.grid.append(line);
    }
    gateRow(rows);
    const names = (length, name) => Array.from({ length }, (_, i) => el("span", {}, name(i)));
    this.files.replaceChildren(...names(columns, (x) => this.#nameAt(x, 0)[0]));
    this.ranks.replaceChildren(...names(rows, (y) => this.#nameAt(0, y).slice(1)));
    this.setCursor(this.cursor ?? this.#nameAt(Math.floor(columns / 2), rows - 1));
  }

  #nameAt(x, y) {
    const { columns, rows } = this.variant;
    return this.flipped ? square(columns - 1 - x, y) : square(x, rows - 1 - y);
  }

  /** Where a square lies on the screen, in squares from the upper left. */
  spot(name) {
    const { columns, rows } = this.variant;
    return this.flipped ? [columns - 1 - columnOf(name), rowOf(name)] : [columnOf(name), rows - 1 - rowOf(name)];
  }

  flip(flipped = !this.flipped) {
    if (flipped === this.flipped) return;
    const focused = this.grid.contains(document.activeElement);
    this.flipped = flipped;
    this.#layCells();
    for (const [, held] of this.tokens) this.#place(held);
    this.relabel();
    if (focused) this.focus();
  }

  // ── Pieces ────────────────────────────────────────────────────────────────────────────────────

  /** Show these pieces: {id, at, side, type, marks: {moved, known, note}}. Those that stay glide to their squares. */
  setPieces(pieces, { fallen = [] } = {}) {
    const present = new Set(pieces.map((piece) => piece.id));
    for (const [id, held] of this.tokens) {
      if (present.has(id)) continue;
      this.tokens.delete(id);
      const loss = fallen.find((each) => each.id === id);
      this.#remove(held, loss);
    }
    for (const piece of pieces) {
      let held = this.tokens.get(piece.id);
      const face = JSON.stringify([piece.side, piece.type, piece.marks ?? {}, settings.numbering]);
      if (!held) {
        held = { element: el("div", { class: "piece" }), at: piece.at, face: null };
        this.tokens.set(piece.id, held);
        this.pieces.append(held.element);
      }
      if (held.face !== face) {
        held.face = face;
        this.#paint(held.element, piece);
      }
      held.element.classList.toggle("gliding", held.at !== piece.at);
      held.at = piece.at;
      this.#place(held);
    }
    this.element.classList.toggle("plain", !this.coordinates || !settings.coordinates);
    this.relabel();
  }

  /** Let a piece go ahead to where it was sent; the next `setPieces` says where it really stands. */
  lead(from, to) {
    const held = [...this.tokens.values()].find((each) => each.at === from);
    if (!held) return;
    held.at = to;
    held.element.classList.add("gliding");
    this.#place(held);
  }

  #paint(element, { side, type, marks = {} }) {
    element.className = `piece ${side} ${type ?? "hidden"}`;
    element.replaceChildren(this.family.token(side, type));
    if (marks.moved) element.append(el("span", { class: "mark moved" }));
    if (marks.known) element.append(el("span", { class: "mark known" }));
    if (marks.note) element.append(el("span", { class: "mark note" }, marks.note));
  }

  #place({ element, at }) {
    const [x, y] = this.spot(at);
    element.style.setProperty("--x", x);
    element.style.setProperty("--y", y);
  }

  #remove(held, loss) {
    if (!loss || still()) {
      held.element.remove();
      return;
    }
    // The fallen shows its face once more, on the square where it fell.
    this.#paint(held.element, loss);
    held.at = loss.at;
    this.#place(held);
    held.element.classList.add("falling");
    setTimeout(() => held.element.remove(), FALL_MS);
  }

  /** Ask `hooks.label` again for what each square says to a screen reader. */
  relabel() {
    for (const [name, cell] of this.cells) {
      cell.setAttribute("aria-label", this.hooks.label ? this.hooks.label(name) : name);
      cell.classList.toggle("grip", Boolean(this.hooks.canDrag?.(name)));
    }
  }

  // ── Marks and arrows ──────────────────────────────────────────────────────────────────────────

  /** Marks by kind: {selected: [squares], target: […], strike, barred, last, pending, fought}. */
  setMarks(marks) {
    for (const [name, cell] of this.cells) {
      for (const kind of ["selected", "target", "strike", "barred", "last", "pending", "fought"]) {
        cell.classList.toggle(kind, Boolean(marks[kind]?.includes(name)));
      }
      cell.parentElement.setAttribute("aria-selected", String(Boolean(marks.selected?.includes(name))));
    }
    for (const { element, at } of this.tokens.values()) {
      element.classList.toggle("picked", Boolean(marks.selected?.includes(at)));
    }
  }

  /** A heat map: {square: 0…1}, or null for none. The figures lie above the pieces, the colour below them too.
   *  What rounds to nothing has no figure: those would hide the few that say something. */
  setHeat(heat) {
    for (const [name, cell] of this.cells) {
      cell.classList.toggle("hot", heat?.[name] !== undefined);
      cell.style.setProperty("--heat", heat?.[name] ?? 0);
    }
    this.heat.replaceChildren(
      ...Object.entries(heat ?? {})
        .map(([name, value]) => [name, value, Math.round(100 * value)])
        .filter(([, , share]) => share > 0)
        .map(([name, value, share]) => {
          const [x, y] = this.spot(name);
          return el("div", { class: "heat", "--x": x, "--y": y }, el("span", { "--heat": value }, `${share}%`));
        }),
    );
  }

  /** Arrows: [{from, to, weight: 0…1, kind}]. */
  setArrows(arrows) {
    this.arrows.replaceChildren(
      ...arrows.map(({ from, to, weight, kind = "" }) => {
        const [ax, ay] = this.spot(from),
          [bx, by] = this.spot(to);
        const length = Math.hypot(bx - ax, by - ay),
          dx = (bx - ax) / length,
          dy = (by - ay) / length;
        const width = 0.05 + 0.16 * weight,
          head = 0.14 + 1.1 * width;
        const x1 = ax + 0.5 + 0.2 * dx,
          y1 = ay + 0.5 + 0.2 * dy,
          x2 = bx + 0.5 - 0.12 * dx,
          y2 = by + 0.5 - 0.12 * dy;
        const mx = x2 - head * dx,
          my = y2 - head * dy;
        const corner = (x, y) => `${x.toFixed(3)},${y.toFixed(3)}`;
        const side = (x, y, by) => corner(x - dy * by, y + dx * by);
        return svg("polygon", {
          class: `arrow ${kind}`,
          opacity: (0.45 + 0.5 * weight).toFixed(2),
          points: [
            side(x1, y1, width / 2),
            side(mx, my, width / 2),
            side(mx, my, head * 0.62),
            corner(x2, y2),
            side(mx, my, -head * 0.62),
            side(mx, my, -width / 2),
            side(x1, y1, -width / 2),
          ].join(" "),
        });
      }),
    );
  }

  // ── Cursor and focus ──────────────────────────────────────────────────────────────────────────

  /** Where the arrow keys go on from; the focus goes with it if it is there. */
  setCursor(name) {
    const before = this.cells.get(this.cursor),
      now = this.cells.get(name);
    before?.setAttribute("tabindex", "-1");
    this.cursor = name;
    now?.setAttribute("tabindex", "0");
    if (before && before === document.activeElement) now?.focus();
  }

  focus(name = this.cursor) {
    this.setCursor(name);
    this.cells.get(name)?.focus();
  }

  /** Move the cursor on the screen; stays where it is at the edge. */
  step(dx, dy) {
    const [x, y] = this.spot(this.cursor);
    const next = this.#nameAt(x + dx, y + dy);
    return this.focus(this.cells.has(next) ? next : this.cursor);
  }

  // ── Hands ─────────────────────────────────────────────────────────────────────────────────────

  #listen() {
    const at = (event) => event.target.closest?.("[data-at]")?.dataset.at ?? null;
    let held = null,
      swallow = false,
      pressed = false,
      timer = null;
    // What comes of a finger that stays where it is; null: nothing any more.
    const wait = (then) => {
      clearTimeout(timer);
      timer = then && setTimeout(then, LONG_PRESS_MS);
    };
    this.grid.addEventListener("click", (event) => {
      const name = at(event);
      // A drag ends with a click of its own on some browsers, and a long press does too.
      if (swallow || !name) {
        swallow = false;
        return;
      }
      this.setCursor(name);
      this.hooks.press?.(name);
    });
    this.grid.addEventListener("focusin", (event) => {
      if (at(event)) this.setCursor(at(event));
    });
    const menu = (name) => {
      if (!document.querySelector("dialog[open]")) this.hooks.menu(name);
    };
    this.grid.addEventListener("contextmenu", (event) => {
      if (!this.hooks.menu || !at(event)) return;
      event.preventDefault();
      // A long press tells of itself on some browsers: then nothing else comes of the finger that is still down.
      if (timer !== null) {
        wait(null);
        swallow = true;
      }
      menu(at(event));
    });
    this.grid.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey) return;
      if (this.stepping && pressed) return;
      event.preventDefault();
      event.stopPropagation();
      this.step(...steps[event.key]);
    });
    this.grid.addEventListener("focusout", (event) => {
      if (!this.grid.contains(event.relatedTarget)) pressed = false;
    });
    this.grid.addEventListener("pointerdown", (event) => {
      const name = at(event);
      pressed = true;
      swallow = false;
      if (event.button !== 0 || !name) return;
      if (event.pointerType === "touch" && this.hooks.menu && !this.hooks.canDrag?.(name)) {
        wait(() => {
          swallow = true;
          menu(name);
        });
      }
      if (this.hooks.canDrag?.(name))
        held = { name, x: event.clientX, y: event.clientY, id: event.pointerId, token: null };
    });
    this.grid.addEventListener("pointermove", (event) => {
      if (!held || event.pointerId !== held.id) return;
      const dx = event.clientX - held.x,
        dy = event.clientY - held.y;
      if (!held.token) {
        if (Math.hypot(dx, dy) < DRAG_AFTER) return;
        held.token = [...this.tokens.values()].find((each) => each.at === held.name)?.element;
        if (!held.token) {
          held = null;
          return;
        }
        this.grid.setPointerCapture(held.id);
        held.token.classList.add("dragged");
        this.hooks.dragStart?.(held.name);
      }
      held.token.style.setProperty("--dx", `${dx}px`);
      held.token.style.setProperty("--dy", `${dy}px`);
    });
    const release = (event) => {
      wait(null);
      if (!held || event.pointerId !== held.id) return;
      const { token: dragged, name } = held;
      held = null;
      if (!dragged) return;
      dragged.classList.remove("dragged");
      dragged.style.removeProperty("--dx");
      dragged.style.removeProperty("--dy");
      swallow = true;
      setTimeout(() => {
        swallow = false;
      }, 50);
      if (event.type === "pointercancel") return;
      const target = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-at]");
      if (target && this.grid.contains(target) && target.dataset.at !== name)
        this.hooks.drop?.(name, target.dataset.at);
    };
    this.grid.addEventListener("pointerup", release);
    this.grid.addEventListener("pointercancel", release);
  }
}
