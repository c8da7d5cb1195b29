// The rules of Ambush.

import { el } from "/static/js/dom.js";
import { t } from "/static/js/strings.js";

export function show(main, _, offered) {
  const words = [t("ambush.rules"), ...offered.variants.map(({ rules }) => rules)];
  main.append(el("article", { class: "page" }, el("h1", {}, t("nav.rules")), words.map((each) => el("p", {}, each))));
}
