// A friend's link: it is exchanged, once, for a seat whose secret only this browser knows.

import { el, notice, way } from "./dom.js";
import { joinGame } from "./protocol.js";
import { game as kept, keep, keepGame, recall } from "./settings.js";
import { t } from "./strings.js";

const GONE = ["game", "invitation"]; // codes: there is no such invitation, or somebody else has taken it

export function show(main, [id, seat, invitation]) {
  const entry = kept(id);
  let gone = false;
  const enter = (secret) => gone || location.replace(`#/game/${id}/${seat}/${secret}`);
  if (entry?.seats[seat]) {
    enter(entry.seats[seat]);
    return null;
  }
  if (entry) {
    const [[own, secret]] = Object.entries(entry.seats);
    const back = way(t("join.own.back"), `#/game/${id}/${own}/${secret}`);
    main.append(notice(t("join.own.title"), t("join.own.text"), back));
    return null;
  }
  main.append(el("p", { class: "page quiet" }, t("connecting")));
  // Kept before it is sent: if the answer is lost, the same secret opens the seat with the next attempt.
  const secret = recall(`joining.${id}`, null) ?? drawSecret();
  keep(`joining.${id}`, secret);
  joinGame(id, invitation, secret).then(
    () => {
      keepGame(id, { seats: { [seat]: secret }, kind: "friend" });
      keep(`joining.${id}`, null);
      enter(secret);
    },
    (error) => {
      // Whatever else went wrong, the seat may have been taken with it: the next attempt needs the same.
      if (GONE.includes(error.code)) keep(`joining.${id}`, null);
      if (!gone) main.replaceChildren(notice(t("join.refused"), error.message || t("offline.text"), way(t("home"), "#/")));
    },
  );
  return () => {
    gone = true;
  };
}

/** 24 random bytes as letters that an address can hold. */
function drawSecret() {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}
