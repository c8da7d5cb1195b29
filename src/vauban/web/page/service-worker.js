// Keeps the files of the page for when the server cannot be reached. Files and nothing else: what the server answers about
// games never passes through here. Online every file still comes from the server, so no page is ever older than it.

// The server writes the address of each file, and the SHA-256 of what is in it: another file makes another worker.
const FILES = {};
const CACHE = "vauban-page-VERSION";
const PATIENCE = 5000; // how long a server may be silent until the kept page is shown

/** The tabs whose page was kept: all of their files come from here too, and none is of another version. */
const away = new Set();

addEventListener("install", (event) => event.waitUntil(fill()));
addEventListener("activate", (event) => event.waitUntil(clean()));
addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate" && pathname === "/") event.respondWith(page(event));
  else if (Object.hasOwn(FILES, pathname)) event.respondWith(file(event, pathname));
});

/** Keep all files, one after the other: whoever has just opened the page is served first. What has stayed as it was in
 *  an older worker is not asked for again. */
async function fill() {
  const cache = await caches.open(CACHE);
  for (const [path, hash] of Object.entries(FILES)) {
    const old = await caches.match(path);
    const answer = old && (await digest(old)) === hash ? old : await fetch(path, { cache: "no-cache" });
    // A file that has just been changed: the browser comes back for the worker that knows it.
    if (!answer.ok || (await digest(answer)) !== hash) throw new Error(`${path} is not what this worker was made for`);
    await cache.put(path, answer);
  }
  await skipWaiting();
}

async function digest(answer) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await answer.clone().arrayBuffer()));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function clean() {
  const old = (await caches.keys()).filter((name) => name.startsWith("vauban-page-") && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await clients.claim();
}

/** The page itself: the server's, unless it is silent or somebody before it says that it is away. */
async function page({ request, resultingClientId }) {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(PATIENCE) });
    if (answer.status < 500) return answer;
  } catch {
    // It cannot be reached.
  }
  away.add(resultingClientId);
  return (await kept("/")) ?? Response.error();
}

async function file({ request, clientId }, path) {
  const found = away.has(clientId) && (await kept(path));
  if (found) return found;
  try {
    return await fetch(request);
  } catch {
    return (await kept(path)) ?? Response.error();
  }
}

const kept = async (path) => (await caches.open(CACHE)).match(path);
