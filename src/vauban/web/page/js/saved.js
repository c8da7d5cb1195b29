// Setups by name, kept in the browser, and as a line of text: a part of every editor of setups.

import { ask, button, copyText, dialog, el, toast } from "./dom.js";
import { keep, savedSetups } from "./settings.js";
import { t } from "./strings.js";

export class SavedSetups {
  /** @param hooks value(): the setup as text, null while there is none; load(text): show one that was saved;
   *    take(text): use a text that was typed, if faults(text) are none; tidy(text): as it is written here
   *  @param about what the text means, in a sentence */
  constructor(variant, hooks, about) {
    this.variant = variant;
    this.hooks = hooks;
    this.text = el("input", {
      type: "text",
      class: "code",
      spellcheck: "false",
      autocomplete: "off",
      "aria-label": t("setup.text"),
      "aria-describedby": "setup-letters",
      onkeydown: (event) => {
        if (event.key === "Enter") this.#import();
      },
      // The field has one line, and would forget where the lines of a setup end.
      onpaste: (event) => {
        const pasted = event.clipboardData.getData("text");
        if (!pasted.trim().includes("\n")) return;
        event.preventDefault();
        this.text.setRangeText(hooks.tidy(pasted), this.text.selectionStart, this.text.selectionEnd, "end");
      },
    });
    this.error = el("p", { class: "error", role: "alert" });
    this.list = el("select", { "aria-label": t("setup.saved"), onchange: () => this.#load() });
    const field = (label, ...content) =>
      el("div", { class: "field" }, el("span", { class: "label" }, t(label)), ...content);
    this.fields = [
      field(
        "setup.saved",
        el(
          "div",
          { class: "line" },
          this.list,
          button(t("setup.save"), () => this.#save()),
          button(t("setup.rename"), () => this.#rename()),
          button(t("setup.delete"), () => this.#delete()),
        ),
      ),
      field(
        "setup.text",
        el(
          "div",
          { class: "line" },
          this.text,
          button(t("setup.import"), () => this.#import()),
          button(t("copy"), async () => toast((await copyText(hooks.value())) ? t("copied") : hooks.value())),
        ),
        this.error,
        el("p", { class: "quiet letters", id: "setup-letters" }, about),
      ),
    ];
    this.#fillList();
  }

  /** Show the text of the setup that is on the board now. */
  show(text) {
    this.text.value = text ?? "";
    this.text.removeAttribute("aria-invalid");
    this.refuse("");
  }

  /** Say what is wrong; nothing is, if it is empty. */
  refuse(text) {
    this.error.textContent = text;
  }

  #import() {
    const text = this.hooks.tidy(this.text.value);
    const faults = this.hooks.faults(text);
    this.text.setAttribute("aria-invalid", String(faults.length > 0));
    this.refuse(faults.join(" "));
    if (!faults.length) this.hooks.take(text);
  }

  #fillList(chosen = "") {
    const all = savedSetups(this.variant.name);
    this.list.replaceChildren(
      el("option", { value: "" }, all.length ? t("setup.choose") : t("setup.none")),
      ...all.map(({ name }) => el("option", { value: name, selected: name === chosen }, name)),
    );
  }

  #load() {
    const found = savedSetups(this.variant.name).find(({ name }) => name === this.list.value);
    if (found) this.hooks.load(found.setup);
  }

  #keep(all, chosen) {
    keep(`setups.${this.variant.name}`, all);
    this.#fillList(chosen);
  }

  async #save() {
    if (!this.hooks.value()) return;
    const name = await askName(t("setup.save"), this.list.value);
    if (!name || !(await this.#mayReplace(name))) return;
    const others = savedSetups(this.variant.name).filter((each) => each.name !== name);
    this.#keep([...others, { name, setup: this.hooks.value() }], name);
    toast(t("setup.kept", { name }));
  }

  async #rename() {
    const old = this.list.value;
    const name = old && (await askName(t("setup.rename"), old));
    if (!name || name === old || !(await this.#mayReplace(name))) return;
    const all = savedSetups(this.variant.name).filter((each) => each.name !== name);
    this.#keep(
      all.map((each) => (each.name === old ? { ...each, name } : each)),
      name,
    );
  }

  /** Whether there is none of this name yet, or it may go. */
  async #mayReplace(name) {
    const now = this.hooks.value();
    const taken = savedSetups(this.variant.name).some((each) => each.name === name && each.setup !== now);
    return !taken || ask(t("setup.replace"), t("setup.replace.sure", { name }), t("setup.replace"), t("cancel"), "danger");
  }

  async #delete() {
    const name = this.list.value;
    if (
      !name ||
      !(await ask(t("setup.delete"), t("setup.delete.sure", { name }), t("setup.delete"), t("cancel"), "danger"))
    )
      return;
    this.#keep(savedSetups(this.variant.name).filter((each) => each.name !== name));
  }
}

function askName(title, value) {
  return dialog(title, (close) => {
    const input = el("input", {
      type: "text",
      value,
      maxlength: 40,
      required: true,
      autofocus: true,
      "aria-label": t("setup.name"),
    });
    return el(
      "form",
      {
        method: "dialog",
        onsubmit: (event) => {
          event.preventDefault();
          close(input.value.trim() || null);
        },
      },
      el("label", { class: "field" }, el("span", { class: "label" }, t("setup.name")), input),
      el(
        "div",
        { class: "answers" },
        button(t("cancel"), () => close()),
        el("button", { class: "primary" }, t("ok")),
      ),
    );
  });
}
