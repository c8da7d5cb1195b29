// A game in progress: the seat (or both, on one device), the game itself, and everything around it.

import { fillActions, offerBox, rematch } from "./actions.js";
import { fillCard } from "./cards.js";
import { Clock, ThinkingTime } from "./clock.js";
import { button, copyText, el, hush, notice, say, toast, way } from "./dom.js";
import { endDialog, endWords, promiseLines, rememberPromises, verdict, verified } from "./ending.js";
import { family, familyOf, screenAddress, show as showFamily } from "./family.js";
import { countResult } from "./games.js";
import { MoveList } from "./movelist.js";
import { Seat } from "./protocol.js";
import {
  addressOf,
  forgetKey,
  game as kept,
  keep,
  keepGame,
  keepKey,
  keyOf,
  onChange,
  recall,
} from "./settings.js";
import { other, SIDES } from "./sides.js";
import { play as sound } from "./sounds.js";
import { Table } from "./state.js";
import { t } from "./strings.js";
import { handOver, waitingRoom } from "./waiting.js";
import { absenceWords, answer, otherRules, refusal, unusual } from "./words.js";

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
    this.tables = {};
    this.seats = {};
    this.shown = null;
    this.cleanups = [
      onChange((name) => {
        this.play?.changed(name);
        this.render();
      }),
    ];
    for (const [name, key] of Object.entries(this.hotseat ? this.entry.seats : own)) this.#sit(name, key);
    main.append(el("p", { class: "page quiet" }, t("connecting")));
  }

  close() {
    this.closed = true;
    clearTimeout(this.claimable);
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
  send(message) {
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
      this.play?.explain(told);
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
    this.play?.refused();
    toast(text, { urgent: true });
    if (this.sight.phase === "setup") {
      // The setup that was sent along is none to begin with: show the editor instead.
      this.entry.setup = null;
      keepGame(this.id, { setup: null });
      this.#update();
    }
    this.render();
  }

  #follow({ game, seats: told }) {
    // Each seat has the secret of one here, or is told with its own, as in games that were kept long ago.
    const secret = (given) => this.entry.seats[given] ?? keyOf(this.id, given) ?? given;
    const seats = Object.fromEntries(Object.entries(told).map(([seat, given]) => [seat, secret(given)]));
    const known = kept(this.id) ?? {};
    const mine = kept(game)?.seats ?? {};
    keepGame(game, {
      ...known,
      id: game,
      over: null,
      friend: null,
      setup: null,
      // Whoever sets up anew begins with the setup of before, and changes it.
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
    this.variant = this.offered.variants.find((each) => each.name === sight.variant) ?? named(sight);
    showFamily(this.variant.family);
    this.seen = performance.now();
    this.promised = rememberPromises(this.id, sight.commitment);
    this.#introduce();
    if (sight.elsewhere && !this.warned) this.cleanups.push(toast(t("elsewhere"), { seconds: 20, urgent: true }));
    this.warned = sight.elsewhere;
    if (!this.entry.title && (kept(this.id) || SIDES.includes(this.seat))) {
      // A player who came by a link has no entry yet; who only looks on has no seat, and gets none.
      this.entry.title = sight.players[other(sight.seat)] ?? t("mode.watch");
      keepGame(this.id, { ...this.entry, variant: this.variant.title, family: this.variant.family });
      forgetKey(this.id, this.seat);
    }
    if (sight.phase === "setup") {
      this.#setup();
    } else if (this.hotseat && this.covered && sight.phase === "play") {
      this.#cover(sight.turn);
    } else {
      this.covered = false;
      if (!this.play) this.#build();
      this.render();
      this.play.goOn();
    }
  }

  /** Tell the table who sits here, once: for a friend, and for records. */
  #introduce() {
    const { kind, phase, seat } = this.sight;
    const name = recall("name", "");
    if (this.introduced === name || !name || !["level", "friend"].includes(kind)) return;
    if (phase === "over" || !SIDES.includes(seat)) return;
    this.introduced = name;
    this.send({ do: "name", name });
  }

  #setup() {
    const { sight } = this;
    this.covered = this.hotseat;
    if (this.entry.setup && !sight.ready[this.seat]) {
      this.send({ do: "setup", setup: this.entry.setup });
      this.entry.setup = null;
      return;
    }
    const ready = sight.ready[this.seat];
    if (this.hotseat && ready) {
      if (!sight.ready[other(this.seat)]) this.#cover(other(this.seat));
      return;
    }
    // Whoever is setting up goes on with it, whatever the other side does meanwhile.
    const stage = ready ? `wait ${sight.invited}` : `setup ${this.seat}`;
    if (this.stage === stage) return;
    this.stage = stage;
    this.main.replaceChildren(
      waitingRoom(sight, this.variant, this.entry, {
        give: (setup) => this.send({ do: "setup", setup }),
        named: () => this.#introduce(),
      }),
    );
  }

  /** Hide everything until the other player of this device has it, and says so. */
  #cover(side) {
    this.stage = "cover";
    this.covered = true;
    // Nothing may tell the next player of the one before: no key, no message that still stands.
    this.unbuild?.();
    this.unbuild = this.play = null;
    this.shown = this.sight; // if the game ends meanwhile, that is news
    document.getElementById("toasts").replaceChildren();
    hush();
    say(t("handover.title", { side: t(`Side.${side}`) }));
    this.main.replaceChildren(
      handOver(side, () => {
        this.covered = false;
        this.seat = side;
        this.shown = null;
        this.#update();
      }),
    );
    this.main.querySelector("button").focus();
  }

  #build() {
    const { sight, variant } = this;
    this.stage = "play";
    this.clock = new Clock();
    this.thinking = new ThinkingTime();
    this.moves = new MoveList((ply) => this.play.look(ply === this.sight.ply ? null : ply));
    this.cards = {
      top: el("section", { class: "card top-card" }),
      bottom: el("section", { class: "card bottom-card" }),
    };
    this.status = el("section", { class: "status" });
    this.actions = el("div", { class: "actions", role: "group", "aria-label": t("actions") });
    this.play = new (familyOf(variant.family).Play)(this);
    this.main.replaceChildren(
      el(
        "div",
        { class: "table" },
        el("h1", { class: "unseen" }, `${sight.players.red} – ${sight.players.blue}`),
        this.cards.top,
        this.play.element,
        this.cards.bottom,
        this.status,
        this.actions,
        el("section", { class: "moves-place" }, this.moves.element),
      ),
    );
    document.title = t("title.of", { what: `${sight.players.red} – ${sight.players.blue}` });
    this.unbuild = () => {
      this.play.close();
      this.clock.close();
      this.thinking.close();
    };
    this.play.begun();
  }

  /** Something to be done when the game is left. */
  later(cleanup) {
    this.cleanups.push(cleanup);
  }

  // ── Showing it ────────────────────────────────────────────────────────────────────────────────

  render() {
    if (!this.play || !this.sight || this.covered) return;
    const { sight, shown } = this;
    this.play.show(shown);
    this.#cards();
    this.renderStatus();
    const focused = fillActions(this.actions, sight, {
      send: (message) => this.send(message),
      flip: this.play.flip && (() => this.play.flip()),
      review: this.variant.looks_back && (() => this.#review()),
      moved: this.#hasMoved(),
      share: () => this.#share(),
      lookAs: (eyes) => {
        keep("eyes", eyes);
        this.seats.watch.lookAs(eyes);
      },
    });
    if (!focused) this.play.focus();
    this.clock.set(sight.clock);
    this.thinking.set(sight.thinking);
    this.moves.set(this.table.moves.slice(0, this.table.known()), this.play.looking ?? sight.ply);
    this.#announce(shown);
    this.shown = sight;
  }

  #cards() {
    const { sight } = this;
    const { below } = this.play;
    for (const [place, side] of [
      ["bottom", below],
      ["top", other(below)],
    ]) {
      const times = { clock: this.clock.faces[side], thinking: this.thinking.element };
      fillCard(this.cards[place], side, sight, this.variant, times);
    }
  }

  renderStatus() {
    const { sight } = this;
    const lines = [...this.play.questions(), this.#headline(), ...this.play.news()].filter(Boolean);
    if (sight.offer) lines.push(offerBox(sight, (message) => this.send(message), this.#fought(sight.offer.by)));
    lines.push(...this.#absence());
    lines.push(...this.play.counts().filter(Boolean));
    if (sight.phase === "play" && sight.clock?.whole !== undefined) lines.push(this.clock.whole);
    if (this.#asked(sight)) lines.push(el("p", { class: "offer" }, this.#asked(sight)));
    if (sight.phase === "over") lines.push(...promiseLines(this.promises ?? {}, sight.players));
    if (sight.played_on) lines.push(el("p", { class: "quiet" }, t("played_on", sight.played_on)));
    const rules = otherRules(this.variant, sight.rules);
    if (rules && sight.phase === "play") lines.push(el("p", { class: "quiet" }, rules));
    if (sight.took_back) lines.push(el("p", { class: "quiet" }, t("casual")));
    if (sight.elsewhere && sight.phase === "play") lines.push(el("p", { class: "warning" }, t("elsewhere")));
    if (!sight.aids && sight.phase === "play") lines.push(el("p", { class: "quiet" }, t("aids.off")));
    const held = this.status.contains(document.activeElement);
    this.status.replaceChildren(...lines);
    if (held) this.play.focus();
  }

  /** Whether there was a fight in the moves that a side asks to take back: what it has shown stays known. */
  #fought(by) {
    const moves = this.table.moves.slice(0, this.sight.ply);
    const last = moves.findLastIndex((move) => move?.side === by);
    return moves.slice(Math.max(0, last)).some((move) => move && family().deed(move));
  }

  /** That the friend on turn is away, and from when on the win may be claimed. */
  #absence() {
    const { sight } = this;
    clearTimeout(this.claimable);
    const absent = sight.phase === "play" && sight.turn !== sight.seat ? (sight.absence?.absent ?? null) : null;
    if (absent === null) return [];
    const left = sight.absence.after - absent - (performance.now() - this.seen) / 1000;
    const words = { name: sight.players[sight.turn], time: absenceWords(sight.absence.after / 60) };
    if (left > 0) {
      // As far as a timer goes: a day is less.
      this.claimable = setTimeout(() => this.renderStatus(), Math.min(1000 * left + 500, 2 ** 31 - 1));
      return [el("p", { class: "quiet" }, t("absence.wait", words))];
    }
    return [
      el(
        "div",
        { class: "offer" },
        el("p", {}, t("absence.claim", words)),
        el("div", { class: "line" }, button(t("claim"), () => this.send({ do: "claim" }), { class: "primary" })),
      ),
    ];
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
          ? ((sight.ply < 2 && this.play.hint) || t("turn.yours"))
          : t("turn.theirs", { name: sight.players[sight.turn] });
    return el("p", { class: "headline" }, text);
  }

  // ── Words, sounds, the end ────────────────────────────────────────────────────────────────────

  #announce(shown) {
    const { sight } = this;
    if (shown && sight.ply > shown.ply && sight.last) {
      const words = this.play.words(this.table.since(shown.ply));
      if (this.table.myTurn) words.push(t("turn.yours"));
      say([...words, ...this.play.warnings()].join(" "), { stays: true });
      this.play.sound();
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
      say(t(`offer.${sight.offer.kind}`, { name: sight.players[sight.offer.by] }), { urgent: true });
    }
    if (sight.phase === "over" && shown?.phase !== "over") this.#end(Boolean(shown));
  }

  async #end(seen) {
    const { sight } = this;
    const how = verdict(sight, this.hotseat),
      known = kept(this.id);
    if (known) keepGame(this.id, { over: how });
    // Counted when this browser first hears of the end; but not after taking back, or playing on from another game:
    // both teach what the player could not know. Nor by other rules: levels were measured by the usual ones.
    const usual = !Object.keys(unusual(this.variant, sight.rules)).length;
    if (known?.level && !known.over && !sight.took_back && !sight.played_on && usual)
      countResult(sight.variant, known.level, sight.over.setups[this.seat], how);
    this.promises = await verified(this.promised, sight.over);
    this.renderStatus();
    if (!seen || this.closed) return;
    sound("end");
    say(endWords(sight, this.hotseat), { urgent: true });
    const wish = await endDialog(sight, this.promises, this.hotseat, this.variant.looks_back);
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
    location.hash = screenAddress(this.variant.family, "review", this.id);
  }

  /** Whether one has made a move in this game, and not in another one that it goes on from. */
  #hasMoved() {
    const begun = this.sight.played_on?.ply ?? 0;
    return this.table.moves.slice(begun, this.sight.ply).some((move) => move?.side === this.seat);
  }
}

/** As much as is known of a game that is not offered any more. */
const named = ({ variant, family }) => ({ name: variant, title: variant, family, setups: true, switches: [] });
