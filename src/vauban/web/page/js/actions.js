// What can be done beside moving: resign, offers, taking back; and after the end, playing again.

import { ask, button, choice, dialog, drawing, el, refill } from "./dom.js";
import { other, SIDES } from "./sides.js";
import { t } from "./strings.js";

const PACES = ["slow", "usual", "fast"];

/** Whether somebody looks on by a link, and has no part in the game. */
export const onlyLooks = ({ watching }) => watching !== null && watching.look === null;

/** Fill the row of actions; false if what had the focus in it is gone.
 *  @param hooks send(message), lookAs(eyes), share(), moved: whether one has made a move; flip() and review(), where
 *    the game can be turned round, and be looked back on */
export function fillActions(place, sight, hooks) {
  const asked = Boolean(sight.rematch?.includes(sight.seat));
  // A rematch is made when all have asked: whoever was away then asks again, and is shown the way.
  const waits = asked && sight.kind === "friend" && !sight.rematch.includes(other(sight.seat));
  const again = waits ? "rematch.wanted" : asked ? "rematch.go" : "rematch";
  const busy = Boolean(sight.offer);
  const { watching } = sight;
  const { moved } = hooks;
  const key = JSON.stringify([sight.phase, sight.takebacks, busy, moved, sight.took_back, again, watching]);
  if (place.dataset.key === key) return true;
  place.dataset.key = key;
  const action = (sign, name, run, properties = {}) =>
    button([drawing(sign, "sign"), el("span", {}, t(name))], run, { class: "action", ...properties });
  const flip = hooks.flip && action("sign-flip", "flip", hooks.flip);
  const eyes = () =>
    choice(
      "eyes",
      t("view"),
      ["all", ...SIDES].map((key) => [key, t(`view.${key}`)]),
      sight.eyes ?? "all",
      (key) => hooks.lookAs(key === "all" ? null : key),
      "segments eyes",
    );
  const looking = () => [eyes(), flip];
  const watched = () => [
    eyes(),
    choice(
      "pace",
      t("pace"),
      PACES.map((pace) => [pace, t(`pace.${pace}`)]),
      watching.pace,
      (pace) => hooks.send({ do: "pace", pace }),
      "segments eyes",
    ),
    action(
      watching.paused ? "sign-play" : "sign-pause",
      watching.paused ? "watch.resume" : "watch.pause",
      () => hooks.send({ do: "pause", paused: !watching.paused }),
      { "data-same": "pause" },
    ),
    action("sign-on", "watch.step", () => hooks.send({ do: "step" })),
    action("sign-stop", "watch.stop", () => stop(hooks.send)),
    action("sign-link", "share.link", hooks.share),
    flip,
  ];
  const playing = () => [
    action("flag", "resign", () => resign(hooks.send)),
    action("sign-draw", "draw", () => offerDraw(sight, hooks.send), { disabled: busy }),
    sight.takebacks &&
      action("sign-undo", "take_back", () => takeBack(sight, hooks.send), { disabled: !moved || busy }),
    flip,
  ];
  const over = () => [
    hooks.review && action("sign-look", "review", hooks.review, { class: "action primary" }),
    !onlyLooks(sight) && action("sign-again", again, () => rematch(sight, hooks.send), { disabled: waits }),
    flip,
    el("a", { class: "button action", href: "#/" }, drawing("sign-new", "sign"), t("new")),
  ];
  const going = !watching ? playing : onlyLooks(sight) ? looking : watched;
  const shown = sight.phase === "over" ? over() : going();
  return refill(place, ...shown.filter(Boolean));
}

/** Play again: against a machine with the same setup or another, with people they are made anew anyway. */
export async function rematch(sight, send) {
  const setup = sight.over?.setups[sight.seat];
  if (sight.kind !== "level" || !setup || sight.rematch.includes(sight.seat)) {
    send({ do: "rematch" });
    return;
  }
  const keep = await dialog(t("rematch"), (close) => [
    el("p", {}, t("rematch.setup")),
    el(
      "div",
      { class: "answers" },
      button(t("cancel"), () => close()),
      button(t("rematch.new"), () => close(false)),
      button(t("rematch.same"), () => close(true), { class: "primary", autofocus: true }),
    ),
  ]);
  if (keep !== null) send({ do: "rematch", keep });
}

async function stop(send) {
  if (await ask(t("watch.stop"), t("watch.stop.sure"), t("watch.stop"), t("cancel"), "danger")) send({ do: "stop" });
}

async function resign(send) {
  if (await ask(t("resign"), t("resign.sure"), t("resign"), t("cancel"), "danger")) send({ do: "resign" });
}

async function offerDraw(sight, send) {
  const text = t(sight.kind === "level" ? "draw.sure.machine" : "draw.sure");
  if (await ask(t("draw"), text, t("draw"), t("cancel"))) send({ do: "offer_draw" });
}

async function takeBack(sight, send) {
  const sure = sight.took_back || (await ask(t("take_back"), t("take_back.sure"), t("take_back"), t("cancel")));
  if (sure) send({ do: "take_back" });
}

/** An offer that is open: for the other side to answer, for everybody else to see. */
export function offerBox(sight, send, fought) {
  const { kind, by } = sight.offer;
  const asked = t(by === sight.seat ? `offer.${kind}.sent` : `offer.${kind}`, { name: sight.players[by] });
  const text = kind === "take_back" && fought ? `${asked} ${t("offer.take_back.fought")}` : asked;
  if (by === sight.seat || sight.seat === "watch") return el("p", { class: "offer" }, text);
  const answer = (accept) => () => send({ do: kind === "draw" ? "answer_draw" : "answer_take_back", accept });
  return el(
    "div",
    { class: "offer" },
    el("p", {}, text),
    el(
      "div",
      { class: "line" },
      button(t("decline"), answer(false)),
      button(t("accept"), answer(true), { class: "primary" }),
    ),
  );
}
