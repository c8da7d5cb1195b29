// A player's hand: the piece that is picked up, where it is to go, and a move that waits.

import { say } from "./dom.js";
import { settings } from "./settings.js";
import { pieceWords } from "./speech.js";
import { t } from "./strings.js";
import { TypeName, why } from "./words.js";

export class Hand {
  /** @param hooks table(); alone: nobody else plays on this device;
   *    show(): what is picked up has changed; ask(): a question stands beside the board; explain(told);
   *    play(from, to, move); why(from, to): ask the server why not */
  constructor(hooks, alone) {
    this.hooks = hooks;
    this.alone = alone;
    this.selected = null;
    this.pending = null; // a move that waits for its confirmation
    this.prepared = null; // a move that waits for one's turn
  }

  get table() {
    return this.hooks.table();
  }

  /** The move that waits for something. */
  get planned() {
    return this.pending ?? this.prepared;
  }

  /** Whether a piece can be picked up: to move it, or to prepare its move while the other side is on turn. */
  mine(at) {
    const { sight, myTurn } = this.table;
    const free = myTurn || (sight.phase === "play" && this.alone);
    return free && this.table.piece(at)?.side === sight.seat;
  }

  canDrag(at) {
    return this.mine(at) && !this.planned;
  }

  /** Where a piece may be sent: where it may go now, or where it might when its turn comes. */
  targets(from) {
    return Object.keys(this.table.sight.reach[from] ?? {});
  }

  /** The move from square to square as text; null if it cannot be played now. */
  #legal(from, to) {
    const { legal, reach } = this.table.sight;
    const move = reach[from]?.[to];
    return legal.includes(move) ? move : null;
  }

  barred(from) {
    return (this.table.sight.barred ?? []).filter((each) => each.from === from);
  }

  /** A square is pressed; false if that has nothing to do with moving. */
  press(at) {
    if (this.pending) {
      if (at === this.pending.to) this.#play(this.pending.from, at);
      else this.cancel();
    } else if (this.prepared) {
      this.cancel();
    } else if (this.selected) {
      if (at === this.selected) this.cancel();
      else if (this.mine(at) && !this.targets(this.selected).includes(at)) this.select(at);
      else this.#aim(at);
    } else if (this.mine(at)) {
      this.select(at);
    } else {
      return false;
    }
    return true;
  }

  select(at) {
    const { sight } = this.table;
    const piece = this.table.piece(at);
    const targets = this.targets(at);
    if (!targets.length && !this.barred(at).length) {
      this.cancel();
      const reason = at in sight.reach ? "cannot_move" : "never_moves";
      this.hooks.explain({ text: t(reason, { type: TypeName(piece.type), kind: piece.type, at }) });
      return;
    }
    this.selected = at;
    this.hooks.show();
    say(
      targets.length
        ? t("picked.targets", { piece: pieceWords(piece, sight.seat), targets: targets.join(", ") })
        : why(this.barred(at)[0]),
    );
  }

  /** A piece is dragged somewhere. */
  drop(from, to) {
    this.selected = from;
    this.#aim(to);
  }

  /** A move is typed; false if nobody here can make one now. */
  type(from, to) {
    const mine = this.mine(from);
    if (!this.table.myTurn && !mine) return false;
    this.clear();
    if (mine) this.drop(from, to);
    else this.hooks.why(from, to);
    return true;
  }

  cancel() {
    if (this.selected || this.planned) say(t("cancelled"));
    this.clear();
    this.hooks.show();
  }

  clear() {
    this.selected = this.pending = this.prepared = null;
  }

  /** The game has gone on (or back): whoever has picked up a piece while the other side was on turn goes on with it. */
  settle(goesOn) {
    this.pending = null;
    if (!goesOn || !this.mine(this.selected) || !this.targets(this.selected).length) this.selected = null;
    if (!goesOn) this.prepared = null;
  }

  /** The turn has come for which a move was prepared. */
  playPrepared() {
    const { from, to } = this.prepared;
    this.prepared = null;
    if (this.#legal(from, to)) {
      this.drop(from, to);
    } else {
      const dropped = t("prepared.dropped", { from, to });
      const barred = this.barred(from).find((each) => each.to === to);
      this.hooks.show();
      this.hooks.explain(barred ? { ...barred, text: `${dropped} ${why(barred)}` } : { text: dropped });
    }
  }

  confirm() {
    this.#play(this.pending.from, this.pending.to);
  }

  /** The chosen piece is to go there: play it, ask again, keep it for one's turn, or say why not. */
  #aim(to) {
    const from = this.selected;
    if (!this.table.myTurn) {
      this.#prepare(from, to);
    } else if (!this.#legal(from, to)) {
      const barred = this.barred(from).find((each) => each.to === to);
      if (barred) this.hooks.explain(barred);
      else this.hooks.why(from, to);
    } else if (settings.confirm) {
      this.pending = { from, to };
      this.hooks.show();
      say(t("confirm.move", { from, to }));
      this.hooks.ask();
    } else {
      this.#play(from, to);
    }
  }

  #play(from, to) {
    this.selected = this.pending = null;
    this.hooks.play(from, to, this.#legal(from, to));
    this.hooks.show();
  }

  #prepare(from, to) {
    if (!this.mine(from) || !this.targets(from).includes(to)) {
      this.cancel();
      return;
    }
    this.selected = null;
    this.prepared = { from, to };
    this.hooks.show();
    say(t("prepared", this.prepared));
  }
}
