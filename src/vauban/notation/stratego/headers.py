"""The headers of a game text that name, or describe, a variant of Stratego."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vauban.errors import ConfigurationError, NotationError
from vauban.games.base import nearest
from vauban.games.stratego.variants import VARIANTS, Variant, parse_army


def parse_variant_headers(headers: Mapping[str, str]) -> Variant:
    """Return the variant that a game's headers name, or describe with Board and Army."""
    if "Variant" not in headers:
        raise NotationError('the header Variant is missing, e.g. [Variant "classic"]')
    name = headers["Variant"]
    shipped = VARIANTS.get(name)
    board, army = headers.get("Board"), headers.get("Army")
    if board is None and army is None:
        if shipped is None:
            raise NotationError(
                f"there is no variant {name!r}: {nearest(name, list(VARIANTS))} "
                "(a variant of your own needs the headers Board and Army)"
            )
        return shipped
    if board is None or army is None:
        raise NotationError(f"the variant {name!r} needs both headers, Board and Army, or none if it is a known one")
    try:
        described = _parse_board_header(board, name, parse_army(army))
    except ConfigurationError as error:
        raise NotationError(str(error)) from error
    if shipped is None:
        return described
    if not _same_board(shipped, described):
        raise NotationError(
            f"the headers Board and Army describe another variant than {name!r}, a known one: rename it"
        )
    return shipped


def variant_headers(variant: Variant) -> dict[str, str]:
    """Return the headers that describe a variant; the inverse of `parse_variant_headers`.

    Its limits are not among them: they are part of the rules.
    """
    shipped = VARIANTS.get(variant.name)
    if shipped is not None:
        if not _same_board(shipped, variant):
            raise NotationError(
                f"there is another variant with the name {variant.name!r}: rename yours before writing games"
            )
        return {"Variant": variant.name}
    lakes = "".join(f" {variant.square_name(lake)}" for lake in variant.lakes)
    board = f"{variant.rows} x {variant.columns}; {f'lakes{lakes}; ' if lakes else ''}setup rows {variant.setup_rows}"
    return {"Variant": variant.name, "Board": board, "Army": variant.army_text}


_BOARD = re.compile(r"(\d{1,3}) ?[x×] ?(\d{1,3}); ?(?:lakes((?: [a-z][0-9]+)*); ?)?setup rows (\d{1,3})", re.ASCII)


def _parse_board_header(text: str, name: str, army: tuple[int, ...]) -> Variant:
    match = _BOARD.fullmatch(text)
    if match is None:
        raise NotationError(f"the Board {text!r} is not written 'rows x columns; lakes c4 f4 …; setup rows n'")
    bare = Variant(name, int(match[1]), int(match[2]), (), int(match[4]), army)
    lakes = tuple(sorted({bare.square(lake) for lake in (match[3] or "").split()}))
    return Variant(name, bare.rows, bare.columns, lakes, bare.setup_rows, army)


def _same_board(one: Variant, other: Variant) -> bool:
    return (one.rows, one.columns, one.lakes, one.setup_rows, one.army) == (
        other.rows, other.columns, other.lakes, other.setup_rows, other.army,
    )  # fmt: skip
