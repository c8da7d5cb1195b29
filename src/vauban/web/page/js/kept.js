// Games that were looked back on, kept in the browser for when the server cannot be reached. No secret is kept with them.

import { keep, recall } from "./settings.js";

const STORE = "vauban-looks-back";
const MOST = 20;

const address = (id) => `/kept/${encodeURIComponent(id)}`;

/** The games that are kept, the newest first: [{id, family, title, at}]. */
export const keptReviews = () => recall("reviews", []);

/** Keep a look back: what the table told of the finished game, and the review; what it is called in a list. */
export async function keepReview(id, { told, review }, { family, title }) {
  // Browsers have such a store where they trust the connection.
  if (!globalThis.caches) return;
  try {
    const store = await caches.open(STORE);
    await store.put(address(id), new Response(JSON.stringify({ told: told.map(withoutSecret), review })));
    const all = [{ id, family, title, at: Date.now() }, ...keptReviews().filter((each) => each.id !== id)];
    for (const each of all.splice(MOST)) await store.delete(address(each.id));
    keep("reviews", all);
  } catch {
    // A full store: then it is not kept.
  }
}

/** A look back that was kept; null if there is none. */
export async function keptReview(id) {
  const found = await globalThis.caches?.open(STORE).then((store) => store.match(address(id)));
  return found ? found.json() : null;
}

/** Forget a look back. */
export async function forgetReview(id) {
  if (!keptReviews().some((each) => each.id === id)) return;
  keep(
    "reviews",
    keptReviews().filter((each) => each.id !== id),
  );
  await (await caches.open(STORE)).delete(address(id));
}

/** What the table told, without the secrets that open the game for others. */
const withoutSecret = (told) =>
  told.over ? { ...told, watching: null, over: { ...told.over, look: null } } : told;
