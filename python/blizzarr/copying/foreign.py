"""What lies among the groups of a directory or zip file and is no node: no copy takes it along, so a warning names it.

SpatialData, for example, keeps tables of Parquet within its groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from blizzarr.formats import format_of
from blizzarr.group import Group
from blizzarr.problems import warn
from blizzarr.stores import LocalStore, ZipStore
from blizzarr.stores.wrapper import unwrapped

_OWN: Final = (".", "blizzarr-")
"""What the names of hidden files, and of records of this library, begin with."""
_SHOWN: Final = 3


def warn_of_foreign(groups: Iterable[Group], nodes: Iterable[str]) -> None:
    """Warn of files and directories in these groups that belong to none of the nodes.

    Only directories and zip files are looked into: elsewhere, each listing would be a request, or go over all keys.

    - `nodes`: the full paths of all nodes of the hierarchy, also of those that cannot be read.
    """
    known = {*nodes}
    found = sorted(name for group in groups for name in _foreign(group, known))
    if found:
        more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
        names = ", ".join(found[:_SHOWN]) + more
        warn(
            f"not copied, since no document of Zarr leads to them: {names}; a check tells which of them are arrays; "
            "copy them by other means"
        )


def _foreign(group: Group, known: set[str]) -> Iterator[str]:
    form, store = format_of(group.metadata), group.store
    prefix = f"{group.path}/" if group.path else ""
    if not isinstance(unwrapped(store), LocalStore | ZipStore) or form.listing_prefix(group.path) != prefix:
        return
    listing = store.list_dir(prefix)
    others = {*listing.keys}.difference(form.document_keys(group.path))
    others.update(one for one in listing.prefixes if one.rstrip("/") not in known)
    yield from (other for other in others if not other[len(prefix) :].startswith(_OWN))
