"""Setups of Geister: which of a player's ghosts are evil. A text names these: "ABCD"."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.errors import SetupError
from vauban.games.base import Setups
from vauban.games.geister.variants import Variant


class GeisterSetups(Setups):
    """Rows with a number for each ghost: 1 for an evil one, 0 for a good one."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.size = variant.ghosts
        self.count = variant.setup_count
        self.kinds = (0, 1)
        self.counts = (variant.good, variant.evil)
        turned = [(variant.width - 1 - x, y) for x, y in variant.starts]
        if set(turned) == set(variant.starts):
            self.mirror = np.array([variant.starts.index(each) for each in turned])

    def all(self) -> npt.NDArray[np.int8]:
        rows = np.zeros((self.count, self.size), np.int8)
        for row, evil in zip(rows, itertools.combinations(range(self.size), self.variant.evil), strict=True):
            row[list(evil)] = 1
        return rows

    def draw(self, rng: random.Random) -> npt.NDArray[np.int8]:
        row = np.zeros(self.size, np.int8)
        row[rng.sample(range(self.size), self.variant.evil)] = 1
        return row

    def check(self, setups: npt.NDArray[Any]) -> None:
        for number, row in enumerate(np.asarray(setups)):
            if row.shape != (self.size,) or not np.isin(row, (0, 1)).all() or row.sum() != self.variant.evil:
                raise SetupError(
                    f"setup {number} is {self.size} numbers, 1 for each of the {self.variant.evil} evil ghosts and 0 "
                    f"for the others, not {row.tolist()}"
                )

    def parse(self, text: str) -> npt.NDArray[np.int8]:
        letters = [letter for letter in text.upper() if not letter.isspace()]
        wrong = [letter for letter in letters if letter not in self.variant.letters]
        if wrong or len(set(letters)) != len(letters) or len(letters) != self.variant.evil:
            example = self.variant.letters[: self.variant.evil]
            raise SetupError(
                f"a setup names the {self.variant.evil} evil ghosts among {self.variant.letters}, each once, such as "
                f"{example}; {text!r} does not"
            )
        row = np.zeros(self.size, np.int8)
        row[[self.variant.letters.index(letter) for letter in letters]] = 1
        return row

    def text(self, setup: npt.NDArray[Any]) -> str:
        return "".join(letter for letter, evil in zip(self.variant.letters, setup, strict=True) if evil)

    def starts(self, first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
        return np.concatenate([first, second], 1).astype(np.int8)

    def of_starts(self, starts: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        return starts[:, : self.size].astype(np.int8), starts[:, self.size :].astype(np.int8)
