"""Let the page of the package index lead to the repository: `python .github/index_page.py URL REF`, before a build.

Links of README.md are relative, for whoever reads it in the repository; on the package index they would lead nowhere.
This changes README.md and pyproject.toml in place, for a wheel or an sdist that is built next.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def absolute(text: str, url: str, ref: str) -> str:
    """Return Markdown whose relative links and pictures lead to the repository.

    - `text`: the text.
    - `url`: the repository.
    - `ref`: the tag or branch.
    """

    def led(link: re.Match[str]) -> str:
        return f"{link[1]}({url}/{'raw' if link[1][0] == '!' else 'blob'}/{ref}/{link[2]})"

    # Code is left alone.
    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    parts[::2] = [re.sub(r"(!?\[[^\[\]]*\])\((?![a-z]+:|#)([^)\s]+)\)", led, part) for part in parts[::2]]
    return "".join(parts)


def urls(url: str, ref: str) -> str:
    """Return the table of pyproject.toml that has the links beside the page."""
    changes, issues = f"{url}/blob/{ref}/CHANGELOG.md", f"{url}/issues"
    return f'\n[project.urls]\nRepository = "{url}"\nChangelog = "{changes}"\nIssues = "{issues}"\n'


def main() -> None:
    """Change both files."""
    url, ref = sys.argv[1:]
    readme, project = ROOT / "README.md", ROOT / "pyproject.toml"
    readme.write_text(absolute(readme.read_text(encoding="utf-8"), url, ref), encoding="utf-8")
    project.write_text(project.read_text(encoding="utf-8") + urls(url, ref), encoding="utf-8")


if __name__ == "__main__":
    main()
