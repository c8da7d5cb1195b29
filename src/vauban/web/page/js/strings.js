// The texts of the page in the person's language: those of strings/<language>.js, and the families' own.

import { settings } from "./settings.js";
import ENGLISH from "./strings/en.js";

const BASE = "en"; // what no other language has is said in this one

let language = BASE;
let plurals = new Intl.PluralRules(BASE);
let figures = new Intl.NumberFormat(BASE, { useGrouping: false });
let strings = ENGLISH;
const families = {}; // the texts of each family
let own = {}; // those of the family whose games are on the screen, which win over the page's

/** Load the language that the person has chosen or, where none is, the first of the browser's that there is. */
export async function loadLanguage(languages) {
  const wanted = chosen(languages);
  if (wanted === BASE) return;
  try {
    strings = { ...ENGLISH, ...(await import(`./strings/${wanted}.js`)).default };
  } catch (error) {
    console.error(`strings/${wanted}.js cannot be used`, error);
    return;
  }
  language = wanted;
  plurals = new Intl.PluralRules(wanted);
  figures = new Intl.NumberFormat(wanted, { useGrouping: false });
  document.documentElement.lang = wanted;
}

function chosen(languages) {
  if (languages.includes(settings.language)) return settings.language;
  const wanted = navigator.languages.flatMap((each) => [each, each.split("-")[0]]);
  return wanted.find((each) => languages.includes(each)) ?? BASE;
}

/** Add the texts of a family of games, by language: the texts themselves, or what imports a module of them. Those that
 *  the page has too are the family's only while its games are on the screen (`speakOf`). */
export async function addWords(family, words) {
  const told = async (found) => (typeof found === "function" ? (await found()).default : found);
  families[family] = { ...(await told(words[BASE])), ...(language !== BASE && (await told(words[language]))) };
  strings = { ...families[family], ...strings };
}

/** Whose games are on the screen from now on. */
export function speakOf(family) {
  own = families[family] ?? {};
}

/** The name of a language, in that language. */
export const languageName = (code) => new Intl.DisplayNames([code], { type: "language" }).of(code);

/** A time, as the language writes it. */
export const timeWords = (milliseconds) => new Date(milliseconds).toLocaleString(language);

/** A date, as the language writes it. */
export const dateWords = (milliseconds) => new Date(milliseconds).toLocaleDateString(language, { dateStyle: "medium" });

/** A whole number, as the language writes it. */
export const numberWords = (number) => number.toLocaleString(language);

/** A number with so many digits behind the point, or the comma, of the language. */
export const decimals = (value, digits) =>
  value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false });

/** Whether there is a text behind a key: the server may be newer than the page, and say what no file knows. */
export const has = (key) => key in own || key in strings;

/** The text behind a key, with the words in braces filled in. */
export function t(key, words = {}) {
  const found = own[key] ?? strings[key];
  if (found === undefined) throw new Error(`there is no text ${key} in page/js/strings`);
  const text = typeof found === "string" ? found : (found[form(words[found.of])] ?? found.other);
  return text.replace(/\{(\w+)\}/g, (_, name) => inLanguage(words[name]) ?? "");
}

/** Which of several texts is meant: by a number that of the plural, by a word that of the word. */
const form = (of) => (typeof of === "number" ? plurals.select(of) : of);

const inLanguage = (word) => (typeof word === "number" ? figures.format(word) : word);
