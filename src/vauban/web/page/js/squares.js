// Squares by name: "e4" is column 4, row 3. Names are absolute; a1 is red's left back corner.

export const square = (column, row) => String.fromCharCode(97 + column) + (row + 1);
export const columnOf = (name) => name.charCodeAt(0) - 97;
export const rowOf = (name) => Number(name.slice(1)) - 1;
