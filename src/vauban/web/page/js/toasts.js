// Where passing messages stand: over nothing that one might want to press, as near to the foot of the screen as that allows.

const CONTROLS = ":is(a, button, input, select, textarea, summary)";
// What must not be covered, and what may be if there is no room beside it; with what a covered pixel costs, where a
// pixel of way from the usual place costs 1.
const COSTS = [
  [`.board, main ${CONTROLS}:not(.board *, .moves *)`, 100],
  [`header ${CONTROLS}`, 10],
  [".status, .moves", 2],
  [".card", 1],
];
const STEP = 8,
  ACROSS = 32,
  EDGE = 12;

const place = () => document.getElementById("toasts");
let watching = null,
  asked = 0;

/** A message has come: find a place for it, and another one if something to press comes up below it. */
export function settle() {
  arrange();
  if (watching) return;
  const again = () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      if (place().children.length) return arrange();
      watching.disconnect();
      watching = null;
      removeEventListener("scroll", again);
      removeEventListener("resize", again);
    });
  };
  watching = new MutationObserver(again);
  watching.observe(document.body, { childList: true, subtree: true });
  addEventListener("scroll", again, { passive: true });
  addEventListener("resize", again);
}

function arrange() {
  const toasts = place();
  const { clientWidth, clientHeight } = document.documentElement;
  const { x, y, width, height } = toasts.getBoundingClientRect();
  const taken = COSTS.flatMap(([selector, cost]) =>
    [...document.querySelectorAll(selector)]
      .filter((each) => each.checkVisibility?.() !== false)
      .map((each) => [each.getBoundingClientRect(), cost]),
  );
  const covered = (left, top) =>
    taken.reduce((sum, [box, cost]) => {
      const across = Math.min(box.right, left + width) - Math.max(box.left, left);
      const down = Math.min(box.bottom, top + height) - Math.max(box.top, top);
      return sum + cost * Math.max(0, across) * Math.max(0, down);
    }, 0);
  const middle = (clientWidth - width) / 2,
    foot = clientHeight - height - EDGE;
  let best = { left: middle, top: foot, cost: Infinity };
  const lefts = [middle, clientWidth - width - EDGE];
  for (let left = EDGE; left < lefts[1]; left += ACROSS) lefts.push(left);
  for (const left of lefts) {
    for (let top = foot; top >= 0; top -= STEP) {
      const cost = covered(left, top) + foot - top + Math.abs(left - middle);
      if (cost < best.cost) best = { left, top, cost };
    }
  }
  // What stands well stays where it is: it is being read.
  if (toasts.dataset.height === String(height) && y <= foot && covered(x, y) <= best.cost) return;
  toasts.dataset.height = String(height);
  toasts.style.translate = `${best.left}px ${best.top}px`;
}
