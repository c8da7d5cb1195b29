// What is left when the server cannot be reached: the rules of the games are with the server, and so are all opponents.

import { button, el } from "./dom.js";
import { ownScreen, screenAddress, screensInHead } from "./family.js";
import { dateWords, t } from "./strings.js";
import { keptReviews } from "./kept.js";

export function show(main) {
  const item = (href, text, more) => el("li", {}, el("a", { href }, text), more && el("span", { class: "quiet" }, ` ${more}`));
  const reviews = keptReviews();
  main.append(
    el(
      "section",
      { class: "page offline" },
      el("h1", {}, t("offline.title")),
      el("p", { class: "lead" }, t("offline.away")),
      button(t("offline.again"), () => location.reload(), { class: "primary" }),
      el("h2", {}, t("offline.works")),
      el(
        "ul",
        {},
        [...screensInHead(), "learn"].map((screen) => item(ownScreen(screen), t(`offline.${screen}`))),
      ),
      reviews.length && el("h2", {}, t("offline.reviews")),
      reviews.length &&
        el(
          "ul",
          {},
          reviews.map(({ id, family, title, at }) => item(screenAddress(family, "review", id), title, dateWords(at))),
        ),
      el("p", { class: "quiet" }, t("offline.not")),
    ),
  );
}
