// Any game, without a drawing of its own: text and buttons.

import { el, say, toast } from "../dom.js";
import { PlainPlay } from "../plainplay.js";
import { drawSetup } from "../protocol.js";
import { t } from "../strings.js";

/** A setup as a line of text. */
class PlainSetup {
  constructor(variant, { side = "red", setup = null, change = () => {} } = {}) {
    this.side = side;
    const label = el("span", { class: "label" }, t("plain.setup"));
    this.text = el("input", { type: "text", class: "code", spellcheck: "false", onchange: () => change(this.value) });
    this.element = el("div", { class: "setup" }, el("label", { class: "field" }, label, this.text));
    if (setup) this.text.value = setup;
    else
      this.wish = drawSetup(variant.name, "random").then(
        (text) => {
          this.text.value = text;
          change(text);
          say(t("setup.drawn"));
        },
        (error) => toast(error.message || t("offline.text")),
      );
  }

  get value() {
    return this.text.value.trim() || null;
  }

  async settled() {
    await this.wish;
    return this.value;
  }

  setSide(side) {
    this.side = side;
  }
}

export default { Play: PlainPlay, SetupEditor: PlainSetup, screens: {} };
