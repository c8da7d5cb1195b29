// Looking back on a game of any family that has boards: all of it with both armies open, and what each side believed.

import { beliefBars, chances, considered, moveTable } from "./analysis.js";
import { Board } from "./board.js";
import { button, choice, copyText, download, drawing, el, notice, refill, say, toast, way } from "./dom.js";
import { endWords } from "./ending.js";
import { family, ownScreen, show as showFamily } from "./family.js";
import { Graph } from "./graph.js";
import { keepReview, keptReview } from "./kept.js";
import { MoveList } from "./movelist.js";
import { playOnFrom } from "./playon.js";
import { picture, record, review, Seat } from "./protocol.js";
import { game as kept, keepGame, keepKey, keyOf, onChange, SEATS, settings } from "./settings.js";
import { other, SIDES } from "./sides.js";
import { moveWords, squareWords } from "./speech.js";
import { Table } from "./state.js";
import { t } from "./strings.js";
import { momentWords, percent, refusal, typeName } from "./words.js";

const PLAY_EVERY = 800;

export function show(main, [id, secret, ply], offered) {
  if (!id) {
    location.replace("#/import"); // the games that there are to look back on
    return null;
  }
  const screen = new ReviewScreen(main, id, secret, offered, Number(ply));
  return () => screen.close();
}

class ReviewScreen {
  constructor(main, id, secret, offered, ply) {
    this.main = main;
    this.id = id;
    this.offered = offered;
    this.ply = Number.isInteger(ply) ? ply : null;
    this.table = new Table();
    this.view = "all";
    this.heat = null;
    this.chosen = null;
    this.arrows = true;
    this.abort = new AbortController();
    this.cleanups = [
      onChange((name) => {
        if (name === "below") this.board?.flip(this.#turned());
        if (this.board) this.#render();
      }),
    ];
    const known = kept(id);
    const mine = known && SIDES.find((side) => known.seats[side]);
    this.believer = mine ? other(mine) : "red";
    // A link tells a secret and not whose it is: seats are tried in turn, first those that are known to have it.
    const owns = (seat) => keyOf(id, seat) === secret;
    this.candidates = secret
      ? [...SEATS].sort((a, b) => owns(b) - owns(a)).map((seat) => [seat, secret])
      : SEATS.map((seat) => [seat, keyOf(id, seat)]).filter(([, key]) => key !== null);
    main.append(el("p", { class: "page quiet" }, t("connecting")));
    if (offered.offline) this.#recall();
    else this.#sit();
  }

  close() {
    this.seat?.close();
    this.abort.abort();
    clearInterval(this.playing);
    for (const cleanup of this.cleanups) cleanup();
  }

  /** Look back on what this browser has kept: the server cannot be reached. */
  async #recall() {
    const found = await keptReview(this.id);
    if (this.abort.signal.aborted) return;
    if (!found) {
      this.main.replaceChildren(notice(t("offline.title"), t("offline.unkept"), way(t("home"), "#/")));
      return;
    }
    this.review = found.review;
    for (const told of found.told) this.#hear(told);
  }

  #sit() {
    const candidate = this.candidates.shift();
    if (!candidate) {
      this.main.replaceChildren(notice(t("gone.title"), t("gone.text"), way(t("home"), "#/")));
      return;
    }
    const [seat, secret] = candidate;
    this.seat = new Seat(
      { game: this.id, seat, secret },
      {
        have: () => this.table.known(),
        state: () => {},
        message: (told) => this.#hear(told),
      },
    );
  }

  #hear(told) {
    if (told.say === "error") {
      if (told.code !== "game") {
        // That passes: the seat asks again by itself.
        toast(refusal(told), { urgent: true });
        return;
      }
      this.seat.close();
      this.#sit();
      return;
    }
    if (told.say !== "sight" && told.say !== "moves") return;
    if (told.say === "sight") this.heard = structuredClone(told);
    if (this.table.take(told)) return;
    const { sight } = this.table;
    if (!sight || this.board || this.table.known() < sight.ply) return;
    this.seat?.close();
    showFamily(sight.family);
    if (sight.phase !== "over") {
      keepKey(this.id, this.seat.place.seat, this.seat.place.secret);
      history.replaceState(null, "", ownScreen("review", this.id));
      this.main.replaceChildren(notice(t("review"), t("review.running"), way(t("home"), "#/")));
      return;
    }
    // One's own import is listed, and has no name yet. A game that somebody else has shown is none of one's own.
    const known = kept(this.id);
    if (known && !known.title)
      keepGame(this.id, {
        title: `${sight.players.red} – ${sight.players.blue}`,
        variant: this.offered.variants.find((each) => each.name === sight.variant).title,
        over: sight.over.end === "unfinished" ? "unfinished" : (sight.over.winner ?? "draw"),
      });
    this.#build();
    this.#load();
  }

  // ── Building ──────────────────────────────────────────────────────────────────────────────────

  /** Whether the board is seen from blue's side. */
  #turned() {
    return settings.below && this.believer === "red" && Boolean(kept(this.id)?.seats.blue);
  }

  #build() {
    const { sight } = this.table;
    // From here on a secret that opens the finished game alone: whoever gets it has no seat in the next.
    this.look = sight.over.look;
    if (this.look)
      history.replaceState(null, "", `${ownScreen("review", this.id)}/${this.look}${this.ply === null ? "" : `/${this.ply}`}`);
    this.heat = family().heat;
    this.moves = this.table.moves.slice(0, sight.ply);
    this.boards = family().boards(sight.pieces, this.moves);
    this.variant = this.offered.variants.find((each) => each.name === sight.variant);
    this.ply = Math.max(0, Math.min(this.ply ?? 0, this.moves.length));
    this.board = new Board(this.variant, {
      flipped: this.#turned(),
      label: t("review"),
      hooks: { press: (at) => this.#choose(at), label: (at) => this.#label(at) },
      stepping: true,
    });
    this.scrubber = el("input", {
      type: "range",
      min: 0,
      max: this.moves.length,
      value: this.ply,
      "aria-label": t("review.ply"),
      oninput: (event) => this.go(Number(event.target.value)),
    });
    this.caption = el("p", { class: "caption" });
    this.wdl = el("div", { class: "wdl" });
    this.graph = el("div", { class: "graph-place" });
    this.policy = el("section", { class: "box" });
    this.beliefs = el("section", { class: "box" });
    this.moments = el("section", { class: "box" });
    this.list = new MoveList((ply) => this.go(ply));
    this.start = button(drawing("sign-play", "sign"), () => this.#play(), {
      class: "icon",
      "aria-label": t("review.play"),
    });
    const step = (symbol, name, target) =>
      button(drawing(symbol, "sign"), () => this.go(target()), {
        class: "icon",
        "aria-label": t(name),
        title: t(name),
      });
    this.main.replaceChildren(
      el(
        "div",
        { class: "review" },
        el(
          "div",
          { class: "review-board" },
          el(
            "div",
            { class: "line review-head" },
            el("h1", {}, `${sight.players.red} – ${sight.players.blue}`),
            el("p", { class: "quiet" }, endWords(sight)),
          ),
          el("div", { class: "review-place" }, this.board.element),
          this.caption,
          el(
            "div",
            { class: "transport" },
            step("sign-first", "review.first", () => 0),
            step("sign-back", "review.back", () => this.ply - 1),
            this.start,
            step("sign-on", "review.on", () => this.ply + 1),
            step("sign-last", "review.last", () => this.moves.length),
            this.scrubber,
            this.look && button([drawing("sign-new", "sign"), t("play_on")], () => this.#playOn()),
          ),
        ),
        this.graph,
        el("section", { class: "box review-moves" }, el("h2", {}, t("moves")), this.list.element),
        el(
          "div",
          { class: "review-side" },
          el(
            "div",
            { class: "line spread view-line" },
            choice(
              "view",
              t("view"),
              ["all", "red", "blue"].map((key) => [key, t(`view.${key}`)]),
              this.view,
              (value) => {
                this.view = value;
                this.#render();
              },
            ),
            button([drawing("sign-flip", "sign"), t("flip")], () => {
              this.board.flip();
              this.#render();
            }),
          ),
          this.wdl,
          this.moments,
          this.policy,
          this.beliefs,
          this.look && el("section", { class: "box" }, el("h2", {}, t("share")), el("div", { class: "line" }, this.#share())),
        ),
      ),
    );
    const keys = (event) => {
      if (
        event.altKey ||
        event.ctrlKey ||
        event.metaKey ||
        event.target.closest("input, textarea, select, dialog")
      )
        return;
      const target = { ArrowLeft: this.ply - 1, ArrowRight: this.ply + 1, Home: 0, End: this.moves.length }[event.key];
      if (target === undefined) return;
      event.preventDefault();
      this.go(target);
    };
    document.addEventListener("keydown", keys);
    this.cleanups.push(() => document.removeEventListener("keydown", keys));
    this.#render();
  }

  #playOn() {
    const side = kept(this.id)?.seats.blue ? "blue" : "red";
    const { level } = kept(this.id) ?? {};
    playOnFrom({ game: this.id, secret: this.look, ply: this.ply, side, level }, this.variant, this.offered);
  }

  #share() {
    const name = `vauban-${this.id}`;
    const attempt = (run) => async () => {
      try {
        await run();
      } catch (error) {
        toast(error.message || t("offline.text"));
      }
    };
    const seat = () => (this.view === "all" ? null : this.view);
    return [
      button(
        t("share.link"),
        attempt(async () => {
          const link = `${location.origin}/${ownScreen("review", this.id)}/${this.look}/${this.ply}`;
          toast((await copyText(link)) ? t("copied") : link);
        }),
      ),
      button(
        t("share.text"),
        attempt(async () => download(`${name}.txt`, await record(this.id, this.look))),
      ),
      button(
        t("share.picture"),
        attempt(async () =>
          download(`${name}-${this.ply}.svg`, await picture(this.id, this.look, this.ply, seat()), "image/svg+xml"),
        ),
      ),
    ];
  }

  async #load() {
    const bar = el("progress", { max: 1, value: 0, "aria-label": t("review.making") });
    this.graph.replaceChildren(el("p", { class: "quiet" }, t("review.making")), bar);
    try {
      this.review ??= await review(
        this.id,
        this.look,
        (done) => {
          bar.value = done;
        },
        this.abort.signal,
      );
    } catch (error) {
      if (!this.abort.signal.aborted)
        this.graph.replaceChildren(el("p", { class: "quiet" }, error.message || t("offline.text")));
      return;
    }
    if (this.abort.signal.aborted) return;
    if (!this.offered.offline) this.#keep();
    const { plies, moments, model, unsearched = [], most_plies: longest = null } = this.review;
    const valued = plies.some(({ values }) => values && SIDES.some((side) => typeof values[side] === "number"));
    this.curve = valued ? new Graph(plies, moments, (ply) => this.go(ply)) : null;
    this.graph.replaceChildren(
      ...(this.curve
        ? [
            el("h2", {}, t("graph")),
            el(
              "div",
              { class: "graph-box" },
              el("span", { class: "axis" }, t("graph.up")),
              this.curve.element,
              el("span", { class: "axis below" }, t("graph.down")),
            ),
            el(
              "p",
              { class: "legend quiet" },
              el("span", { class: "key red" }, t("graph.red")),
              el("span", { class: "key blue" }, t("graph.blue")),
            ),
          ]
        : [el("p", { class: "quiet" }, t(longest ? "review.long" : "review.no_model", { plies: longest }))]),
    );
    this.moments.replaceChildren(
      el("h2", {}, t("moments")),
      moments.length
        ? el(
            "ol",
            { class: "moments" },
            moments.map((moment) =>
              el(
                "li",
                { class: moment.side },
                button(
                  [
                    el("span", { class: "number" }, String(moment.ply)),
                    el("span", {}, el("strong", {}, t(`moment.${moment.kind}`)), " ", momentWords(moment)),
                  ],
                  () => this.go(moment.ply),
                ),
              ),
            ),
          )
        : el("p", { class: "quiet" }, t("moments.none")),
      unsearched.length
        ? el("p", { class: "quiet" }, t("review.unsearched", { moves: unsearched.map((ply) => ply + 1).join(", ") }))
        : "",
      model ? el("p", { class: "quiet" }, t("review.model", { model })) : "",
    );
    this.#render();
  }

  /** For when the server cannot be reached. */
  #keep() {
    const { family, players } = this.table.sight;
    const told = [this.heard, { say: "moves", first: 0, moves: this.moves }];
    const title = `${players.red} – ${players.blue} · ${this.variant.title}`;
    keepReview(this.id, { told, review: this.review }, { family, title });
  }

  // ── Stepping ──────────────────────────────────────────────────────────────────────────────────

  go(ply) {
    const target = Math.min(this.moves.length, Math.max(0, ply));
    if (target === this.ply) return;
    const step = target === this.ply + 1 ? this.moves[target - 1] : null;
    const before = this.boards[this.ply];
    // The chosen piece is followed to where it goes, and let go when it falls.
    const id = this.chosen && before.find((piece) => piece.at === this.chosen)?.id;
    this.ply = target;
    this.chosen = (id && this.boards[target].find((piece) => piece.id === id)?.at) || null;
    this.#render(family().fallen(before, step));
    if (step) say(moveWords(step, "watch"));
  }

  #play() {
    if (this.playing) {
      clearInterval(this.playing);
      this.playing = null;
    } else {
      if (this.ply === this.moves.length) this.go(0);
      this.playing = setInterval(() => {
        if (this.ply >= this.moves.length) this.#play();
        else this.go(this.ply + 1);
      }, PLAY_EVERY);
    }
    this.start.replaceChildren(drawing(this.playing ? "sign-pause" : "sign-play", "sign"));
    this.start.setAttribute("aria-label", t(this.playing ? "review.pause" : "review.play"));
  }

  #choose(at) {
    const piece = this.boards[this.ply].find((each) => each.at === at);
    this.chosen = piece && this.chosen !== at ? at : null;
    if (this.chosen) {
      this.believer = other(piece.side);
      this.heat = family().heat;
    }
    this.#render();
    // What is believed of the piece may be far below the board.
    if (this.chosen) this.beliefs.scrollIntoView({ block: "nearest" });
  }

  // ── Showing ───────────────────────────────────────────────────────────────────────────────────

  #hides(piece) {
    return this.view !== "all" && piece.side !== this.view && !piece.revealed;
  }

  #label(at) {
    const piece = this.boards[this.ply].find((each) => each.at === at);
    return squareWords(at, {
      piece: piece && (this.#hides(piece) ? { ...piece, type: null } : piece),
      lake: this.variant.lakes?.includes(at),
      gate: this.variant.gates?.[at],
      seat: "watch",
      extra: [this.#taken(at)],
    });
  }

  /** For the ear, what the map shows of a square. */
  #taken(at) {
    const share = this.#heatMap(this.review?.plies[this.ply])?.[at];
    return share !== undefined && t("belief.spoken", { type: typeName(this.heat), share: percent(share) });
  }

  #render(dead = []) {
    const now = this.review?.plies[this.ply];
    const last = this.moves[this.ply - 1];
    this.board.setPieces(
      this.boards[this.ply].map((piece) => ({
        ...piece,
        type: this.#hides(piece) ? null : piece.type,
        marks: { known: piece.revealed },
      })),
      { fallen: dead },
    );
    this.board.setMarks({
      last: last ? [last.from, last.to] : [],
      fought: last && family().deed(last) ? [last.to] : [],
      selected: this.chosen ? [this.chosen] : [],
    });
    this.board.setHeat(this.#heatMap(now));
    this.board.setArrows(
      this.arrows && now?.policy
        ? now.policy.map(({ from, to, p }) => ({ from, to, weight: p / now.policy[0].p, kind: now.turn })).reverse()
        : [],
    );
    this.scrubber.value = this.ply;
    this.scrubber.setAttribute("aria-valuetext", t("review.at", { ply: this.ply, all: this.moves.length }));
    this.caption.textContent = last ? `${this.ply}. ${moveWords(last, "watch")}` : t("review.start");
    this.list.set(this.moves, this.ply);
    this.curve?.set(this.ply);
    if (!now) return;
    this.wdl.replaceChildren(...chances(now.wdl));
    this.#showPolicy(now);
    this.#showBeliefs(now);
  }

  #heatMap(now) {
    const belief = now?.belief?.[this.believer];
    if (!this.heat || !belief) return null;
    return Object.fromEntries(Object.entries(belief).map(([at, chances]) => [at, chances[this.heat] ?? 0]));
  }

  #showPolicy(now) {
    const moves = considered(now);
    this.policy.hidden = !moves.length;
    const focused = refill(
      this.policy,
      el(
        "div",
        { class: "line spread" },
        el("h2", {}, t("policy", { side: t(`side.${now.turn}`) })),
        el(
          "label",
          { class: "check" },
          el("input", {
            type: "checkbox",
            checked: this.arrows,
            onchange: (event) => {
              this.arrows = event.target.checked;
              this.#render();
            },
          }),
          el("span", {}, t("policy.arrows")),
        ),
      ),
      moveTable(moves, this.moves[this.ply]),
    );
    if (!focused) this.board.focus();
  }

  #showBeliefs(now) {
    this.beliefs.hidden = !now.belief;
    if (!now.belief) return;
    const enemy = other(this.believer);
    const types = family().TYPES.filter((type) =>
      Object.values(now.belief[this.believer] ?? {}).some((chances) => chances[type] > 0),
    );
    const pick = (type) =>
      button(
        family().token(enemy, type, "mini"),
        () => {
          this.heat = this.heat === type ? null : type;
          this.#render();
        },
        {
          class: "chip",
          "aria-pressed": String(this.heat === type),
          "aria-label": t("belief.heat", { type: typeName(type) }),
          title: typeName(type),
        },
      );
    const focused = refill(
      this.beliefs,
      el("h2", {}, t("belief")),
      choice(
        "believer",
        t("belief.of"),
        SIDES.map((side) => [side, t(`belief.${side}`)]),
        this.believer,
        (value) => {
          this.believer = value;
          this.chosen = null;
          this.#render();
        },
      ),
      el("p", { class: "quiet" }, t("belief.types")),
      el("div", { class: "chips" }, types.map(pick)),
      ...beliefBars(
        this.boards[this.ply].find((piece) => piece.at === this.chosen),
        now.belief[this.believer],
      ),
    );
    if (!focused) this.board.focus();
  }
}
