// Squares by name: "e4" is column 4, row 3. Names are absolute; a1 is red's left back corner.

export const square = (column, row) => String.fromCharCode(97 + column) + (row + 1);
export const columnOf = (name) => name.charCodeAt(0) - 97;
export const rowOf = (name) => Number(name.slice(1)) - 1;

/** The squares within so many steps along a row or a column, up to the edge or a lake, whatever stands on them. */
export function reach(from, most, { columns, rows, lakes }) {
  const found = [];
  for (const [dx, dy] of [
    [1, 0],
    [-1, 0],
    [0, 1],
    [0, -1],
  ]) {
    for (let step = 1; step <= most; step++) {
      const [x, y] = [columnOf(from) + step * dx, rowOf(from) + step * dy];
      if (x < 0 || y < 0 || x >= columns || y >= rows || lakes.includes(square(x, y))) break;
      found.push(square(x, y));
    }
  }
  return found;
}
