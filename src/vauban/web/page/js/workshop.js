// Setups without a game: make them, name them, share them.

import { choice, el } from "./dom.js";
import { family } from "./family.js";
import { t } from "./strings.js";

export function show(main, [name], offered) {
  const variants = offered.variants.filter(({ setups }) => setups);
  const place = el("div");
  const open = (variant) => {
    place.replaceChildren(new (family().SetupEditor)(variant).element);
    place.querySelector("details").open = true;
  };
  const first = variants.find((variant) => variant.name === name) ?? variants[0];
  main.append(
    el(
      "section",
      { class: "page workshop" },
      el("h1", {}, t("nav.setups")),
      el("p", { class: "lead" }, t("setups.lead")),
      choice(
        "variant",
        t("variant"),
        variants.map((each) => [each.name, each.title]),
        first.name,
        (chosen) => open(variants.find((each) => each.name === chosen)),
      ),
      place,
    ),
  );
  open(first);
}
