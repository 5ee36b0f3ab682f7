"""Names that have led out of some program's directory."""

from __future__ import annotations

import random
from pathlib import Path

__all__ = ["name"]

SEGMENTS = [
    "..", ".", "...", "", " ", "a", "own", "c", "0", "1", "9", "zarr.json", ".zarray", ".zgroup", "new", "doc",
    "%2e%2e", "%2E%2E%2F", "%2e", "%00", "..%2f..%2foutside", "%c0%ae%c0%ae", "%252e%252e",
    "..\\..\\outside", "\\\\server\\share", "C:", "C:\\outside", "CON", "NUL.txt", "LPT1", "aux.json",
    "a.", "a ", "...\u200b", "\u2024\u2024", "\uff0e\uff0e", "\u2025", "\u2215", "\uff0f", "\u202e..", "e\u0301",
    "a\x00b", "\x00", "a\nb", "\n", "\r\n..", "\t", "\x7f", "\x1b[2J", "\ufeff", "\ud800",
    "x" * 255, "x" * 256, "x" * 300, "\u00e9" * 200, ".blizzarr-0-0", "~", "~root", "$HOME", "`id`", "*", "?", "|",
    "out", "up", "parent", "top", "chain", "in", "loop", "nowhere", "file", "root", "outside", "secret.txt", "etc",
    "passwd", "-rf", "--", "__proto__",
]  # fmt: skip
"""What names are made of."""

LINKS = ["out", "up", "chain", "own/out", "in/out", "parent/outside", "up/../outside", "in/../out"]
"""By way of these, as links are followed, one gets to the canary."""

TAILS = ["", "c/0", "c/1", "c", "zarr.json", "secret.txt", "a/zarr.json", "a", "etc/passwd", "new", "new/zarr.json"]
"""What is there, and what is not."""


def name(random_: random.Random, scratch: Path) -> str:
    """One of them; some lead straight to what lies beside the root in `scratch`."""
    kind = random_.random()
    tail = random_.choice(TAILS)
    if kind < 0.3:
        return "/".join(random_.choice(SEGMENTS) for _ in range(random_.randint(1, 6)))
    if kind < 0.45:
        up = random_.choice(["..", "%2e%2e", "..\\", "\uff0e\uff0e", "own/../..", "own/c/../../..", "./.."])
        return f"{up}/outside/{tail}".rstrip("/")
    if kind < 0.55:
        before = random_.choice(["", "/", "file://", "own/", "top"])
        return f"{before}{scratch}/outside/{tail}".rstrip("/")
    if kind < 0.9:
        return f"{random_.choice(LINKS)}/{tail}".rstrip("/")
    if kind < 0.95:
        return random_.choice(
            ["file", "own/c/1", "own/c/9/0", "own/c/9", "doc/zarr.json", "doc", "top", "loop", "parent"]
        )
    letters = [
        chr(random_.choice([0x2E, 0x2F, 0x5C, random_.randrange(0x20, 0x3000)])) for _ in range(random_.randint(1, 20))
    ]
    return "".join(letters)
