// Playing on from a position of a finished game, against a level.

import { button, choice, dialog, el, toast } from "./dom.js";
import { playersOf } from "./levels.js";
import { playOn } from "./protocol.js";
import { addressOf, keepGame } from "./settings.js";
import { SIDES } from "./sides.js";
import { t } from "./strings.js";

/** Ask how, make the game, and go there. @param from {game, secret, ply, moves, at, side, level}: `moves` of one's own after
 *  a ply of the game lead to the ply `at`; the last two are proposed */
export async function playOnFrom(from, variant, { levels }) {
  const fitting = playersOf(levels, variant.name).filter(({ program }) => !program); // it plays from the beginning only
  const proposed = fitting.find(({ key }) => key === from.level) ?? fitting[Math.floor((fitting.length - 1) / 2)];
  const wish = { side: from.side, level: proposed.key, pieces: "true" };
  const set = (name) => (value) => {
    wish[name] = value;
  };
  const sure = await dialog(
    t("play_on"),
    (close) => [
      el("p", {}, t("play_on.text", { ply: from.at })),
      choice(
        "play-on-side",
        t("side"),
        SIDES.map((side) => [side, t(`view.${side}`)]),
        wish.side,
        set("side"),
      ),
      el(
        "label",
        { class: "field" },
        el("span", { class: "label" }, t("level")),
        el(
          "select",
          { onchange: (event) => set("level")(event.target.value) },
          fitting.map(({ key, name }) => el("option", { value: key, selected: key === wish.level }, name)),
        ),
      ),
      choice(
        "play-on-pieces",
        t("play_on.pieces"),
        ["true", "drawn"].map((key) => [key, t(`play_on.${key}`), t(`play_on.${key}.more`)]),
        wish.pieces,
        set("pieces"),
        "stack",
      ),
      el(
        "div",
        { class: "answers" },
        button(t("cancel"), () => close()),
        button(t("play"), () => close(true), { class: "primary", autofocus: true }),
      ),
    ],
    "play-on",
  );
  if (!sure) return;
  const done = toast(t("play.preparing"), { seconds: 60 });
  try {
    const { game, seats } = await playOn(from.game, { secret: from.secret, ply: from.ply, moves: from.moves, ...wish });
    const { name } = fitting.find(({ key }) => key === wish.level);
    keepGame(game, { seats, kind: "level", level: wish.level, variant: variant.title, family: variant.family, title: name });
    location.hash = addressOf(game, Object.keys(seats)[0]);
  } catch (error) {
    toast(error.message || t("offline.text"));
  } finally {
    done();
  }
}
