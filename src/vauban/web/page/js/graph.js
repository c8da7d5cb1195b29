// The value of the game over its plies: one line for what red foresaw, one for what blue did, on the same axis.

import { svg } from "./dom.js";
import { t } from "./strings.js";

const HEIGHT = 100;

export class Graph {
  /** @param plies the review's; @param seek(ply) is called when somebody points into the graph */
  constructor(plies, moments, seek) {
    const last = Math.max(1, plies.length - 1);
    // Blue's own value is turned over, so that up is always good for red: where the lines part, one side was mistaken.
    const line = (side, sign) =>
      pieces(
        plies.map(({ ply, values }) =>
          values?.[side] === null || values?.[side] === undefined ? null : [ply, 50 - 46 * sign * values[side]],
        ),
      );
    this.cursor = svg("line", { class: "now", y1: 0, y2: HEIGHT });
    this.element = svg(
      "svg",
      {
        class: "graph",
        viewBox: `0 0 ${last} ${HEIGHT}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": t("graph.label"),
      },
      svg("rect", { class: "upper", width: last, height: 50 }),
      svg("rect", { class: "lower", y: 50, width: last, height: 50 }),
      svg("line", { class: "zero", x2: last, y1: 50, y2: 50 }),
      moments.map(({ ply }) => svg("line", { class: "moment", x1: ply, x2: ply, y1: 0, y2: HEIGHT })),
      svg("path", { class: "value red", d: line("red", 1) }),
      svg("path", { class: "value blue", d: line("blue", -1) }),
      this.cursor,
    );
    const point = (event) => {
      const box = this.element.getBoundingClientRect();
      seek(Math.round(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * last));
    };
    this.element.addEventListener("pointerdown", (event) => {
      this.element.setPointerCapture(event.pointerId);
      point(event);
    });
    this.element.addEventListener("pointermove", (event) => {
      if (event.buttons) point(event);
    });
  }

  set(ply) {
    this.cursor.setAttribute("x1", ply);
    this.cursor.setAttribute("x2", ply);
  }
}

/** A path through the points, broken where one is missing. */
function pieces(points) {
  let pen = "M",
    path = "";
  for (const point of points) {
    if (point === null) {
      pen = "M";
      continue;
    }
    path += `${pen}${point[0]} ${point[1].toFixed(1)}`;
    pen = "L";
  }
  return path;
}
