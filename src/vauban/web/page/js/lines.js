// The moves of a game and one's own beside them, as a tree. What came after a position is among its children: the first
// of them is how the game went on or, after its end, how one has gone on first.

import { el } from "./dom.js";
import { keep, recall } from "./settings.js";
import { other } from "./sides.js";

export class Tree {
  /** @param moves of the game; @param boards the positions before and after each of them; @param turn of the first */
  constructor(id, moves, boards, turn) {
    this.name = `lines.${id}`;
    this.first = moves[0]?.side ?? turn;
    this.root = node(null, null, null, boards[0]);
    this.game = [this.root]; // its positions, by ply
    for (const [i, move] of moves.entries()) {
      const next = node(this.game[i], move, null, boards[i + 1]);
      this.game[i].children.push(next);
      this.game.push(next);
    }
    for (const [ply, kept] of recall(this.name, [])) if (ply in this.game) restore(this.game[ply], kept);
  }

  /** The last position of the game before a node's own moves: the node itself, if it is one of the game. */
  base(at) {
    let found = at;
    while (found.key !== null) found = found.parent;
    return found;
  }

  /** What the server knows a node by: {ply, moves}. */
  place(at) {
    const moves = [];
    for (let each = at; each.key !== null; each = each.parent) moves.unshift(each.key);
    return { ply: this.base(at).ply, moves };
  }

  turn(at) {
    return at.move ? other(at.move.side) : this.first;
  }

  /** The node after a move; null if that has not been made here. */
  after(at, { from, to }) {
    return at.children.find(({ move }) => move.from === from && move.to === to) ?? null;
  }

  /** Add a move of one's own, unless it is there: {from, to, …} as the server tells it, and its text. */
  grow(at, move, key) {
    const there = this.after(at, move);
    if (there) return there;
    at.children.push(node(at, { ...move, own: true }, key, null));
    this.#keep();
    return at.children.at(-1);
  }

  /** Forget a move of one's own, and all that was tried after it. */
  remove(at) {
    at.parent.children.splice(at.parent.children.indexOf(at), 1);
    if (at.parent.next === at) at.parent.next = null;
    this.#keep();
  }

  /** Come to a node: whoever goes back and on again comes there once more. */
  visit(at) {
    for (let each = at; each.parent; each = each.parent) each.parent.next = each;
  }

  /** All nodes from the start through this one to the end of its line; each has its ply for its place. */
  line(at) {
    const found = [];
    for (let each = at; each; each = each.parent) found.unshift(each);
    for (let each = after(at); each; each = after(each)) found.push(each);
    return found;
  }

  /** The game, and how one has gone on first after its end. */
  trunk() {
    const found = [...this.game];
    for (let [each] = found.at(-1).children; each; [each] = each.children) found.push(each);
    return found;
  }

  #keep() {
    const kept = this.game
      .map((each) => [each.ply, each.children.filter(({ key }) => key !== null).map(written)])
      .filter(([, children]) => children.length);
    keep(this.name, kept.length ? kept : null);
  }
}

/** `pieces` are null where they have to be asked for; `told` and `said` are the server's and the network's answers. */
const node = (parent, move, key, pieces) => ({
  ply: parent ? parent.ply + 1 : 0,
  parent,
  move,
  key,
  pieces,
  children: [],
  next: null,
  told: null,
  said: null,
});

const after = ({ next, children }) => next ?? children[0] ?? null;

const written = ({ move, key, children }) => [key, move, children.map(written)];

function restore(at, kept) {
  for (const [key, move, children] of kept) {
    at.children.push(node(at, move, key, null));
    restore(at.children.at(-1), children);
  }
}

/** The lines that leave a trunk: [{ply, element}], behind the move with this number. @param item(node) draws a move */
export function branches(trunk, item) {
  return trunk
    .slice(0, -1)
    .flatMap(({ children, ply }, i) =>
      children
        .filter((child) => child !== trunk[i + 1])
        .map((child) => ({ ply: ply + 1, element: el("li", { class: "branch" }, branch(child, item)) })),
    );
}

/** One line and what leaves it, as a list. */
function branch(first, item) {
  const items = [item(first)];
  for (let at = first; at.children.length; [at] = at.children) {
    const [next, ...others] = at.children;
    items.push(item(next), ...others.map((each) => el("li", { class: "branch" }, branch(each, item))));
  }
  return el("ol", {}, items);
}
