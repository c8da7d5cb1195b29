// Looking back on a recorded game from elsewhere, and on one's own.

import { button, el, toast } from "./dom.js";
import { screenAddress } from "./family.js";
import { gameList } from "./games.js";
import { importGame } from "./protocol.js";
import { games, keepGame } from "./settings.js";
import { t } from "./strings.js";

const MOST_BYTES = 200_000;

export function show(main) {
  const error = el("p", { class: "error", role: "alert" });
  const area = el("textarea", { rows: 8, class: "code", spellcheck: "false", "aria-label": t("import.text") });
  const open = async () => {
    error.textContent = "";
    try {
      const { game, seats, games: found, family } = await importGame(area.value);
      keepGame(game, { seats, kind: "import", family });
      location.hash = screenAddress(family, "review", game);
      if (found > 1) toast(t("import.first", { games: found }));
    } catch (refused) {
      error.textContent =
        refused.code === "offline" ? t("offline.text") : t("import.refused", { detail: refused.message });
    }
  };
  const file = el("input", {
    type: "file",
    accept: ".txt,.xml,.stg,.log,.pgn,text/plain",
    "aria-label": t("import.file"),
    onchange: async () => {
      const [chosen] = file.files;
      if (!chosen) return;
      if (chosen.size > MOST_BYTES) {
        error.textContent = t("import.large");
        return;
      }
      area.value = await chosen.text();
      open();
    },
  });
  main.append(
    el(
      "section",
      { class: "page" },
      el("h1", {}, t("nav.import")),
      el("p", { class: "lead" }, t("import.lead")),
      el("label", { class: "field" }, el("span", { class: "label" }, t("import.file")), file),
      el("label", { class: "field" }, el("span", { class: "label" }, t("import.text")), area),
      error,
      el(
        "div",
        { class: "answers start" },
        button(t("import.open"), open, { class: "primary" }),
        el("a", { class: "button", href: "#/analysis" }, t("analysis.begin")),
      ),
      gameList(t("list.all"), games()),
    ),
  );
}
