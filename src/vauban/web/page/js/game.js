// A game in progress: the seat (or both, on one device), the board, and everything around it.

import { fillActions, offerBox, rematch } from "./actions.js";
import { Board } from "./board.js";
import { battleCard, counter, fillCard } from "./cards.js";
import { Clock, ThinkingTime } from "./clock.js";
import { button, copyText, el, notice, say, toast, way } from "./dom.js";
import { endDialog, endWords, promiseLines, rememberPromises, verdict, verified } from "./ending.js";
import { countResult } from "./games.js";
import { Hand } from "./hand.js";
import { listen } from "./keyboard.js";
import { MoveList } from "./movelist.js";
import { Notes, pieceSheet } from "./notes.js";
import { other, SIDES } from "./pieces.js";
import { Seat } from "./protocol.js";
import {
  addressOf,
  change,
  forgetKey,
  game as kept,
  keep,
  keepGame,
  keepKey,
  keyOf,
  onChange,
  recall,
  reviewOf,
  settings,
} from "./settings.js";
import { moveSound, play as sound } from "./sounds.js";
import { commandWords, moveWords, squareWords } from "./speech.js";
import { rowOf } from "./squares.js";
import { fallen, remembered, Table } from "./state.js";
import { t } from "./strings.js";
import { handOver, waitingRoom } from "./waiting.js";
import { answer, refusal, warnings, why } from "./words.js";

/** @param secret of the seat, in the address of a link alone: it is kept, and taken out of the address at once */
export function show(main, [id, seat, secret], offered) {
  if (secret !== undefined) {
    keepKey(id, seat, secret);
    history.replaceState(null, "", addressOf(id, seat));
  }
  if (keyOf(id, seat) === null) {
    main.append(notice(t("gone.title"), t("gone.no_key"), way(t("home"), "#/")));
    return null;
  }
  const screen = new GameScreen(main, id, seat, offered);
  return () => screen.close();
}

class GameScreen {
  constructor(main, id, seat, offered) {
    this.main = main;
    this.id = id;
    this.offered = offered;
    const own = { [seat]: keyOf(id, seat) };
    this.entry = kept(id) ?? { seats: own };
    this.hotseat = Object.keys(this.entry.seats).length > 1;
    this.seat = seat;
    this.covered = this.hotseat;
    this.notes = new Notes(id);
    this.tables = {};
    this.seats = {};
    const hooks = {
      table: () => this.table,
      variant: () => this.variant,
      show: () => this.#showHand(),
      ask: () => this.status.scrollIntoView({ block: "nearest" }),
      explain: (told) => this.#explain(told),
      play: (from, to) => this.#play(from, to),
      why: (from, to) => this.#send({ do: "explain", from, to }),
    };
    this.hand = new Hand(hooks, !this.hotseat);
    this.looking = null;
    this.reason = null;
    this.shown = null;
    this.cleanups = [
      onChange((name) => {
        if (name === "below") this.board?.flip(this.#turned());
        this.#render();
      }),
    ];
    for (const [name, key] of Object.entries(this.hotseat ? this.entry.seats : own)) this.#sit(name, key);
    main.append(el("p", { class: "page quiet" }, t("connecting")));
  }

  close() {
    this.closed = true;
    for (const each of Object.values(this.seats)) each.close();
    for (const cleanup of this.cleanups) cleanup();
    this.unbuild?.();
  }

  get table() {
    return this.tables[this.seat];
  }

  get sight() {
    return this.table.sight;
  }

  /** What the board may remember: at a table without aids, nothing. */
  get memory() {
    return this.sight.aids ? settings.memory : "tournament";
  }

  #sit(name, secret) {
    const table = (this.tables[name] = new Table());
    this.seats[name] = new Seat(
      { game: this.id, seat: name, secret, eyes: name === "watch" ? recall("eyes", null) : null },
      {
        have: () => table.known(),
        state: (state) => this.#connection(state),
        message: (told) => this.#hear(name, told),
      },
    );
  }

  /** Whether it could be sent. */
  #send(message) {
    const sent = this.seats[this.seat].send(message);
    if (!sent) toast(t("lost.now"));
    return sent;
  }

  #connection(state) {
    if (state === "open") {
      this.banner?.remove();
      this.banner = null;
    } else if (!this.banner) {
      this.banner = el("div", { class: "banner", role: "alert" }, t("lost"));
      document.body.append(this.banner);
      this.cleanups.push(() => this.banner?.remove());
    }
  }

  #hear(name, told) {
    const table = this.tables[name];
    if (told.say === "sight" || told.say === "moves") {
      if (table.take(told)) this.seats[name].sit();
      // Moves come before the sight that counts them; alone they only fill a gap.
      if (name === this.seat && (told.say === "sight" || table.known() === table.sight?.ply)) this.#update();
    } else if (told.say === "why") {
      this.#explain(told);
    } else if (told.say === "rematch") {
      this.#follow(told);
    } else if (told.say === "error") {
      this.#refused(told);
    }
  }

  #refused(told) {
    const text = refusal(told);
    if (!this.sight) {
      if (told.code !== "game") {
        // That passes: the seat asks again by itself.
        toast(text, { urgent: true });
        return;
      }
      for (const each of Object.values(this.seats)) each.close();
      forgetKey(this.id, this.seat);
      this.main.replaceChildren(notice(t("gone.title"), text, way(t("home"), "#/")));
      return;
    }
    this.hand.pending = null;
    toast(text, { urgent: true });
    if (this.sight.phase === "setup") {
      // The setup that was sent along is none to begin with: show the editor instead.
      this.entry.setup = null;
      keepGame(this.id, { setup: null });
      this.#update();
    }
    this.#render();
  }

  #follow({ game, seats }) {
    const known = kept(this.id) ?? {};
    const mine = kept(game)?.seats ?? {};
    keepGame(game, {
      ...known,
      id: game,
      over: null,
      friend: null,
      setup: null,
      // Whoever sets up anew begins with what he had, and changes it.
      before: this.hotseat ? null : (this.sight.over?.setups[this.seat] ?? null),
      at: Date.now(),
      seats: { ...mine, ...seats },
    });
    location.hash = addressOf(game, Object.keys(seats)[0]);
  }

  // ── Which part of the game is on the screen ───────────────────────────────────────────────────

  #update() {
    const { sight } = this;
    if (!sight) return;
    this.variant = this.offered.variants.find((each) => each.name === sight.variant);
    this.promised = rememberPromises(this.id, sight.commitment);
    if (!this.entry.title && (kept(this.id) || SIDES.includes(this.seat))) {
      // Whoever came to his seat by a link has no entry yet; who only looks on has no seat, and gets none.
      this.entry.title = sight.players[other(sight.seat)] ?? t("mode.watch");
      keepGame(this.id, { ...this.entry, variant: this.variant.title });
      forgetKey(this.id, this.seat);
    }
    if (sight.phase === "setup") {
      this.#setup();
    } else if (this.hotseat && this.covered && sight.phase === "play") {
      this.#cover(sight.turn);
    } else {
      this.covered = false;
      if (!this.board) this.#build();
      this.#render();
      if (this.hand.prepared && this.table.myTurn) this.hand.playPrepared();
    }
  }

  #setup() {
    const { sight } = this;
    this.covered = this.hotseat;
    if (this.entry.setup && !sight.ready[this.seat]) {
      this.#send({ do: "setup", setup: this.entry.setup });
      this.entry.setup = null;
      return;
    }
    if (this.hotseat && sight.ready[this.seat]) {
      if (!sight.ready[other(this.seat)]) this.#cover(other(this.seat));
      return;
    }
    // Whoever is setting up goes on with it, whatever the other side does meanwhile.
    const stage = sight.ready[this.seat] ? `wait ${sight.invited}` : `setup ${this.seat}`;
    if (this.stage === stage) return;
    this.stage = stage;
    this.main.replaceChildren(
      waitingRoom(sight, this.variant, this.entry, (setup) => this.#send({ do: "setup", setup })),
    );
  }

  /** Hide everything until the other player of this device says that he has it. */
  #cover(side) {
    this.stage = "cover";
    this.covered = true;
    // Nothing may tell the next player of the one before: no key, no message that still stands.
    this.unbuild?.();
    this.unbuild = null;
    this.board = null;
    this.shown = this.sight; // if the game ends meanwhile, that is news
    document.getElementById("toasts").replaceChildren();
    say("", true);
    say(t("handover.title", { side: t(`Side.${side}`) }));
    this.main.replaceChildren(
      handOver(side, () => {
        this.covered = false;
        this.seat = side;
        this.shown = null;
        this.looking = null;
        this.#update();
      }),
    );
    this.main.querySelector("button").focus();
  }

  /** Whether the board is seen from blue's side. */
  #turned() {
    return this.sight.seat === "blue" && settings.below;
  }

  #build() {
    const { sight, variant } = this;
    this.stage = "play";
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
    this.clock = new Clock();
    this.thinking = new ThinkingTime();
    this.moves = new MoveList((ply) => this.#look(ply === this.sight.ply ? null : ply));
    this.cards = {
      top: el("section", { class: "card top-card" }),
      bottom: el("section", { class: "card bottom-card" }),
    };
    this.status = el("section", { class: "status" });
    this.actions = el("div", { class: "actions", role: "group", "aria-label": t("actions") });
    this.typed = el("output", { class: "typed", "aria-label": t("typed") });
    this.main.replaceChildren(
      el(
        "div",
        { class: "table" },
        el("h1", { class: "unseen" }, `${sight.players.red} – ${sight.players.blue}`),
        this.cards.top,
        el("div", { class: "board-place" }, this.board.element, this.typed),
        this.cards.bottom,
        this.status,
        this.actions,
        el("section", { class: "moves-place" }, this.moves.element),
      ),
    );
    document.title = t("title.of", { what: `${sight.players.red} – ${sight.players.blue}` });
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
    this.unbuild = () => {
      stopKeys();
      document.removeEventListener("keydown", arrows);
      this.clock.close();
      this.thinking.close();
    };
    this.board.focus(firstMover(sight) ?? this.board.cursor);
    if (matchMedia("(pointer: coarse)").matches && settings.confirm === null && sight.seat !== "watch") {
      change("confirm", false);
      const yes = [t("confirm.yes"), () => change("confirm", true)];
      this.cleanups.push(toast(t("confirm.offer"), { actions: [yes], seconds: 12 }));
    }
  }

  // ── Showing it ────────────────────────────────────────────────────────────────────────────────

  #render() {
    if (!this.board || !this.sight || this.covered) return;
    const { sight, shown } = this;
    if (sight.ply !== shown?.ply || sight.phase !== shown?.phase) {
      this.reason = null;
      this.hand.settle(sight.phase === "play" && sight.ply > shown?.ply);
      if (this.looking !== null && sight.phase === "play" && this.table.myTurn) this.looking = null;
    }
    this.#pieces();
    this.#marks();
    this.#cards();
    this.#status();
    const focused = fillActions(this.actions, sight, {
      send: (message) => this.#send(message),
      flip: () => {
        this.board.flip();
        this.#render();
      },
      review: () => this.#review(),
      share: () => this.#share(),
      lookAs: (eyes) => {
        keep("eyes", eyes);
        this.seats.watch.lookAs(eyes);
      },
    });
    if (!focused) this.board.focus();
    this.clock.set(sight.clock);
    this.thinking.set(sight.thinking);
    this.moves.set(this.table.moves.slice(0, this.table.known()), this.looking ?? sight.ply);
    this.#announce(shown);
    this.shown = sight;
  }

  #pieces() {
    const { sight, shown } = this;
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
      { fallen: fallen(before, step) },
    );
  }

  /** A piece without what whoever sits here is to remember for himself. */
  #seen(piece) {
    const { sight, memory } = this;
    if (sight.phase === "over" || sight.seat === "watch") return piece;
    const own = piece.side === sight.seat;
    // In an earlier position nothing of the enemy's is the last thing shown.
    const shown = this.looking === null ? remembered(piece, sight, memory) : memory === "tournament" ? null : piece.type;
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
    this.#status();
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
      fought: last?.battle ? [last.to] : [],
      pending: planned ? [planned.to] : [],
    });
    this.board.relabel();
    this.board.setArrows(planned ? [{ ...planned, weight: 0.6, kind: "own" }] : []);
    this.board.element.classList.toggle("past", this.looking !== null);
  }

  #cards() {
    const { sight } = this;
    const below = this.board.flipped ? "blue" : "red";
    for (const [place, side] of [
      ["bottom", below],
      ["top", other(below)],
    ]) {
      const times = { clock: this.clock.faces[side], thinking: this.thinking.element };
      fillCard(this.cards[place], side, sight, this.variant, times);
    }
  }

  #status() {
    const { sight } = this;
    const lines = [];
    if (this.looking !== null) {
      lines.push(
        el(
          "div",
          { class: "look" },
          el("p", {}, t("look.at", { ply: this.looking })),
          button(t("look.back"), () => this.#look(null), { class: "primary small" }),
        ),
      );
    }
    const { pending, prepared } = this.hand;
    if (pending) {
      lines.push(
        el(
          "div",
          { class: "confirm" },
          el("p", {}, t("confirm.move", pending)),
          el(
            "div",
            { class: "line" },
            button(t("cancel"), () => this.#cancel(), { class: "large" }),
            button(t("confirm.play"), () => this.hand.confirm(), { class: "primary large" }),
          ),
        ),
      );
    }
    if (prepared) {
      lines.push(
        el(
          "div",
          { class: "confirm" },
          el("p", {}, t("prepared", prepared)),
          el(
            "div",
            { class: "line" },
            button(t("cancel"), () => this.#cancel()),
          ),
        ),
      );
    }
    if (this.reason) lines.push(this.#reasonBox());
    lines.push(this.#headline());
    // One's own fight stays beside the answer, which may come within half a second.
    for (const move of this.table.since(sight.ply - 2)) if (move.battle) lines.push(battleCard(move));
    if (sight.offer) lines.push(offerBox(sight, (message) => this.#send(message)));
    for (const warning of warnings(sight)) lines.push(el("p", { class: "warning" }, warning));
    if (sight.phase === "play") lines.push(counter(sight));
    if (this.#asked(sight)) lines.push(el("p", { class: "offer" }, this.#asked(sight)));
    if (sight.phase === "over") lines.push(...promiseLines(this.promises ?? {}, sight.players));
    if (sight.played_on) lines.push(el("p", { class: "quiet" }, t("played_on", sight.played_on)));
    if (sight.took_back) lines.push(el("p", { class: "quiet" }, t("casual")));
    if (!sight.aids && sight.phase === "play") lines.push(el("p", { class: "quiet" }, t("aids.off")));
    const held = this.status.contains(document.activeElement);
    this.status.replaceChildren(...lines);
    if (held) this.board.focus();
  }

  /** That the other side wants a rematch, if it does and this one has not said so. */
  #asked({ kind, seat, rematch, players }) {
    const asked = kind === "friend" && rematch.includes(other(seat)) && !rematch.includes(seat);
    return asked ? t("rematch.asked", { name: players[other(seat)] }) : null;
  }

  #headline() {
    const { sight } = this;
    if (sight.phase === "over") return el("p", { class: "headline" }, endWords(sight, this.hotseat));
    if (this.hotseat && sight.turn !== sight.seat) {
      return el(
        "div",
        { class: "line" },
        button(t("handover.now", { side: t(`Side.${sight.turn}`) }), () => this.#cover(sight.turn), {
          class: "primary",
        }),
      );
    }
    const text = sight.watching?.paused
      ? t("watch.paused")
      : sight.seat === "watch"
        ? t("turn.side", { side: t(`Side.${sight.turn}`) })
        : this.table.myTurn
          ? t(sight.ply < 2 ? "turn.first" : "turn.yours")
          : t("turn.theirs", { name: sight.players[sight.turn] });
    return el("p", { class: "headline" }, text);
  }

  // ── Words, sounds, the end ────────────────────────────────────────────────────────────────────

  #announce(shown) {
    const { sight } = this;
    if (shown && sight.ply > shown.ply && sight.last) {
      const words = this.table.since(shown.ply).map((move) => moveWords(move, sight.seat));
      if (this.table.myTurn) words.push(t("turn.yours"));
      say([...words, ...warnings(sight)].join(" "));
      sound(moveSound(sight.last, sight.seat));
    } else if (shown && sight.ply < shown.ply) {
      say(t("took_back"));
    }
    if (shown?.watching && sight.watching.paused && !shown.watching.paused) say(t("watch.paused"));
    if (sight.note && JSON.stringify(sight.note) !== JSON.stringify(shown?.note)) {
      this.cleanups.push(toast(answer(sight.note, sight.players)));
    }
    if (shown && this.#asked(sight) && !this.#asked(shown)) {
      this.cleanups.push(toast(this.#asked(sight)));
      document.querySelector("dialog.end .asked")?.replaceChildren(this.#asked(sight));
    }
    if (sight.offer && !shown?.offer && sight.offer.by !== sight.seat) {
      say(t(`offer.${sight.offer.kind}`, { name: sight.players[sight.offer.by] }), true);
    }
    if (sight.phase === "over" && shown?.phase !== "over") this.#end(Boolean(shown));
  }

  async #end(seen) {
    const { sight } = this;
    const how = verdict(sight, this.hotseat),
      known = kept(this.id);
    if (known) keepGame(this.id, { over: how });
    // Counted when this browser first hears of the end; who has taken back, or plays on from
    // another game, has learnt what he could not know.
    if (known?.level && !known.over && !sight.took_back && !sight.played_on)
      countResult(sight.variant, known.level, sight.over.setups[this.seat], how);
    this.promises = await verified(this.promised, sight.over);
    this.#status();
    if (!seen || this.closed) return;
    sound("end");
    say(endWords(sight, this.hotseat), true);
    const wish = await endDialog(sight, this.promises, this.hotseat);
    if (wish === "rematch")
      rematch(this.sight, (message) => {
        for (const each of Object.values(this.seats)) each.send(message);
      });
    if (wish === "review") this.#review();
  }

  /** A link by which others may look on, and do nothing. */
  async #share() {
    const link = `${location.origin}/${addressOf(this.id, "watch")}/${this.sight.watching.look}`;
    toast((await copyText(link)) ? t("copied") : link);
  }

  #review() {
    location.hash = reviewOf(this.id);
  }

  // ── Playing ───────────────────────────────────────────────────────────────────────────────────

  #press(at) {
    const piece = this.table.piece(at);
    if (this.looking !== null) {
      this.#look(null);
    } else if (!this.hand.press(at)) {
      if (piece && piece.side !== this.sight.seat) this.#note(at);
      else if (piece && this.sight.phase === "play") say(t("turn.wait"));
    }
  }

  #play(from, to) {
    if (this.#send({ do: "move", from, to })) this.board.lead(from, to);
  }

  #cancel() {
    if (this.looking !== null) this.#look(null);
    this.hand.cancel();
  }

  #type(from, to) {
    if (this.looking !== null) this.#look(null);
    this.board.setCursor(this.board.cells.has(to) ? to : this.board.cursor);
    if (!this.hand.type(from, to)) say(t("turn.wait"), true);
  }

  /** @param told a text of the page's own, or what the server says against a move */
  #explain(told) {
    const { text = why(told), ply = null, rule = null } = told;
    this.reason = { text, ply, rule };
    this.#status();
    say(text, true);
    this.status.scrollIntoView({ block: "nearest" });
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
        ply !== null && button(t("look.show", { ply }), () => this.#look(ply), { class: "small" }),
        rule && el("a", { href: `#/rules/${rule}`, target: "_blank" }, t("rule.link")),
        button(
          t("ok"),
          () => {
            this.reason = null;
            this.#status();
          },
          { class: "small" },
        ),
      ),
    );
  }

  /** Look at an earlier position; null is the present one. */
  #look(ply) {
    this.looking = ply;
    this.hand.selected = this.hand.pending = null;
    if (ply !== null) say(t("look.at", { ply }));
    this.#render();
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
      this.#explain({ text: t("aids.off") });
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
        left: sight.left[piece.side],
        notes: this.notes,
      })
    ) {
      this.#render();
    }
    this.board?.focus(at);
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
    return squareWords(at, { piece, lake: this.variant.lakes.includes(at), seat: sight.seat, extra });
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
        ? this.clock.words()
        : commandWords(letter, { sight, pieces, row: rowOf(this.board.cursor), variant: this.variant });
    if (words === null) return false;
    this.cleanups.push(toast(words));
    return true;
  }
}

function firstMover(sight) {
  return Object.keys(sight.legal)[0] ?? null;
}
