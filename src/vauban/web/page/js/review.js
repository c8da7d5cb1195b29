// Looking back on a game of any family that has boards: all of it with both armies open, and what each side believed.
// Moves of one's own can be made from every position, for both sides: an analysis board.

import { beliefBars, chances, considered, moveTable } from "./analysis.js";
import { Board } from "./board.js";
import { button, choice, copyText, download, drawing, el, notice, refill, say, toast, way } from "./dom.js";
import { endWords } from "./ending.js";
import { family, ownScreen, show as showFamily } from "./family.js";
import { Graph } from "./graph.js";
import { keepReview, keptReview } from "./kept.js";
import { listen } from "./keyboard.js";
import { branches, Tree } from "./lines.js";
import { MoveList, moveItem } from "./movelist.js";
import { playOnFrom } from "./playon.js";
import { line, lookAt, picture, record, review, Seat, whyNot } from "./protocol.js";
import { game as kept, keepGame, keepKey, keyOf, onChange, SEATS, settings } from "./settings.js";
import { other, SIDES } from "./sides.js";
import { commandWords, moveWords, squareWords } from "./speech.js";
import { rowOf } from "./squares.js";
import { Table } from "./state.js";
import { t } from "./strings.js";
import { momentWords, percent, refusal, typeName, why } from "./words.js";

const PLAY_EVERY = 800;
const LETTERS = "lospbw"; // those of `commandWords`
const LOOK_AFTER = 250; // milliseconds that one stays at a position before the network is asked about it

export function show(main, [id, secret, ply, moves], offered) {
  if (!id) {
    location.replace("#/import"); // the games that there are to look back on
    return null;
  }
  const screen = new ReviewScreen(main, id, secret, offered, Number(ply), moves ? moves.split(".") : []);
  return () => screen.close();
}

class ReviewScreen {
  constructor(main, id, secret, offered, ply, moves) {
    this.main = main;
    this.id = id;
    this.offered = offered;
    this.wanted = { ply: Number.isInteger(ply) ? ply : null, moves }; // where the address leads to
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
    clearTimeout(this.pause);
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
    if (known && !known.title && !sight.ply)
      keepGame(this.id, {
        title: t("analysis.title"),
        variant: this.offered.variants.find((each) => each.name === sight.variant).title,
        over: "unfinished",
      });
    else if (known && !known.title)
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
    const { ply: wanted, moves: own } = this.wanted;
    if (this.look)
      history.replaceState(null, "", wanted === null ? this.#address() : this.#address({ ply: wanted, moves: own }));
    this.heat = family().heat;
    this.moves = this.table.moves.slice(0, sight.ply);
    this.tree = new Tree(this.id, this.moves, family().boards(sight.pieces, this.moves), sight.turn);
    this.variant = this.offered.variants.find((each) => each.name === sight.variant);
    this.node = this.tree.game[Math.max(0, Math.min(wanted ?? 0, this.moves.length))];
    this.board = new Board(this.variant, {
      flipped: this.#turned(),
      label: t("review"),
      hooks: {
        press: (at) => this.#press(at),
        canDrag: (at) => this.#mine(this.#piece(at)),
        dragStart: (at) => this.#choose(at),
        drop: (from, to) => this.#try(from, to),
        label: (at) => this.#label(at),
      },
      stepping: true,
    });
    this.typed = el("output", { class: "typed", "aria-label": t("typed") });
    this.scrubber = el("input", {
      type: "range",
      min: 0,
      "aria-label": t("review.ply"),
      oninput: (event) => this.go(this.line[Number(event.target.value)]),
    });
    this.caption = el("p", { class: "caption" });
    this.wdl = el("div", { class: "wdl" });
    this.graph = el("div", { class: "graph-place" });
    this.policy = el("section", { class: "box" });
    this.beliefs = el("section", { class: "box" });
    this.moments = el("section", { class: "box" });
    this.list = new MoveList((ply) => this.go(this.tree.trunk()[ply]));
    this.own = el("div", { class: "line own-line" });
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
            el("h1", {}, this.moves.length ? `${sight.players.red} – ${sight.players.blue}` : t("analysis.title")),
            el("p", { class: "quiet" }, this.moves.length ? endWords(sight) : this.variant.title),
          ),
          el("div", { class: "review-place" }, this.board.element, this.typed),
          this.caption,
          el(
            "div",
            { class: "transport" },
            step("sign-first", "review.first", () => this.tree.root),
            step("sign-back", "review.back", () => this.node.parent),
            this.start,
            step("sign-on", "review.on", () => this.line[this.node.ply + 1]),
            step("sign-last", "review.last", () => this.line.at(-1)),
            this.scrubber,
            this.look && button([drawing("sign-new", "sign"), t("play_on")], () => this.#playOn()),
          ),
        ),
        this.graph,
        el("section", { class: "box review-moves" }, el("h2", {}, t("moves")), this.list.element, this.own),
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
      const { node, line } = this;
      const targets = { ArrowLeft: node.parent, ArrowRight: line[node.ply + 1], Home: line[0], End: line.at(-1) };
      if (!Object.hasOwn(targets, event.key)) return;
      event.preventDefault();
      this.go(targets[event.key]);
    };
    document.addEventListener("keydown", keys);
    this.cleanups.push(
      () => document.removeEventListener("keydown", keys),
      listen(this.variant.columns, {
        move: (from, to) => this.#try(from, to),
        command: (letter) => this.#command(letter),
        cancel: () => this.#choose(null),
        typed: (text) => {
          this.typed.textContent = text;
        },
      }),
    );
    this.#changed();
    this.#render();
    if (own.length) this.#follow(own);
  }

  /** The nodes of the line that is looked at, by ply. */
  get line() {
    return this.tree.line(this.node);
  }

  /** The address of this screen, at a place of the game or of a line. */
  #address(place = null) {
    const at = place && [place.ply, ...(place.moves.length ? [place.moves.join(".")] : [])];
    return [ownScreen("review", this.id), this.look, ...(at ?? [])].join("/");
  }

  /** The position that a question to the server is about: {game, secret, ply, moves}. */
  #place(node = this.node) {
    return { game: this.id, secret: this.look, ...this.tree.place(node) };
  }

  #playOn() {
    const side = kept(this.id)?.seats.blue ? "blue" : "red";
    const { level } = kept(this.id) ?? {};
    playOnFrom({ ...this.#place(), at: this.node.ply, side, level }, this.variant, this.offered);
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
          const link = `${location.origin}/${this.#address(this.tree.place(this.node))}`;
          toast((await copyText(link)) ? t("copied") : link);
        }),
      ),
      button(
        t("share.text"),
        attempt(async () => {
          const own = this.node.key !== null;
          download(`${name}.txt`, await record(this.id, this.look, own ? this.tree.place(this.node) : null));
        }),
      ),
      button(
        t("share.picture"),
        attempt(async () =>
          download(`${name}-${this.node.ply}.svg`, await picture(this.#place(), seat()), "image/svg+xml"),
        ),
      ),
      button(
        t("analysis.edit"),
        attempt(async () => {
          const { text } = await this.#told(this.node);
          location.hash = `#/analysis/${[this.variant.name, text].map(encodeURIComponent).join("/")}`;
        }),
      ),
    ];
  }

  async #load() {
    if (!this.moves.length) {
      this.graph.replaceChildren(el("p", { class: "quiet" }, t("analysis.hint")));
      this.alone = true;
      this.#look();
      return;
    }
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
      this.alone = true;
      this.#look();
      return;
    }
    if (this.abort.signal.aborted) return;
    if (!this.offered.offline) this.#keep();
    const { plies, moments, model, unsearched = [], most_plies: longest = null } = this.review;
    const valued = plies.some(({ values }) => values && SIDES.some((side) => typeof values[side] === "number"));
    this.alone = longest !== null;
    this.curve = valued ? new Graph(plies, moments, (ply) => this.go(this.tree.game[ply])) : null;
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
                  () => this.go(this.tree.game[moment.ply]),
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

  /** Go to a position of the game or of a line, once its pieces are known. */
  async go(target) {
    if (!target || target === this.node) return;
    this.heading = target;
    try {
      if (!target.pieces) await this.#told(target);
    } catch (error) {
      toast(error.message || t("offline.text"));
      return;
    }
    // The answer is too late if another position has been chosen meanwhile.
    if (this.heading !== target || this.abort.signal.aborted) return;
    const { pieces: before } = this.node;
    const step = target.parent === this.node ? target.move : null;
    // The chosen piece is followed to where it goes, and let go when it falls.
    const id = this.chosen && before.find((piece) => piece.at === this.chosen)?.id;
    this.node = target;
    this.tree.visit(target);
    this.chosen = (id && target.pieces.find((piece) => piece.id === id)?.at) || null;
    this.reason = null;
    this.#render(family().fallen(before, step));
    this.#look();
    if (step) say([moveWords(step, "watch"), this.#ended()].filter(Boolean).join(" "));
  }

  // ── Moves of one's own ────────────────────────────────────────────────────────────────────────

  /** What the server says of a position: where pieces stand, and where those on turn may go. */
  async #told(node) {
    node.coming ??= line(this.#place(node)).finally(() => {
      node.coming = null;
    });
    node.told ??= await node.coming;
    node.pieces ??= node.told.pieces.map((piece) => ({ ...piece, id: piece.from }));
    return node.told;
  }

  #piece(at) {
    return this.node.pieces.find((piece) => piece.at === at);
  }

  /** Whether there is a server to say what may be played. */
  get #answers() {
    return Boolean(this.look) && !this.offered.offline;
  }

  /** Whether a piece may be moved: it is its side's turn. */
  #mine(piece) {
    return this.#answers && Boolean(piece) && piece.side === this.tree.turn(this.node) && !this.node.told?.over;
  }

  /** Where the chosen piece can go, each with its move; nothing where that is not known (yet). */
  get reach() {
    return (this.chosen && this.node.told?.reach?.[this.chosen]) || {};
  }

  #press(at) {
    if (at === this.chosen) this.#choose(null);
    else if (this.chosen && at in this.reach) this.#try(this.chosen, at);
    else if (this.#piece(at) || !this.#mine(this.#piece(this.chosen))) this.#choose(at);
    else this.#try(this.chosen, at);
  }

  /** Make a move, or say why it cannot be made. */
  async #try(from, to) {
    if (!this.#answers) return;
    const here = this.node;
    try {
      const { reach, over } = await this.#told(here);
      if (over) throw new Error(t("why.nothing"));
      const key = reach[from]?.[to];
      const there = this.tree.after(here, { from, to });
      if (there) {
        this.go(there);
      } else if (key) {
        this.board.lead(from, to);
        const place = this.#place(here);
        const told = await line({ ...place, moves: [...place.moves, key] });
        const made = this.tree.grow(here, told.moves.at(-1), key);
        made.told = told;
        this.#changed();
        if (this.node !== here) return;
        this.chosen = null;
        await this.go(made);
      } else {
        this.#explain(why(await whyNot(this.#place(here), from + to)));
      }
    } catch (error) {
      this.#explain(error.message || t("offline.text"));
    }
  }

  #explain(reason) {
    this.reason = reason;
    this.chosen = null;
    this.#render();
    say(reason);
  }

  /** Show a line that somebody has sent. */
  async #follow(moves) {
    const base = this.node;
    try {
      const told = await line({ ...this.#place(base), moves });
      let at = base;
      for (const [i, move] of told.moves.entries()) at = this.tree.after(at, move) ?? this.tree.grow(at, move, moves[i]);
      this.#changed();
      await this.go(at);
    } catch (error) {
      toast(error.message || t("offline.text"));
    }
  }

  /** Lines have come or gone. */
  #changed() {
    const trunk = this.tree.trunk();
    this.items = new Map();
    const item = (node) => {
      this.items.set(node, moveItem(node.move, () => this.go(node)));
      return this.items.get(node);
    };
    this.list.set(trunk.slice(1).map(({ move }) => move), 0);
    this.list.setLines(branches(trunk, item));
  }

  #remove() {
    const { node } = this;
    const { parent } = node;
    this.tree.remove(node);
    this.#changed();
    this.go(parent);
    this.board.focus();
  }

  #ended() {
    const over = this.node.told?.over;
    return over && endWords({ over, seat: "watch" });
  }

  /** What stands below the moves: whose they are. */
  #showOwn() {
    const { node } = this;
    const base = this.tree.base(node);
    const words =
      node === base ? t("analysis.invite") : base.ply ? t("analysis.own", { ply: base.ply }) : t("analysis.own.start");
    this.own.hidden = !this.#answers;
    const focused = refill(
      this.own,
      el("p", { class: "quiet" }, words),
      ...(node === base
        ? []
        : [
            ...(this.moves.length ? [button(t("analysis.back"), () => this.go(base), { class: "small" })] : []),
            button(t("analysis.remove"), () => this.#remove(), { class: "small" }),
          ]),
    );
    if (!focused) this.board.focus();
  }

  /** What a letter asks for, which the server counts. */
  #command(letter) {
    if (!settings.commands || !this.#answers || !LETTERS.includes(letter)) return false;
    const { node } = this;
    const tell = (told) => {
      const sight = { ...told, seat: "watch", last: node.move };
      const row = rowOf(this.board.cursor);
      const words = commandWords(letter, { sight, pieces: node.pieces, row, variant: this.variant });
      if (words) say(words);
    };
    this.#told(node).then(tell, (error) => toast(error.message || t("offline.text")));
    return true;
  }

  // ── What the network says of them ─────────────────────────────────────────────────────────────

  /** What is said of a position: in the look back, or to whoever asked about it alone. */
  #said(node) {
    return node.said ?? (node.key === null ? this.review?.plies[node.ply] : undefined);
  }

  /** Whether a position has to be asked about. */
  #lacks(node) {
    return this.#answers && (node.key !== null || this.alone) && !node.said && !node.failed;
  }

  /** Ask about the position, if nothing is said of it and one stays there; one question at a time. */
  #look() {
    clearTimeout(this.pause);
    const { node } = this;
    if (!this.#lacks(node) || this.looking || this.abort.signal.aborted) return;
    this.pause = setTimeout(() => this.#ask(node), LOOK_AFTER);
  }

  async #ask(node) {
    this.looking = node;
    try {
      node.said = await lookAt(this.#place(node), this.abort.signal);
    } catch (error) {
      node.failed = error.message || t("offline.text");
    }
    this.looking = null;
    if (this.abort.signal.aborted) return;
    this.#render();
    this.#look();
  }

  #play() {
    if (this.playing) {
      clearInterval(this.playing);
      this.playing = null;
    } else {
      if (this.node === this.line.at(-1)) this.go(this.tree.root);
      this.playing = setInterval(() => {
        const next = this.line[this.node.ply + 1];
        if (next) this.go(next);
        else this.#play();
      }, PLAY_EVERY);
    }
    this.start.replaceChildren(drawing(this.playing ? "sign-pause" : "sign-play", "sign"));
    this.start.setAttribute("aria-label", t(this.playing ? "review.pause" : "review.play"));
  }

  /** Choose a piece, to see what it was taken for and, if it is its side's turn, where it can go. */
  #choose(at) {
    const piece = this.#piece(at);
    this.chosen = piece ? at : null;
    this.reason = null;
    if (this.chosen) {
      this.believer = other(piece.side);
      this.heat = family().heat;
    }
    this.#render();
    if (!this.chosen) return;
    // What is believed of the piece may be far below the board.
    if (this.#mine(piece)) this.#aim();
    else this.beliefs.scrollIntoView({ block: "nearest" });
  }

  /** Show where the chosen piece can go, once that is known. */
  async #aim() {
    const { node, chosen } = this;
    try {
      await this.#told(node);
    } catch (error) {
      toast(error.message || t("offline.text"));
      return;
    }
    if (this.node !== node || this.chosen !== chosen) return;
    this.#render();
    const targets = Object.keys(this.reach).join(", ");
    if (targets) say(t("picked.targets", { piece: squareWords(chosen, this.#square(chosen)), targets }));
  }

  // ── Showing ───────────────────────────────────────────────────────────────────────────────────

  #hides(piece) {
    return this.view !== "all" && piece.side !== this.view && !piece.revealed;
  }

  #label(at) {
    const extra = [at === this.chosen && t("picked"), at in this.reach && t("target"), this.#taken(at)];
    return squareWords(at, { ...this.#square(at), extra });
  }

  #square(at) {
    const piece = this.#piece(at);
    return {
      piece: piece && (this.#hides(piece) ? { ...piece, type: null } : piece),
      lake: this.variant.lakes?.includes(at),
      gate: this.variant.gates?.[at],
      seat: "watch",
    };
  }

  /** For the ear, what the map shows of a square. */
  #taken(at) {
    const share = this.#heatMap(this.#said(this.node))?.[at];
    return share !== undefined && t("belief.spoken", { type: typeName(this.heat), share: percent(share) });
  }

  #render(dead = []) {
    const { node } = this;
    const now = this.#said(node);
    const { move: last } = node;
    this.board.setPieces(
      node.pieces.map((piece) => ({
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
      target: Object.keys(this.reach).filter((at) => !this.#piece(at)),
      strike: Object.keys(this.reach).filter((at) => this.#piece(at)),
    });
    this.board.setHeat(this.#heatMap(now));
    this.board.setArrows(
      this.arrows && now?.policy
        ? now.policy.map(({ from, to, p }) => ({ from, to, weight: p / now.policy[0].p, kind: now.turn })).reverse()
        : [],
    );
    const all = this.line.length - 1;
    this.scrubber.max = all;
    this.scrubber.value = node.ply;
    this.scrubber.setAttribute("aria-valuetext", t("review.at", { ply: node.ply, all }));
    const words = last ? `${node.ply}. ${moveWords(last, "watch")}` : t("review.start");
    this.caption.textContent = this.reason ?? [words, this.#ended()].filter(Boolean).join(" ");
    if (this.list.numbering !== settings.numbering) this.#changed();
    this.list.mark(this.items.get(node) ?? this.list.items[node.ply - 1]);
    this.#showOwn();
    this.curve?.set(this.tree.base(node).ply);
    // What was said of the last position stays, pale, until there is something to say of this one.
    const waits = !now && this.#lacks(node);
    for (const place of [this.wdl, this.policy, this.beliefs]) place.inert = waits;
    if (waits) {
      if (this.policy.childElementCount || this.#counts) return;
      this.policy.append(el("p", { class: "quiet" }, t("analysis.reading")));
      return;
    }
    this.wdl.replaceChildren(...chances(now?.wdl));
    this.#showPolicy(now);
    this.#showBeliefs(now);
  }

  /** Whether no network reads this game, which has been said already. */
  get #counts() {
    return Boolean(this.review) && !this.review.model && !this.alone;
  }

  #heatMap(now) {
    const belief = now?.belief?.[this.believer];
    if (!this.heat || !belief) return null;
    return Object.fromEntries(Object.entries(belief).map(([at, chances]) => [at, chances[this.heat] ?? 0]));
  }

  #showPolicy(now) {
    const none = this.node.said && !now.model && !this.#counts && t("review.no_model");
    const words = now ? none : this.node.failed;
    if (words) {
      this.policy.hidden = false;
      if (!refill(this.policy, el("p", { class: "quiet" }, words))) this.board.focus();
      return;
    }
    const moves = considered(now ?? {});
    this.policy.hidden = !moves.length;
    if (!moves.length) return;
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
      moveTable(moves, this.line[this.node.ply + 1]?.move),
    );
    if (!focused) this.board.focus();
  }

  #showBeliefs(now) {
    this.beliefs.hidden = !now?.belief;
    if (!now?.belief) return;
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
        this.#piece(this.chosen),
        now.belief[this.believer],
      ),
    );
    if (!focused) this.board.focus();
  }
}
