"""Writes docs/pictures from the screenshots taken by the tests in a browser (make pictures).

python scripts/write_pictures.py
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parent.parent
TAKEN, SHOWN = ROOT / "build" / "screenshots", ROOT / "docs" / "pictures"
PICTURES = {
    "readme-start": "start.png",
    "readme-game": "game.png",
    "readme-review": "review.png",
    "barred-phone-dark": "phone.png",
    "geister-gate": "geister.png",
}
"""Screenshots, and their names where they are shown."""
MOST_BYTES = 150_000


def main() -> None:
    missing = [name for name in PICTURES if not (TAKEN / f"{name}.png").exists()]
    if missing:
        sys.exit(f"no screenshots {', '.join(missing)} in {TAKEN}: make pictures takes them")
    SHOWN.mkdir(exist_ok=True)
    for name, shown in PICTURES.items():
        # The page has few colours: a palette is a third of the size, and an octree keeps the rare ones.
        picture = Image.open(TAKEN / f"{name}.png").convert("RGB")
        picture = picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        picture.save(SHOWN / shown, optimize=True)
        size = (SHOWN / shown).stat().st_size
        print(f"{SHOWN / shown}: {picture.width} × {picture.height}, {size:,} bytes")
        if size > MOST_BYTES:
            sys.exit(f"{shown} is larger than {MOST_BYTES:,} bytes")


if __name__ == "__main__":
    main()
