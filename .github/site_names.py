"""Print the names under which the site of a tag is published: `python .github/site_names.py v0.2.1 $(git tag)`.

A release gets that of its minor release, and "latest" if it is the newest. A pre-release (`v0.2.0-rc.1`) gets none.
"""

from __future__ import annotations

import re
import sys

_RELEASE = re.compile(r"v(\d+)\.(\d+)\.(\d+)")


def names(tag: str, tags: list[str]) -> list[str]:
    """Return the names; none for a pre-release.

    - `tag`: the tag, ``v`` and the version.
    - `tags`: all tags of the repository, in any order.

    >>> names("v0.2.1", ["v0.1.0", "v0.2.1", "v0.3.0-rc.1"])
    ['0.2', 'latest']
    """
    if not _RELEASE.fullmatch(tag):
        return []
    this, *others = (tuple(map(int, match.groups())) for match in map(_RELEASE.fullmatch, [tag, *tags]) if match)
    return [f"{this[0]}.{this[1]}", *(["latest"] if this >= max(others, default=this) else [])]


def main() -> None:
    """Print the names on a line, which is empty where there are none."""
    print(*names(sys.argv[1], sys.argv[2:]))


if __name__ == "__main__":
    main()
