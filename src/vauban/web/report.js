// Steps through the game on a page that `vauban analyse --html` made; its data is in the page.
const data = JSON.parse(document.getElementById("data").textContent);
const board = document.querySelector(".board svg");
const groups = [...board.querySelectorAll(":scope > g")];
const layers = ["under", "pieces", "arrows", "belief"].map(name => add(board, "g", { class: name }));
layers[1].append(...groups);
const at = id => document.getElementById(id);
let ply = 0, chosen = data.chosen;
function latest(list, n) {
  let found = null;
  for (const each of list) { if (each[0] > n) break; found = each[1]; }
  return found;
}
const corner = place => data.corners[place];
const size = { width: data.cell, height: data.cell };
const hidden = (piece, n) => piece.shown === null || n < piece.shown;
const shares = (piece, n) => { const text = hidden(piece, n) ? latest(piece.belief, n) : null;
  return text === null ? null : text.match(/../g).map(part => parseInt(part, 16)); };
const percent = share => share + "%";
function add(parent, tag, attributes, text) {
  const made = document.createElementNS(parent.namespaceURI, tag);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return parent.appendChild(made);
}
function rows(table, lines) {
  table.textContent = "";
  for (const line of lines) {
    const row = add(table, "tr", line.true ? { class: "true" } : {});
    line.cells.forEach(text => add(row, "td", {}, text));
    if (line.bar === undefined) continue;
    add(add(row, "td", {}), "span", { class: "share", style: `width:${line.bar * 1.2}px` });
  }
}
function bar(side, n) {
  const wdl = data.wdl[n][side], box = at("bar-" + side);
  if (!box) return;
  box.textContent = "";
  box.hidden = !wdl;
  if (!wdl) return;
  const [loss, draw, win] = wdl.map(share => Math.round(share * 100));
  for (const [name, share] of [["win", win], ["drawn", draw], ["loss", loss]]) {
    const look = { class: `${name} ${data.sides[side]}`, style: `flex:${share} 0 0` };
    if (share) add(box, "span", look, share > 8 ? percent(share) : "");
  }
  box.setAttribute("aria-label", `${data.sides[side]}: win ${win}%, draw ${draw}%, loss ${loss}%`);
}
function show(n) {
  ply = Math.max(0, Math.min(n, data.says.length - 1));
  at("ply").value = ply;
  at("says").textContent = data.says[ply];
  const viewer = +at("viewer").value, kind = +at("kind").value;
  layers[0].textContent = layers[2].textContent = layers[3].textContent = "";
  data.pieces.forEach((piece, number) => {
    const square = latest(piece.at, ply), group = groups[number];
    group.style.display = square < 0 ? "none" : "";
    group.classList.toggle("chosen", chosen === number);
    if (square < 0) return;
    const [x, y] = corner(square);
    group.setAttribute("transform", `translate(${x + data.offset[0]} ${y + data.offset[1]})`);
    const path = group.querySelector("path");
    if (data.dashed) path.setAttribute("stroke-dasharray", hidden(piece, ply) ? "3 2" : "none");
    const found = viewer < 0 || piece.side === viewer ? null : shares(piece, ply);
    if (found) {
      add(layers[0], "rect", { x, y, ...size, class: "heat", "fill-opacity": found[kind] / 100 });
      add(layers[3], "text", { x: x + data.cell / 2, y: y + data.cell - 2 }, percent(found[kind]));
    }
  });
  for (const square of data.moves[ply]) {
    const [x, y] = corner(square);
    add(layers[0], "rect", { x, y, ...size, class: "last" });
  }
  [0, 1].forEach(side => {
    bar(side, ply);
    const lost = data.pieces.filter(each => each.side === side && latest(each.at, ply) < 0);
    at("lost-" + side).textContent = lost.map(each => each.name).join(", ") || "nothing";
  });
  const searched = data.searched.includes(ply), considered = data.considered[ply];
  at("considered").textContent = "What the network would have played" +
    (searched ? ", and what a search found it worth, from −1 to 1" : "");
  rows(at("moves"), considered.map(([move, share, , , value, visits]) => ({
    cells: [move, percent(share), ...(searched ? [value, visits] : [])], bar: share })));
  if (at("arrows").checked) considered.forEach(([, share, from, to]) => share && arrow(from, to, share / 100));
  for (const link of document.querySelectorAll(".moves a")) link.classList.toggle("now", +link.dataset.ply === ply);
  choice();
  const x = data.left + data.width * ply / Math.max(1, data.says.length - 1);
  for (const line of document.querySelectorAll("line.now")) { line.setAttribute("x1", x); line.setAttribute("x2", x); }
}
function arrow(from, to, share) {
  const middle = square => corner(square).map(n => n + data.cell / 2);
  const [x0, y0] = middle(from), [x1, y1] = middle(to);
  const far = Math.hypot(x1 - x0, y1 - y0), dx = (x1 - x0) / far, dy = (y1 - y0) / far, w = 2 + 6 * share;
  const group = add(layers[2], "g", { opacity: 0.35 + 0.5 * share }), bx = x1 - 12 * dx, by = y1 - 12 * dy;
  add(group, "line", { x1: x0 + 12 * dx, y1: y0 + 12 * dy, x2: bx, y2: by, "stroke-width": w });
  const s = w / 2 + 4, tip = [x1 - 3 * dx, y1 - 3 * dy];
  add(group, "polygon", { points: [tip, [bx - s * dy, by + s * dx], [bx + s * dy, by - s * dx]].join(" ") });
}
function choice() {
  const piece = chosen === null ? null : data.pieces[chosen], found = piece && shares(piece, ply);
  const name = piece && `${data.sides[piece.side]}'s ${piece.name}`, [word, gone, known] = data.words;
  at("piece").textContent = !piece ? `Choose a ${word} on the board to see what it was taken for`
    : latest(piece.at, ply) < 0 ? `The chosen ${word}, ${name}, ${gone}`
    : !found ? `The chosen ${word}, ${name}, ${known}`
    : `What ${data.sides[1 - piece.side]} took the chosen ${word}, ${name}, for`;
  const kinds = (found || []).map((share, kind) => ({ share, kind, true: kind === piece.kind }));
  rows(at("shares"), kinds.filter(each => each.share || each.true).sort((a, b) => b.share - a.share).map(each => ({
    cells: [data.types[each.kind] + (each.true ? " (true)" : ""), percent(each.share)],
    bar: each.share, true: each.true })));
}
const steps = { first: () => 0, back: () => ply - 1, next: () => ply + 1, last: () => data.says.length - 1 };
for (const key in steps) at(key).onclick = () => show(steps[key]());
at("ply").oninput = () => show(+at("ply").value);
at("viewer").onchange = at("kind").onchange = at("arrows").onchange = () => show(ply);
groups.forEach((group, number) => {
  const choose = () => { chosen = chosen === number ? null : number; show(ply); };
  group.dataset.piece = number;
  group.setAttribute("tabindex", 0);
  group.setAttribute("role", "button");
  group.onclick = choose;
  group.onkeydown = event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } };
});
document.querySelectorAll("[data-ply]").forEach(each => each.addEventListener("click", event => {
  event.preventDefault();
  if (each.tagName === "A") board.scrollIntoView({ block: "center" });
  show(+each.dataset.ply); }));
addEventListener("keydown", event => {
  const key = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" }[event.key];
  if (key && !["INPUT", "SELECT"].includes(event.target.tagName)) { event.preventDefault(); show(steps[key]()); }
});
board.setAttribute("role", "group"); // its pieces can be chosen
show(data.begin);
