// Before the first move: one's setup, the link for a friend, the wait for the other side.

import { busy, button, copyText, drawing, el, toast } from "./dom.js";
import { familyOf } from "./family.js";
import { t } from "./strings.js";
import { keep, recall } from "./settings.js";
import { absenceWords, rulesWords } from "./words.js";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** @param hooks give(text) hands the setup in, named() tells the name that was typed; `entry` is what this browser keeps
 *    of the game */
export function waitingRoom(sight, variant, entry, { give, named }) {
  const mine = sight.ready[sight.seat];
  const invite = entry?.friend && sight.invited ? invitation(sight.game, entry.friend) : null;
  const heading = (text) => el("h1", {}, text);
  if (sight.seat === "watch") return el("section", { class: "page" }, heading(t("wait.begin")));
  if (mine) {
    return el(
      "section",
      { class: "page waiting" },
      heading(t("wait.friend")),
      drawing("fort", "drawing emblem turning"),
      invite,
      el("p", { class: "quiet", role: "status" }, t(awaited(sight))),
    );
  }
  const { SetupEditor } = familyOf(variant.family);
  const rules = rulesWords(variant, sight.rules);
  const editor = new SetupEditor(variant, { side: sight.seat, setup: entry?.before });
  const ready = button(t("wait.done"), handIn, { class: "primary play" });
  async function handIn() {
    const done = busy(ready, t("play.preparing"));
    const setup = await editor.settled();
    done();
    if (setup && ready.isConnected) give(setup);
  }
  return el(
    "section",
    { class: "page" },
    heading(t("wait.setup", { side: t(`side.${sight.seat}`) })),
    el("p", { class: "lead" }, t("wait.setup.text", { variant: variant.title })),
    el(
      "ul",
      { class: "terms" },
      rules && el("li", {}, rules),
      el("li", {}, clockWords(sight.clock)),
      el("li", {}, t(sight.takebacks ? "takebacks.on" : "takebacks.off")),
      !sight.aids && el("li", {}, t("aids.off")),
      sight.absence && el("li", {}, t("absence.term", { time: absenceWords(sight.absence.after / 60) })),
    ),
    sight.kind === "friend" && nameField(named),
    invite,
    editor.element,
    el("div", { class: "play-bar" }, ready),
  );
}

/** A field for one's name, which this browser keeps. */
export function nameField(named = () => {}) {
  const take = ({ target }) => {
    keep("name", target.value.trim() || null);
    named();
  };
  return el(
    "label",
    { class: "field name" },
    el("span", { class: "label" }, t("name")),
    el("input", { type: "text", value: recall("name", ""), maxlength: 30, autocomplete: "nickname", onchange: take }),
  );
}

/** What is said to whoever waits. Where nothing is set up everybody is ready, and a friend has only to come. */
function awaited({ ready, invited }) {
  if (Object.values(ready).every(Boolean)) return "wait.come";
  return invited ? "wait.ready" : "wait.joined";
}

/** The clock of a game, before it begins. */
function clockWords(clock) {
  if (!clock) return t("clock.no");
  if (clock.kind !== "bronstein") return `${t("clock")}: ${t(`clock.${clock.kind}`)}. ${t(`clock.${clock.kind}.more`)}`;
  const words = [t("clock.bronstein.set", { minutes: clock.red.bank / 60, seconds: clock.free })];
  if (clock.cap !== null) words.push(t("clock.bronstein.cap", { minutes: clock.cap / 60 }));
  if (clock.whole) words.push(t("clock.bronstein.whole", { minutes: clock.whole / 60 }));
  return words.join(" ");
}

function invitation(game, { seat, invitation: token }) {
  const link = `${location.origin}/#/friend/${game}/${seat}/${token}`;
  const field = el("input", {
    type: "text",
    class: "code",
    readonly: true,
    value: link,
    "aria-label": t("wait.link"),
    onfocus: () => field.select(),
  });
  const share =
    navigator.share && button(t("share"), () => navigator.share({ title: t("title"), url: link }).catch(() => {}));
  return el(
    "div",
    { class: "invitation" },
    el("p", {}, t("wait.link.text")),
    el(
      "div",
      { class: "line" },
      field,
      button(t("copy"), async () => toast((await copyText(link)) ? t("copied") : link), { class: "primary" }),
      share,
    ),
    LOOPBACK.includes(location.hostname) && el("p", { class: "quiet" }, t("wait.loopback")),
  );
}

/** The screen between two players of one device: nothing of either army is on it. */
export function handOver(side, ready) {
  return el(
    "section",
    { class: `handover ${side}` },
    drawing("fort", "drawing emblem"),
    el("h1", {}, t("handover.title", { side: t(`Side.${side}`) })),
    el("p", { class: "lead" }, t("handover.text")),
    button(t("handover.ready", { side: t(`Side.${side}`) }), ready, { class: "primary play", autofocus: true }),
  );
}
