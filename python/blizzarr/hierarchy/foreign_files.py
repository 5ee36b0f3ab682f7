"""Files that are not ours among those of a node that is to be removed or replaced.

They are never removed. That they are there says that somebody uses the directory for more than this node, perhaps by
mistake; so the removal is refused unless `config.keep_foreign_files` says that it may go on around them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from blizzarr.config import config
from blizzarr.errors import NodeExistsError
from blizzarr.stores import Store

__all__ = ["NAMED", "foreign_files", "refuse_foreign_files"]

NAMED = 10
"""So many are named; of the others it is said how many they are."""

_LITTER = re.compile(r"(\.DS_Store|\._.*|Thumbs\.db|desktop\.ini|\.directory|\.nfs[0-9a-f]+)")
"""What file managers and network file systems leave about; it stays too, but nobody put it there on purpose."""


def refuse_foreign_files(store: Store, path: str, foreign: Sequence[str]) -> None:
    """Raise if there are any, unless the user has said that they may be.

    Raises
    ------
    NodeExistsError
        It lists what is there.
    """
    wanted = [name for name in foreign if not _LITTER.fullmatch(name.rpartition("/")[2])]
    if config.keep_foreign_files or not wanted:
        return
    named = ", ".join(wanted[:NAMED])
    more = f" and {len(wanted) - NAMED:,} more" if len(wanted) > NAMED else ""
    raise NodeExistsError(
        f"expected nothing but what arrays and groups are made of, found files that are not ours: {named}{more}; "
        "move them away, or set config.keep_foreign_files=True, which removes what is ours and leaves them where they "
        "are",
        array="/" + path,
        store=str(store),
    )


def foreign_files(store: Store, prefixes: Sequence[str], keys: Collection[str], ours: Collection[str]) -> list[str]:
    """Those of the keys that are not ours, and what lies below the prefixes without being a key; sorted."""
    others = getattr(store, "others", None)
    unlisted = set() if others is None else {name for prefix in prefixes for name in others(prefix, NAMED + 1)}
    return sorted({*keys}.difference(ours) | unlisted)
