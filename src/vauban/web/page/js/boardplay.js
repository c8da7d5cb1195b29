// A game in progress on a board of squares: the pieces, the hand that moves them, notes, looking at earlier positions.
// What may be played and what a piece reaches, the server says; what the pieces are, the family (games/<family>.js).

import { Board } from "./board.js";
import { button, el, say, toast } from "./dom.js";
import { family, ownScreen } from "./family.js";
import { Hand } from "./hand.js";
import { listen } from "./keyboard.js";
import { Notes, pieceSheet } from "./notes.js";
import { change, settings } from "./settings.js";
import { SIDES } from "./sides.js";
import { moveSound, play as sound } from "./sounds.js";
import { commandWords, moveWords, squareWords } from "./speech.js";
import { rowOf } from "./squares.js";
import { t } from "./strings.js";
import { why } from "./words.js";

export class BoardPlay {
  /** @param screen what it is a part of: table, variant, hotseat, id, status (the place beside the board), clockWords(),
   *    send(message), render(), renderStatus(), later(cleanup) */
  constructor(screen) {
    this.screen = screen;
    this.looking = null; // the ply of the earlier position that is looked at
    this.reason = null; // why a move was refused
    this.notes = new Notes(screen.id);
    const { sight, variant } = screen;
    const hooks = {
      table: () => this.table,
      show: () => this.#showHand(),
      ask: () => screen.status.scrollIntoView({ block: "nearest" }),
      explain: (told) => this.explain(told),
      play: (from, to, move) => {
        if (screen.send({ do: "move", move })) this.board.lead(from, to);
      },
      why: (from, to) => screen.send({ do: "explain", move: from + to }),
    };
    this.hand = new Hand(hooks, !screen.hotseat);
    this.board = new Board(variant, {
      flipped: this.#turned(),
      label: t("board.label", { variant: variant.title }),
      hooks: {
        press: (at) => this.#press(at),
        canDrag: (at) => this.looking === null && this.hand.canDrag(at),
        dragStart: (at) => this.hand.select(at),
        drop: (from, to) => this.hand.drop(from, to),
        menu: (at) => this.#note(at),
        label: (at) => this.#label(at),
      },
    });
    this.typed = el("output", { class: "typed", "aria-label": t("typed") });
    this.element = el("div", { class: "board-place" }, this.board.element, this.typed);
    const stopKeys = listen(variant.columns, {
      move: (from, to) => this.#type(from, to),
      command: (letter) => this.#command(letter),
      cancel: () => this.#cancel(),
      typed: (text) => {
        this.typed.textContent = text;
      },
    });
    const arrows = (event) => {
      if (!event.key.startsWith("Arrow") || event.target.closest("input, textarea, select, dialog, .moves, .grid"))
        return;
      event.preventDefault();
      this.board.focus();
    };
    document.addEventListener("keydown", arrows);
    this.close = () => {
      stopKeys();
      document.removeEventListener("keydown", arrows);
    };
    if (matchMedia("(pointer: coarse)").matches && settings.confirm === null && sight.seat !== "watch") {
      change("confirm", false);
      const yes = [t("confirm.yes"), () => change("confirm", true)];
      screen.later(toast(t("confirm.offer"), { actions: [yes], seconds: 12 }));
    }
  }

  /** What it is in the document by now. */
  begun() {
    this.board.focus(firstMover(this.sight) ?? this.board.cursor);
  }

  get table() {
    return this.screen.table;
  }

  get sight() {
    return this.table.sight;
  }

  /** The side that is at the bottom. */
  get below() {
    return this.board.flipped ? "blue" : "red";
  }

  /** What the board may remember: at a table without aids, nothing. */
  get memory() {
    return this.sight.aids ? settings.memory : "tournament";
  }

  /** Whether the board is seen from blue's side. */
  #turned() {
    return this.screen.sight.seat === "blue" && settings.below;
  }

  /** A setting has changed. */
  changed(name) {
    if (name === "below") this.board.flip(this.#turned());
  }

  flip() {
    this.board.flip();
    this.screen.render();
  }

  focus() {
    this.board.focus();
  }

  /** A message was refused. */
  refused() {
    this.hand.pending = null;
  }

  /** Play what was prepared, if the turn for it has come. */
  goOn() {
    if (this.hand.prepared && this.table.myTurn) this.hand.playPrepared();
  }

  // ── Showing it ────────────────────────────────────────────────────────────────────────────────

  /** @param shown the sight that was on the screen before */
  show(shown) {
    const { sight } = this;
    if (sight.ply !== shown?.ply || sight.phase !== shown?.phase) {
      this.reason = null;
      this.hand.settle(sight.phase === "play" && sight.ply > shown?.ply);
      if (this.looking !== null && sight.phase === "play" && this.table.myTurn) this.looking = null;
    }
    this.#pieces(shown);
    this.#marks();
  }

  #pieces(shown) {
    const { sight } = this;
    if (this.looking !== null) {
      const board = (this.table.history()[this.looking] ?? []).map((piece) => this.#seen(piece));
      this.board.setPieces(board.map((piece) => ({ ...piece, marks: this.#badges({ ...piece, from: piece.id }) })));
      return;
    }
    const step = shown && sight.ply === shown.ply + 1 ? sight.last : null;
    const before = step ? shown.pieces.map((piece) => ({ ...piece, id: piece.from })) : [];
    this.board.setPieces(
      sight.pieces
        .map((piece) => this.#seen(piece))
        .map((piece) => ({
          id: piece.from,
          at: piece.at,
          side: piece.side,
          type: piece.type,
          marks: this.#badges(piece),
        })),
      { fallen: family().fallen(before, step) },
    );
  }

  /** A piece without what whoever sits here is to remember unaided. */
  #seen(piece) {
    const { sight, memory } = this;
    if (sight.phase === "over" || sight.seat === "watch") return piece;
    const own = piece.side === sight.seat;
    // In an earlier position nothing of the enemy's is the last thing shown.
    const shown =
      this.looking === null ? family().remembered(piece, sight, memory) : memory === "tournament" ? null : piece.type;
    return {
      ...piece,
      type: own ? piece.type : shown,
      moved: piece.moved && (own || memory === "moved"),
      revealed: piece.revealed && memory !== "tournament",
    };
  }

  /** The marks on a piece (`#seen`). */
  #badges(piece) {
    const { sight } = this;
    const enemy = SIDES.includes(sight.seat) && piece.side !== sight.seat;
    return {
      moved: enemy && piece.moved && !piece.revealed && sight.phase !== "over",
      known: !enemy && piece.revealed && sight.phase === "play" && sight.seat !== "watch",
      note: enemy && sight.phase !== "over" ? this.notes.short(piece.from) : null,
    };
  }

  /** What is picked up, or where it is to go, has changed. */
  #showHand() {
    this.reason = null;
    this.#marks();
    this.screen.renderStatus();
  }

  #marks() {
    const { sight, hand } = this;
    const { planned } = hand;
    const selected = planned?.from ?? hand.selected;
    const last = this.looking === null ? sight.last : this.table.moves[this.looking - 1];
    const targets = selected && !planned ? hand.targets(selected) : [];
    const held = (at) => Boolean(this.table.piece(at));
    this.board.setMarks({
      selected: selected ? [selected] : [],
      target: targets.filter((at) => !held(at)),
      strike: targets.filter(held),
      barred: selected && !planned ? hand.barred(selected).map((each) => each.to) : [],
      last: last ? [last.from, last.to] : [],
      fought: last && family().deed(last) ? [last.to] : [],
      pending: planned ? [planned.to] : [],
    });
    this.board.relabel();
    this.board.setArrows(planned ? [{ ...planned, weight: 0.6, kind: "own" }] : []);
    this.board.element.classList.toggle("past", this.looking !== null);
  }

  // ── Beside the board ──────────────────────────────────────────────────────────────────────────

  /** What is looked at, and what is asked; before anything else. */
  questions() {
    const box = (text, ...buttons) =>
      el("div", { class: "confirm" }, el("p", {}, text), el("div", { class: "line" }, ...buttons));
    const { pending, prepared } = this.hand;
    return [
      this.looking !== null &&
        el(
          "div",
          { class: "look" },
          el("p", {}, t("look.at", { ply: this.looking })),
          button(t("look.back"), () => this.look(null), { class: "primary small" }),
        ),
      pending &&
        box(
          t("confirm.move", pending),
          button(t("cancel"), () => this.#cancel(), { class: "large" }),
          button(t("confirm.play"), () => this.hand.confirm(), { class: "primary large" }),
        ),
      prepared && box(t("prepared", prepared), button(t("cancel"), () => this.#cancel())),
      this.reason && this.#reasonBox(),
    ];
  }

  /** The last fights: one's own stays beside the answer, which may come within half a second. */
  news() {
    return this.table
      .since(this.sight.ply - 2)
      .map((move) => family().battleCard(move))
      .filter(Boolean);
  }

  /** What is counted towards the end. */
  counts() {
    const { sight } = this;
    return [
      ...family().warnings(sight).map((warning) => el("p", { class: "warning" }, warning)),
      sight.phase === "play" && family().counter(sight),
    ];
  }

  /** What is said to whoever makes the first move. */
  get hint() {
    return t("turn.first");
  }

  /** Moves for the ear, with what there is to know after them. */
  words(moves) {
    return moves.map((move) => moveWords(move, this.sight.seat));
  }

  warnings() {
    return family().warnings(this.sight);
  }

  sound() {
    sound(moveSound(this.sight.last, this.sight.seat));
  }

  // ── Playing ───────────────────────────────────────────────────────────────────────────────────

  #press(at) {
    const piece = this.table.piece(at);
    if (this.looking !== null) {
      this.look(null);
    } else if (!this.hand.press(at)) {
      if (piece && piece.side !== this.sight.seat) this.#note(at);
      else if (piece && this.sight.phase === "play") say(t("turn.wait"));
    }
  }

  #cancel() {
    if (this.looking !== null) this.look(null);
    this.hand.cancel();
  }

  #type(from, to) {
    if (this.looking !== null) this.look(null);
    this.board.setCursor(this.board.cells.has(to) ? to : this.board.cursor);
    if (!this.hand.type(from, to)) say(t("turn.wait"), { urgent: true });
  }

  /** @param told a text of the page's own, or what the server says against a move */
  explain(told) {
    const { text = why(told), ply = null, rule = null } = told;
    this.reason = { text, ply, rule };
    this.screen.renderStatus();
    say(text, { urgent: true });
    this.screen.status.scrollIntoView({ block: "nearest" });
  }

  #reasonBox() {
    const { text, ply, rule } = this.reason;
    return el(
      "div",
      { class: "reason-box" },
      el("p", {}, text),
      el(
        "div",
        { class: "line" },
        ply !== null && button(t("look.show", { ply }), () => this.look(ply), { class: "small" }),
        rule && el("a", { href: ownScreen("rules", rule), target: "_blank" }, t("rule.link")),
        button(
          t("ok"),
          () => {
            this.reason = null;
            this.screen.renderStatus();
          },
          { class: "small" },
        ),
      ),
    );
  }

  /** Look at an earlier position, if the family can tell it; null is the present one. */
  look(ply) {
    if (ply !== null && !this.table.history()[ply]) return;
    this.looking = ply;
    this.hand.selected = this.hand.pending = null;
    if (ply !== null) say(t("look.at", { ply }));
    this.screen.render();
  }

  async #note(at) {
    const piece = this.table.piece(at);
    const { sight } = this;
    if (
      !piece ||
      piece.side === sight.seat ||
      sight.seat === "watch" ||
      sight.phase !== "play" ||
      this.looking !== null
    )
      return;
    if (!sight.aids) {
      this.explain({ text: t("aids.off") });
      return;
    }
    const seen = this.#seen(piece);
    const known = [
      squareWords(at, { piece: seen, seat: sight.seat }),
      seen.moved && seen.type === null && t("note.moved"),
    ].filter(Boolean);
    if (
      await pieceSheet({
        piece: seen,
        known: `${known.join(". ")}.`,
        left: sight.left?.[piece.side],
        notes: this.notes,
      })
    ) {
      this.screen.render();
    }
    if (this.element.isConnected) this.board.focus(at);
  }

  // ── For the ear ───────────────────────────────────────────────────────────────────────────────

  #label(at) {
    const { sight } = this;
    const { selected } = this.hand;
    const past = this.looking !== null && this.table.history()[this.looking]?.find((piece) => piece.at === at);
    const found = this.looking !== null ? past : this.table.piece(at);
    const piece = found && this.#seen(found);
    const extra = [
      piece && piece.side !== sight.seat && this.notes.spoken(found.from ?? found.id),
      at === selected && t("picked"),
      selected && this.hand.targets(selected).includes(at) && t("target"),
      selected && this.hand.barred(selected).some((each) => each.to === at) && t("barred"),
    ];
    const { lakes, gates } = this.screen.variant;
    return squareWords(at, { piece, lake: lakes?.includes(at), gate: gates?.[at], seat: sight.seat, extra });
  }

  #command(letter) {
    if (!settings.commands) return false;
    const { sight } = this;
    if (letter === "n") {
      this.#note(this.board.cursor);
      return true;
    }
    const pieces = sight.pieces.map((piece) => this.#seen(piece));
    const words =
      letter === "c"
        ? this.screen.clock.words()
        : commandWords(letter, { sight, pieces, row: rowOf(this.board.cursor), variant: this.screen.variant });
    if (words === null) return false;
    this.screen.later(toast(words));
    return true;
  }
}

/** The first square from which something can be moved now; null if nothing can. */
function firstMover({ legal, reach }) {
  const movers = legal.length ? Object.keys(reach) : [];
  return movers.find((at) => Object.keys(reach[at]).length) ?? null;
}
