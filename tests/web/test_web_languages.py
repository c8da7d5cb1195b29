"""Languages of the page: each says all that English says, of the page and of the families of games at home in it.

A language is page/js/strings/LANGUAGE.js, and words-LANGUAGE.js beside a family's words.js (docs/page.md). A failure
lists the keys by file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from vauban.web.files import PAGE, languages
from vauban.web.levels import ANYBODY, levels

BASE = "en"
STRINGS = PAGE / "js" / "strings"
FAMILIES = sorted((PAGE / "js" / "games").glob("*/words.js"))
PLURALS = {"en": {"one", "other"}, "de": {"one", "other"}}
"""The forms of each language's plural: `new Intl.PluralRules(language).resolvedOptions().pluralCategories` has them."""
NAMES = {f"level.{level.key}.name" for level in (*levels(), ANYBODY)}
"""Names that the server gives in English itself (levels.toml), and a translation gives anew."""

Text = str | dict[str, str]
"""A text, or one for each form or word, with `of` for what decides."""
Texts = dict[str, Text]

TOKEN = re.compile(r'//[^\n]*|\s+|export (?:default|const en =)|"(?:[^"\\]|\\.)*"|[\w$]+|[{}:,;]')


def texts(file: Path) -> Texts:
    """Read a file of texts: an object of strings and of objects of strings, in JavaScript."""
    written, parts, at = file.read_text(), [], 0
    while at < len(written):
        token = TOKEN.match(written, at)
        assert token, f"{file.name}: this is no file of texts alone, from {written[at : at + 40]!r} on"
        at = token.end()
        if token[0][:2] != "//" and not token[0].isspace() and token[0][:6] != "export" and token[0] != ";":
            parts.append(f'"{token[0]}"' if token[0][0].isalnum() else token[0])
    keys = re.findall(r'^  ("[^"]+"|\w+):', written, re.MULTILINE)
    assert len(keys) == len(set(keys)), f"{file.name}: twice {sorted({key for key in keys if keys.count(key) > 1})}"
    found: Texts = json.loads(re.sub(r",\}", "}", "".join(parts)))
    return found


def forms(text: Text) -> dict[str, str]:
    return {"other": text} if isinstance(text, str) else {form: each for form, each in text.items() if form != "of"}


def filled_in(text: Text) -> set[str]:
    return {word for each in forms(text).values() for word in re.findall(r"\{(\w+)\}", each)}


def faults(language: str, said: Texts, english: Texts, page: Texts) -> dict[str, list[str]]:
    """Return what is wrong with a file of a translation; `page` has the texts that a family may say in its own way."""
    known = page | english
    found: dict[str, list[str]] = {
        "missing": sorted(english.keys() - said.keys()),
        "unknown": sorted(said.keys() - known.keys() - NAMES),
        "other words are filled in": [],
        "forms of the plural": [],
    }
    for key in said.keys() & known.keys():
        # What decides between the forms of a text may be said in them, or not.
        decide = {text["of"] for text in (said[key], known[key]) if isinstance(text, dict)}
        said_words, known_words = filled_in(said[key]) - decide, filled_in(known[key]) - decide
        # A family that speaks in its own way may have less to fill in: "the ghost" and not "the {type}".
        if not said_words <= known_words or (key in english and said_words != known_words):
            found["other words are filled in"].append(key)
        has, plural = set(forms(said[key])), PLURALS[language]
        counts = isinstance(known[key], dict) or (isinstance(said[key], dict) and has <= plural)
        if has != plural if counts else "other" not in has:
            found["forms of the plural"].append(key)
    return {fault: keys for fault, keys in found.items() if keys}


@pytest.mark.parametrize("language", sorted(set(languages()) - {BASE}))
def test_a_language_says_all_that_english_says(language):
    assert language in PLURALS, f"add the forms of the plural of {language!r} to PLURALS"
    page, page_said = texts(STRINGS / f"{BASE}.js"), texts(STRINGS / f"{language}.js")
    wrong = {f"strings/{language}.js": faults(language, page_said, page, {})}
    named = set(page_said)
    for file in FAMILIES:
        translated = file.with_name(f"words-{language}.js")
        said = texts(translated) if translated.exists() else {}
        wrong[str(translated.relative_to(PAGE / "js"))] = faults(language, said, texts(file), page)
        named |= set(said)
    assert {file: found for file, found in wrong.items() if found} == {}
    assert NAMES - named == set(), "opponents without a name in this language"


@pytest.mark.parametrize("language", sorted(set(languages()) - {BASE}))
def test_no_sentence_of_a_language_was_left_in_english(language):
    pairs = [(STRINGS / f"{BASE}.js", STRINGS / f"{language}.js")]
    pairs += [(file, file.with_name(f"words-{language}.js")) for file in FAMILIES]
    for english, translated in pairs:
        said = texts(translated)
        same = {
            key
            for key, text in texts(english).items()
            for form, each in forms(text).items()
            if re.search(r"[a-z]{2,} [a-z]{2,}", each) and forms(said.get(key, "")).get(form) == each
        }
        assert same == set(), translated.name


def test_whoever_reads_german_is_told_the_same_names_and_numbers():
    """Names of opponents and counts that stand in sentences are those of the game."""
    german = texts(STRINGS / "de.js") | texts(FAMILIES[0].with_name("words-de.js"))
    by_network = " und ".join(str(german[f"level.{key}.name"]) for key in ("phantom", "oracle"))
    assert by_network in str(german["review.model"])
    assert "General und Marschall" in str(texts(STRINGS / "de.js")["rules.fair.text"])
    english = texts(STRINGS / "en.js") | texts(FAMILIES[0])
    for key in english.keys() & german.keys():
        first, second = (sorted(re.findall(r"\d+", " ".join(forms(each[key]).values()))) for each in (english, german))
        assert not first or first == second, key


def test_what_is_missing_in_a_language_is_named():
    english: Texts = {"a": "{x} and {y}", "b": {"of": "n", "one": "one", "other": "{n}"}, "c": "so"}
    said: Texts = {"a": "{x} und", "b": {"of": "n", "other": "{n}"}, "d": "so"}
    assert faults("de", said, english, {}) == {
        "missing": ["c"], "unknown": ["d"], "other words are filled in": ["a"], "forms of the plural": ["b"],
    }  # fmt: skip
