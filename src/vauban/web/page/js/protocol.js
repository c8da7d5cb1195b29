// Talking to the server: REST for what is asked once, a WebSocket for a seat at a table.

import { browserName } from "./settings.js";
import { refusal } from "./words.js";

/** What the server refused, in words; none if it could not be asked. */
class Refused extends Error {
  constructor(told) {
    super(refusal(told));
    this.code = told.code;
  }
}

/** A secret travels in a header: addresses are written into logs on the way. */
async function request(path, { body, secret, signal } = {}) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (secret !== undefined) headers["Vauban-Secret"] = secret;
  const method = body === undefined ? "GET" : "POST";
  let answer;
  try {
    answer = await fetch(path, { method, headers, signal, body: body && JSON.stringify(body) });
  } catch {
    throw new Refused({ code: "offline", text: "" });
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => null);
  throw new Refused(told?.error ?? { code: String(answer.status), text: answer.statusText });
}

const json = async (path, body) => (await request(path, { body })).json();

/** Families, variants, levels, clocks and languages. */
export const offer = () => json("/api/offer");

export const drawSetup = async (variant, kind) => (await json("/api/setups", { variant, kind })).setup;
export const checkSetup = (variant, setup) => json("/api/setups/check", { variant, setup });
export const startGame = (wishes) => json("/api/games", wishes);
export const joinGame = (game, invitation, secret) =>
  json(`/api/games/${encodeURIComponent(game)}/join`, { invitation, secret });
export const playOn = (game, wishes) => json(`/api/games/${encodeURIComponent(game)}/play-on`, wishes);
export const importGame = (text) => json("/api/import", { text });

const path = (id, what) => `/api/games/${encodeURIComponent(id)}/${what}`;
export const record = async (id, secret, place = null) =>
  (await request(path(id, "record") + (place ? query(place) : ""), { secret })).text();
export const picture = async ({ game, secret, ...place }, seat) =>
  (await request(path(game, "picture.svg") + query(place, seat ? { seat } : {}), { secret })).text();

// Positions of a finished game and of lines that leave it: {game, secret, ply, moves}.

const query = ({ ply, moves }, more = {}) =>
  `?${new URLSearchParams({ ply, ...(moves.length ? { moves: moves.join(".") } : {}), ...more })}`;
const asked = async ({ game, secret, ...place }, what, more, signal) =>
  (await request(path(game, what) + query(place, more), { secret, signal })).json();

/** A position: where its pieces stand, and where those on turn may go. */
export const line = (place) => asked(place, "line");
/** Why a move cannot be played there. */
export const whyNot = (place, move) => asked(place, "line/why", { move });
/** What the network foresees, considers and believes there. */
export const lookAt = (place, signal) => asked(place, "line/look", {}, signal);

/** A position that somebody puts together: {text, turn, pieces}, of {text}, of {pieces, turn}, or of {setup, side}. */
export async function readPosition(variant, given) {
  const told = await json("/api/positions", { variant, ...given });
  if (told.wrong) throw new Refused(told.wrong);
  return told;
}
export const analyse = (variant, text) => json("/api/analysis", { variant, text });

/** The review of a finished game; `progress(0…1)` while it is being made. Stops when `signal` is aborted. */
export async function review(id, secret, progress, signal) {
  for (;;) {
    const answer = await request(path(id, "review"), { secret });
    const told = await answer.json();
    if (answer.status !== 202) return told;
    progress(told.progress);
    await new Promise((resolve) => setTimeout(resolve, 500));
    if (signal.aborted) throw new Refused({ code: "aborted", text: "" });
  }
}

// ── A seat ──────────────────────────────────────────────────────────────────────────────────────

const FIRST_WAIT = 400,
  LONGEST_WAIT = 10_000,
  PING_EVERY = 20_000,
  PONG_WITHIN = 8_000;

/** A seat at a table: stays connected as long as it is wanted, and says what the server says. */
export class Seat {
  /** @param hooks message(told), state("open" | "lost"), have(): how many moves are known */
  constructor({ game, seat, secret, eyes = null }, hooks) {
    this.place = { game, seat, secret, eyes, browser: browserName() };
    this.hooks = hooks;
    this.wait = FIRST_WAIT;
    this.number = 0;
    this.closed = false;
    this.#connect();
    this.awake = () => {
      if (!document.hidden) this.#hurry();
    };
    addEventListener("online", this.awake);
    document.addEventListener("visibilitychange", this.awake);
  }

  /** Send something; false if there is no connection just now. */
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({ ...message, n: ++this.number }));
    return true;
  }

  /** Ask anew for the sight, and for the moves that are missing. */
  sit() {
    this.send({ do: "sit", ...this.place, have: this.hooks.have() });
  }

  /** Whoever watches may look on with the eyes of a side; null: with all pieces open. */
  lookAs(eyes) {
    this.place.eyes = eyes;
    this.sit();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    clearInterval(this.pings);
    clearTimeout(this.doubt);
    removeEventListener("online", this.awake);
    document.removeEventListener("visibilitychange", this.awake);
    this.socket?.close();
  }

  #connect() {
    // The game is named for a proxy before several servers, which has to know whose it is.
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws/${this.place.game}`);
    this.socket = socket;
    socket.addEventListener("open", () => {
      this.sit();
      clearInterval(this.pings);
      this.pings = setInterval(() => this.#ping(), PING_EVERY);
    });
    socket.addEventListener("message", (event) => {
      clearTimeout(this.doubt);
      const told = JSON.parse(event.data);
      if (told.say === "sight") {
        this.wait = FIRST_WAIT;
        this.hooks.state("open");
      }
      if (told.say !== "pong") this.hooks.message(told);
    });
    socket.addEventListener("close", () => {
      this.#lose(socket);
    });
  }

  /** A socket is closed, or as good as. */
  #lose(socket) {
    if (this.closed || socket !== this.socket) return;
    this.socket = null;
    clearInterval(this.pings);
    clearTimeout(this.doubt);
    socket.close();
    this.hooks.state("lost");
    // Spread out, so that a restarted server is not met by everyone at the same moment.
    this.timer = setTimeout(() => this.#connect(), this.wait * (0.75 + 0.5 * Math.random()));
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }

  #ping() {
    this.send({ do: "ping" });
    // A phone that changed networks keeps a dead socket open for minutes, and takes another one to close it.
    const { socket } = this;
    clearTimeout(this.doubt);
    this.doubt = setTimeout(() => this.#lose(socket), PONG_WITHIN);
  }

  #hurry() {
    if (this.closed) return;
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.#ping();
    } else if (this.socket === null) {
      clearTimeout(this.timer);
      this.wait = FIRST_WAIT;
      this.#connect();
    }
  }
}
