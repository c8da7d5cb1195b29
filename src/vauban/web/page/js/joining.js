// A friend's link: it is exchanged, once, for a seat whose secret only this browser knows.

import { el, notice, way } from "./dom.js";
import { joinGame } from "./protocol.js";
import { addressOf, game as kept, keep, keepGame, recall } from "./settings.js";
import { t } from "./strings.js";

const GONE = ["game", "invitation"]; // codes: there is no such invitation, or somebody else has taken it

/** @param given the invitation, in the address of a link alone: it is kept, and taken out of the address at once */
export function show(main, [id, seat, given]) {
  const entry = kept(id);
  let gone = false;
  const enter = () => gone || location.replace(addressOf(id, seat));
  history.replaceState(null, "", `#/friend/${encodeURIComponent(id)}/${encodeURIComponent(seat)}`);
  if (entry?.seats[seat]) {
    enter();
    return null;
  }
  if (entry) {
    const back = way(t("join.own.back"), addressOf(id, Object.keys(entry.seats)[0]));
    main.append(notice(t("join.own.title"), t("join.own.text"), back));
    return null;
  }
  // Kept before it is sent: if the answer is lost, the same secret opens the seat with the next attempt.
  const begun = recall(`joining.${id}`, null);
  const secret = begun?.secret ?? drawSecret();
  const invitation = given ?? begun?.invitation;
  if (invitation === undefined) {
    main.append(notice(t("join.refused"), t("join.link"), way(t("home"), "#/")));
    return null;
  }
  main.append(el("p", { class: "page quiet" }, t("connecting")));
  keep(`joining.${id}`, { secret, invitation });
  joinGame(id, invitation, secret).then(
    () => {
      keepGame(id, { seats: { [seat]: secret }, kind: "friend" });
      keep(`joining.${id}`, null);
      enter();
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
