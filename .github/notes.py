"""Print the notes of a release, its section of CHANGELOG.md: `python .github/notes.py v0.1.0 URL`.

Relative links lead to the repository at `URL`. It fails if the tag, the version of the package and the newest heading
do not agree, if the heading has no date, or if a page says that the version is not released yet.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

from index_page import absolute

ROOT = Path(__file__).resolve().parents[1]


def notes(tag: str, changelog: str, version: str) -> str:
    """Return the section of `version`, whose heading is like ``## 0.1.0 (2026-12-01)``.

    - `tag`: the tag, ``v`` and the version.
    - `changelog`: the text of CHANGELOG.md.
    - `version`: the version of the package.

    An error says what does not agree.
    """
    if tag != f"v{version}":
        raise SystemExit(f"the tag is {tag}, but the version in Cargo.toml is {version}")
    heading, _, section = changelog.partition("\n## ")[2].partition("\n")
    if not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading):
        raise SystemExit(f"the newest heading of CHANGELOG.md is {heading!r}, not '{version} (year-month-day)'")
    return section.partition("\n## ")[0].strip() + "\n"


def check_released(name: str, text: str) -> None:
    """Refuse a page that says what is no longer true."""
    if re.search(r"not\s+(been\s+)?released\s+yet", text):
        raise SystemExit(f"{name} says that the version is not released yet")


def main() -> None:
    """Print the notes for the tag and the repository that are given."""
    tag, url = sys.argv[1:]
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    text = notes(tag, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    for name in ("README.md", "docs/install.md"):
        check_released(name, (ROOT / name).read_text(encoding="utf-8"))
    sys.stdout.write(absolute(text, url, tag))


if __name__ == "__main__":
    main()
