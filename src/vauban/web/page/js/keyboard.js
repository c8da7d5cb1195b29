// The keyboard on the board: typed moves ("e4e5", "e4 e5"), and single letters that ask for something.

const PAUSE = 900; // milliseconds after which a lone letter is a command and not the beginning of a move

/** Listen to typed moves and commands until the returned function is called.
 *
 * @param columns how many columns the board has: their letters may begin a move
 * @param hooks move(from, to), command(letter) → true if it is one, cancel(), typed(text so far)
 */
export function listen(columns, hooks) {
  let typed = "",
    timer = null;
  const forget = () => {
    typed = "";
    hooks.typed("");
  };
  const isColumn = (letter) => /^[a-z]$/.test(letter) && letter.charCodeAt(0) - 97 < columns;

  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    if (event.target.closest?.("input:not([type=radio]), textarea, select, dialog")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    clearTimeout(timer);
    if (key === "Escape") {
      forget();
      hooks.cancel();
    } else if (key === "Backspace" && typed) {
      typed = typed.slice(0, -1);
      hooks.typed(typed);
    } else if (key === " " && /^[a-z]\d+$/.test(typed)) {
      // Between two squares it is part of the move, and presses nothing.
      event.preventDefault();
      typed += key;
      hooks.typed(typed);
    } else if (/^[0-9]$/.test(key) && typed) {
      typed += key;
      if (!finish()) hooks.typed(typed);
    } else if (isColumn(key)) {
      typed = /^[a-z]\d+ ?$/.test(typed) ? typed + key : key;
      hooks.typed(typed);
      if (typed.length === 1)
        timer = setTimeout(() => {
          forget();
          hooks.command(key);
        }, PAUSE);
    } else if (key.length === 1 && hooks.command(key)) {
      event.preventDefault();
    }
  }

  // Rows above 9 have two digits: "a1" may yet become "a10", so a move that could go on waits a moment.
  function finish() {
    const move = /^([a-z]\d{1,2}) ?([a-z]\d{1,2})$/.exec(typed);
    if (!move) return false;
    const done = () => {
      forget();
      hooks.move(move[1], move[2]);
    };
    if (/[a-z]1$/.test(typed)) {
      hooks.typed(typed);
      timer = setTimeout(done, 500);
    } else {
      done();
    }
    return true;
  }

  document.addEventListener("keydown", onKey);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("keydown", onKey);
  };
}
