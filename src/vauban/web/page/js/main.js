// Which screen is shown: the fragment of the address says it, and is never sent to the server.

import { button, drawing, el, loadDrawings, notice, say, toast } from "./dom.js";
import { loadFamilies, onFamily, ownScreen, screenAt, screensInHead, show as showFamily } from "./family.js";
import { openHelp, openSettings } from "./menu.js";
import { offer } from "./protocol.js";
import { apply, change, keep, onChange, recall, settings } from "./settings.js";
import { loadLanguage, t } from "./strings.js";
import { wordedOffer } from "./words.js";

// Those of all games; a family of games has others of its own.
const SCREENS = {
  "": () => import("./home.js"),
  game: () => import("./game.js"),
  friend: () => import("./joining.js"),
  import: () => import("./importing.js"),
  analysis: () => import("./analysing.js"),
};

// Those that need no server, or do with what this browser has kept (offline.js).
const ALONE = ["setups", "puzzles", "learn", "rules", "review"];

let leave = null;
let latest = 0;
let prepared = null;
let paintTheme = null;

/** What is offered, once language and families are here: asked for until it has been answered. */
function prepare() {
  prepared ??= fetchAll().catch((error) => {
    prepared = null;
    throw error;
  });
  return prepared;
}

/** What the server offers or, where it cannot be reached, what it offered last: then `offline` is true. */
async function offerOrKept() {
  try {
    const offered = await offer();
    keep("offer", offered);
    return offered;
  } catch (error) {
    const kept = recall("offer", null);
    if (error.code !== "offline" || !kept) throw error;
    return { ...kept, offline: true };
  }
}

async function fetchAll() {
  const offered = await offerOrKept();
  keep("languages", offered.languages);
  await loadLanguage(offered.languages);
  const said = await loadFamilies(offered.families);
  // A server that has ended meanwhile breaks no drawing.
  if (said.length && !offered.offline) await offer();
  wordedOffer(offered);
  frame(offered.languages);
  const { variants } = offered;
  showFamily((variants.find(({ name }) => name === recall("wish", {}).variant) ?? variants[0]).family);
  for (const text of said) toast(text, { seconds: 20, urgent: true });
  return offered;
}

async function route() {
  const turn = ++latest;
  const main = document.getElementById("main");
  try {
    await enter(turn, main);
  } catch (error) {
    if (turn !== latest) return;
    leave = null;
    main.replaceChildren(await trouble(error));
  }
}

async function enter(turn, main) {
  const parts = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  const offered = await prepare();
  // With the next screen the server may be there again.
  if (offered.offline) prepared = null;
  const own = screenAt(parts);
  const name = own?.screen ?? (Object.hasOwn(SCREENS, parts[0]) ? parts[0] : "");
  const away = offered.offline && !ALONE.includes(name);
  const screen = await (away ? import("./offline.js") : (own?.load ?? SCREENS[name])());
  // A second click while the first screen was loading wins.
  if (turn !== latest) return;
  leave?.();
  leave = null;
  for (const open of document.querySelectorAll("dialog")) open.close();
  main.replaceChildren();
  document.body.dataset.screen = name || "home";
  if (own) showFamily(own.name);
  markLink();
  document.querySelector(".away")?.remove();
  if (offered.offline && !away) main.before(el("p", { class: "away" }, t("offline.note")));
  leave = screen.show(main, own?.rest ?? parts.slice(1), own ? narrowed(offered, own.name) : offered) ?? null;
  const heading = main.querySelector("h1");
  document.title = heading && name ? t("title.of", { what: heading.textContent }) : t("title");
  scrollTo(0, 0);
  if (turn > 1) {
    main.focus({ preventScroll: true });
    say(document.title);
  }
}

/** The games of one family alone: its screens know no others. */
const narrowed = (offered, name) => ({
  ...offered,
  variants: offered.variants.filter(({ family }) => family === name),
});

/** A part of the address; one that is badly written stays as it is, and leads nowhere. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What is said when a screen cannot be shown: that the server does not answer or, where it does, what is wrong. */
async function trouble(error) {
  const again = button(t("offline.again"), route, { class: "primary" });
  const answers = await offer().then(
    () => true,
    (refused) => refused.code !== "offline",
  );
  if (!answers) return notice(t("offline.title"), t("offline.text"), again);
  console.error(error);
  return notice(t("broken.title"), t("broken.text", { error: error.message }), again);
}

/** The head and the foot of the page. */
function frame(languages = []) {
  document.getElementById("skip").textContent = t("skip");
  const theme = button("", () => change("theme", dark() ? "light" : "dark"), { class: "icon" });
  paintTheme = () => {
    theme.replaceChildren(drawing(dark() ? "sign-sun" : "sign-moon", "sign"));
    theme.setAttribute("aria-label", t(dark() ? "theme.to_light" : "theme.to_dark"));
    theme.title = theme.getAttribute("aria-label");
  };
  paintTheme();
  const settingsOf = () => openSettings(languages);
  document.getElementById("header").replaceChildren(
    el("a", { class: "brand", href: "#/", "aria-label": t("home") }, drawing("fort"), el("span", {}, t("title"))),
    el("nav", { "aria-label": t("nav") }),
    el(
      "div",
      { class: "tools" },
      theme,
      button(drawing("sign-help", "sign"), openHelp, { class: "icon", "aria-label": t("help"), title: t("help") }),
      button(drawing("sign-gear", "sign"), settingsOf, {
        class: "icon",
        "aria-label": t("settings"),
        title: t("settings"),
      }),
    ),
  );
  fillNav();
  document.getElementById("footer").replaceChildren(el("p", {}, t("footer")));
}

/** Links to the screens of all games, and of the family whose games are on the screen. */
function fillNav() {
  const own = screensInHead().map((screen) => [ownScreen(screen), t(`nav.${screen}`)]);
  // On a narrow screen, what comes last is left to the screen before it.
  const link = ([href, text], i, { length }) => el("a", { href, class: i === length - 1 ? "wide" : null }, text);
  const links = [["#/", t("nav.play")], ...own, ["#/import", t("nav.import")], ["#/analysis", t("nav.analysis")]].map(link);
  document.querySelector("#header nav").replaceChildren(...links);
  markLink();
}

/** Mark the link to the screen that is shown: its address may go on behind that of the link. */
function markLink() {
  for (const link of document.querySelectorAll("#header nav a")) {
    const here = link.hash === "#/" ? ["", "#/"].includes(location.hash) : `${location.hash}/`.startsWith(`${link.hash}/`);
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

const dark = () => document.documentElement.dataset.theme === "dark";

/** The server names the languages; whoever has been here is spoken to in theirs from the start, answer or none. */
async function begin() {
  apply();
  loadDrawings().catch(() => {});
  await loadLanguage(recall("languages", []));
  frame();
  onChange(() => paintTheme());
  onFamily(fillNav);
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  });
  addEventListener("hashchange", route);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || !settings.commands) return;
    if (event.target.closest("input:not([type=radio]), textarea, dialog")) return;
    event.preventDefault();
    openHelp();
  });
  route();
}

// Browsers keep the page for later where they trust the connection: on this machine, or by https.
addEventListener("load", () =>
  navigator.serviceWorker?.register("/service-worker.js", { updateViaCache: "none" }).catch(() => {}),
);
begin();
