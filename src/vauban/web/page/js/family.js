// Families of games: what is drawn of a game, and how, is in games/<family>.js, and nowhere else.
//
// Each has by default:
//   Play: draws a game in progress beside the cards, and takes moves (see boardplay.js, plainplay.js)
//   SetupEditor: where its games have setups
//   screens: screens of its own, by their names in the address
// and, for games on a board: token, named, short, TYPES, army, battleCard, guesses, commandWords, boards, fallen,
// remembered (see games/stratego.js).

const PLAIN = "plain"; // draws any game
const families = {};
let current = null;

/** Load the families of what is offered; the first is that of the screens that belong to no game. */
export async function loadFamilies({ variants }) {
  const names = [...new Set([...variants.map(({ family }) => family), PLAIN])];
  const loaded = await Promise.all(names.map((name) => import(`./games/${name}.js`)));
  for (const [i, name] of names.entries()) families[name] = loaded[i].default;
  show(names[0]);
}

/** Whose games are on the screen from now on. */
export function show(name) {
  current = families[name];
}

/** The family of the games that are on the screen. */
export const family = () => current;

export const familyOf = (name) => families[name];
