// Which screen is shown: the fragment of the address says it, and is never sent to the server.

import { button, drawing, el, loadDrawings, notice, say } from "./dom.js";
import { family, loadFamilies } from "./family.js";
import { openHelp, openSettings } from "./menu.js";
import { offer } from "./protocol.js";
import { apply, change, onChange, settings } from "./settings.js";
import { t } from "./strings.js";

// Those of all games; a family of games has others of its own.
const SCREENS = {
  "": () => import("./home.js"),
  game: () => import("./game.js"),
  friend: () => import("./joining.js"),
  import: () => import("./importing.js"),
};

let leave = null;
let latest = 0;

async function route() {
  const turn = ++latest;
  const parts = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  const main = document.getElementById("main");
  let screen, offered;
  try {
    offered = await offer();
    await loadFamilies(offered);
    const load = SCREENS[parts[0]] ?? family().screens[parts[0]] ?? SCREENS[""];
    screen = await load();
  } catch {
    if (turn === latest) main.replaceChildren(unreachable());
    return;
  }
  // A second click while the first screen was loading wins.
  if (turn !== latest) return;
  leave?.();
  for (const open of document.querySelectorAll("dialog")) open.close();
  main.replaceChildren();
  document.body.dataset.screen = parts[0] || "home";
  for (const link of document.querySelectorAll("#header nav a")) {
    if (link.hash === `#/${parts[0]}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  leave = screen.show(main, parts.slice(1), offered) ?? null;
  const heading = main.querySelector("h1");
  document.title = heading && parts[0] ? t("title.of", { what: heading.textContent }) : t("title");
  scrollTo(0, 0);
  if (turn > 1) {
    main.focus({ preventScroll: true });
    say(document.title);
  }
}

/** A part of the address; one that is badly written stays as it is, and leads nowhere. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function unreachable() {
  const again = button(t("offline.again"), route, { class: "primary" });
  return notice(t("offline.title"), t("offline.text"), again);
}

function frame() {
  document.getElementById("skip").textContent = t("skip");
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  });
  const theme = button("", () => change("theme", dark() ? "light" : "dark"), { class: "icon" });
  const paint = () => {
    theme.replaceChildren(drawing(dark() ? "sign-sun" : "sign-moon", "sign"));
    theme.setAttribute("aria-label", t(dark() ? "theme.to_light" : "theme.to_dark"));
    theme.title = theme.getAttribute("aria-label");
  };
  paint();
  onChange(paint);
  document.getElementById("header").append(
    el("a", { class: "brand", href: "#/", "aria-label": t("home") }, drawing("fort"), el("span", {}, t("title"))),
    el(
      "nav",
      { "aria-label": t("nav") },
      el("a", { href: "#/" }, t("nav.play")),
      el("a", { href: "#/setups" }, t("nav.setups")),
      el("a", { href: "#/puzzles" }, t("nav.puzzles")),
      el("a", { href: "#/import" }, t("nav.import")),
      el("a", { href: "#/rules" }, t("nav.rules")),
    ),
    el(
      "div",
      { class: "tools" },
      theme,
      button(drawing("sign-help", "sign"), openHelp, { class: "icon", "aria-label": t("help"), title: t("help") }),
      button(drawing("sign-gear", "sign"), openSettings, {
        class: "icon",
        "aria-label": t("settings"),
        title: t("settings"),
      }),
    ),
  );
  document.getElementById("footer").append(el("p", {}, t("footer")));
}

const dark = () => document.documentElement.dataset.theme === "dark";

apply();
loadDrawings().catch(() => {});
frame();
addEventListener("hashchange", route);
document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || !settings.commands) return;
  if (event.target.closest("input:not([type=radio]), textarea, dialog")) return;
  event.preventDefault();
  openHelp();
});
route();
