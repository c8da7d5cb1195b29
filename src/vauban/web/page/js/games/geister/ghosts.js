// The ghosts: what they are called, and how they look. Good ones have a halo, a smile and a round hem; evil ones have
// horns, teeth and a torn hem, and are dark. One whose colour is hidden has two eyes and nothing else.

import { svg } from "../../dom.js";
import { has, t } from "../../strings.js";
import { typeName } from "../../words.js";

export const TYPES = ["good", "evil"];

export const short = (type) => (has(`short.${type}`) ? t(`short.${type}`) : type);

/** "your good ghost C", "enemy ghost d": the letter is that of the square from which it started, a capital for red. */
export function called({ type, letter = "", side }, owner) {
  const name = side === "blue" ? letter.toLowerCase() : letter;
  return t("ghost.called", { owner, type: typeName(type ?? "ghost"), name }).trim();
}

/** "red's evil ghost A", for a look back; "blue's ghost c" where its colour is told otherwise. */
export const told = (ghost) => called(ghost, t("ghost.owner", { side: t(`side.${ghost.side}`) }));

// Red ghosts have round heads, blue ones flat ones.
const BODIES = { red: "M8 40V23C8 13 15 7 24 7s16 6 16 16v17", blue: "M8 40V16c0-5 4-8 9-8h14c5 0 9 3 9 8v24" };
const ROUND = "a2.67 3.6 0 0 1-5.34 0a2.67 3.6 0 0 1-5.33 0a2.67 3.6 0 0 1-5.33 0a2.67 3.6 0 0 1-5.33 0a2.67 3.6 0 0 1-5.33 0a2.67 3.6 0 0 1-5.34 0Z";
const TORN = "l-2.5 5-5-6-4 6-4.5-5-4.5 5-4-6-5 6Z";

const path = (kind, d) => svg("path", { class: kind, d });
const eye = (cx, rx = 2.3, ry = 2.9) => svg("ellipse", { class: "ghost-mark", cx, cy: 21, rx, ry });

const FIGURES = {
  good: (body) => [
    path("ghost-body pale", body + ROUND),
    svg("ellipse", { class: "ghost-line", cx: 24, cy: 4.6, rx: 7.5, ry: 2.6 }),
    eye(18),
    eye(30),
    path("ghost-line", "M17 28.5q7 6.5 14 0"),
  ],
  evil: (body) => [
    path("ghost-body", "M12 15 7.5 2.5 20 8.5M36 15 40.5 2.5 28 8.5"),
    path("ghost-body", body + TORN),
    path("ghost-mark", "M12.5 16.5 22 21l-2.2 3.6-4.6-.7ZM35.5 16.5 26 21l2.2 3.6 4.6-.7Z"),
    path("ghost-line", "M14 30.5l3.3 3.6 3.4-3.6 3.3 3.6 3.3-3.6 3.4 3.6 3.3-3.6"),
  ],
  hidden: (body) => [path("ghost-body", body + ROUND), eye(18, 3, 4.4), eye(30, 3, 4.4)],
};

/** A ghost as a picture; `type` null is hidden, and `kind` its class. One that is gone is crossed out. */
export function token(side, type, kind = "token") {
  return svg(
    "svg",
    { class: `${kind} ${side} ghost ${type ?? "hidden"}`, viewBox: "0 0 48 48", "aria-hidden": "true" },
    FIGURES[type ?? "hidden"](BODIES[side]),
    kind.includes("caught") && path("ghost-cross", "M6 44 42 6"),
  );
}
