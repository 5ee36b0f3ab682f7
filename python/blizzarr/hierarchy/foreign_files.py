"""Files of other programs among those of a node that is to be removed or replaced.

They are never removed. They show that somebody uses the directory for more than this node, perhaps by mistake; so the
removal is refused, unless `config.keep_foreign_files` allows to remove the rest.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from blizzarr.config import config
from blizzarr.errors import NodeExistsError
from blizzarr.stores import Store

NAMED = 10
"""The number of files that an error names; the others are counted."""

_LITTER = re.compile(r"(\.DS_Store|\._.*|Thumbs\.db|desktop\.ini|\.directory|\.nfs[0-9a-f]+)")
"""Files that file managers and network file systems leave behind. They stay, but are no reason to refuse a removal."""


def refuse_foreign_files(store: Store, path: str, foreign: Sequence[str]) -> None:
    """Raise an error if there are files of other programs, unless `config.keep_foreign_files` is set.

    Raise `NodeExistsError`: the text names them.
    """
    wanted = [name for name in foreign if not _LITTER.fullmatch(name.rpartition("/")[2])]
    if not config.keep_foreign_files:
        advice = (
            "move them away, or set config.keep_foreign_files=True, which removes what is ours and leaves them where "
            "they are"
        )
        refuse(store, path, "what arrays and groups are made of", "files that are not ours", wanted, advice)


def refuse(store: Store, path: str, expected: str, found: str, names: Sequence[str], advice: str) -> None:
    """Raise an error if there are names of what is in the way of a removal.

    Raise `NodeExistsError`: the text has the first of the names.
    """
    if names:
        named = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED:,} more" if len(names) > NAMED else "")
        raise NodeExistsError(
            f"expected nothing but {expected}, found {found}: {named}; {advice}", array=f"/{path}", store=str(store)
        )


def foreign_files(store: Store, prefixes: Sequence[str], keys: Collection[str], ours: Collection[str]) -> list[str]:
    """Return the keys that are not among `ours`, and file names below the prefixes that are not valid keys; sorted."""
    others = getattr(store, "others", None)
    unlisted = set() if others is None else {name for prefix in prefixes for name in others(prefix, NAMED + 1)}
    return sorted({*keys}.difference(ours) | unlisted)
