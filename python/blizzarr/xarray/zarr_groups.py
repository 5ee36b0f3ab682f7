"""Groups as xarray's `ZarrStore` takes them: those that are written to, and those in which writing is only tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

from blizzarr.api import create_group
from blizzarr.array import Array
from blizzarr.formats import format_of
from blizzarr.group import Group, node_of
from blizzarr.hierarchy.place import place_node


@dataclass(frozen=True)
class ZarrGroup:
    """A group with the number of its format where zarr-python has it; all else is that of the group."""

    group: Group
    #: xarray asked for it until 2026.7; writers of one chunk wait for each other anyway.
    synchronizer: ClassVar[None] = None

    @property
    def metadata(self) -> SimpleNamespace:
        # What distinguishes 3 from 2 for xarray is where the names of dimensions are.
        return SimpleNamespace(zarr_format=3 if format_of(self.group.metadata).has_dimension_names else 2)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.group, name)

    def __getitem__(self, name: str) -> Any:
        return self.group[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.group)

    def require_group(self, name: str) -> ZarrGroup:
        return ZarrGroup(self.group.require_group(name))


@dataclass(frozen=True)
class _Rehearsed(ZarrGroup):
    """A group in which nothing changes: what is created or changed in it, is in another one, in memory."""

    scratch: Group

    @property
    def attrs(self) -> Any:
        return self.scratch.attrs

    def __getitem__(self, name: str) -> Any:
        array, store = self.group[name], self.scratch.store
        return node_of(store, array.path, place_node(store, array.path, array.metadata, overwrite=True, copied=True))

    def create_array(self, name: str, **options: Any) -> Array:
        return self.scratch.create_array(name, **options)

    def require_group(self, name: str) -> _Rehearsed:
        there = name in self.group
        scratch = self.scratch.require_group(name)
        return _Rehearsed(self.group.require_group(name) if there else scratch, scratch)


class NoWriter:
    """Takes elements, and does nothing with them."""

    def add(self, source: Any, target: Any, region: Any = None) -> None:
        """Do nothing."""


def rehearsed(group: Group | None, path: str, zarr_format: Any) -> Any:
    """Return a group as `GroupStore` takes it, in which writing is tried without changing anything.

    Without a group, it is a new one of this path and format.
    """
    scratch = create_group({}, path=path, zarr_format=zarr_format)
    return _Rehearsed(scratch if group is None else group, scratch)
