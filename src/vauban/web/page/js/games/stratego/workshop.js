// Setups without a game: make them, name them, share them.

import { choice, el } from "../../dom.js";
import { t } from "../../strings.js";
import { SetupEditor } from "./setup.js";

export function show(main, [name], offered) {
  const place = el("div");
  const open = (variant) => {
    place.replaceChildren(new SetupEditor(variant).element);
    place.querySelector("details").open = true;
  };
  const first = offered.variants.find((variant) => variant.name === name) ?? offered.variants[0];
  main.append(
    el(
      "section",
      { class: "page workshop" },
      el("h1", {}, t("nav.setups")),
      el("p", { class: "lead" }, t("setups.lead")),
      choice(
        "variant",
        t("variant"),
        offered.variants.map((each) => [each.name, each.title]),
        first.name,
        (chosen) => open(offered.variants.find((each) => each.name === chosen)),
      ),
      place,
    ),
  );
  open(first);
}
