// Setups without a game: make them, name them, share them, and see what games say about them.

import { choice, el } from "./dom.js";
import { exampleOf, explorer } from "./explorer.js";
import { family, ownScreen } from "./family.js";
import { savedSetups } from "./settings.js";
import { t } from "./strings.js";

export function show(main, [name], offered) {
  const variants = offered.variants.filter(({ setups }) => setups);
  const place = el("div", { class: "workshop-parts" });
  let latest = null;
  const open = async (variant) => {
    latest = variant;
    const setup = offered.offline ? await beginning(variant) : null;
    if (latest !== variant) return;
    const editor = new (family().SetupEditor)(variant, { setup });
    place.replaceChildren(
      editor.element,
      explorer(variant, variants, (setup) => {
        editor.put(setup);
        editor.element.scrollIntoView({ block: "start" });
      }),
    );
    for (const details of editor.element.querySelectorAll("details")) details.open = true;
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
        (chosen) => {
          // A link to the game that was named first leads back to it.
          history.replaceState(null, "", ownScreen("setups", chosen));
          open(variants.find((each) => each.name === chosen));
        },
      ),
      place,
    ),
  );
  open(first);
}

/** A setup to begin with where the server cannot be asked for one: a saved one, or one of the network. */
const beginning = async (variant) => savedSetups(variant.name)[0]?.setup ?? (await exampleOf(variant));
