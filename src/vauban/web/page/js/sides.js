// The two sides of every game, as the page calls them.

export const SIDES = ["red", "blue"];
export const other = (side) => (side === "red" ? "blue" : "red");
