"""xarray's engine "zarr" is ours, and `to_zarr` writes as `blizzarr.xarray.to_zarr`; the stores are zarr-python's."""

from __future__ import annotations

from typing import Any

import xarray
import zarr
from xarray import backends
from xarray.backends.common import BACKEND_ENTRYPOINTS

from blizzarr.formats import masks_fill
from blizzarr.xarray import BlizzarrBackendEntrypoint, to_zarr
from blizzarr.xarray.group_store import GroupStore
from blizzarr.xarray.writing import ZarrGroup, _opened, _place


class Engine(BlizzarrBackendEntrypoint):
    """With the name, and the parameters about zarr-python's objects, of xarray's own engine."""

    open_dataset_parameters = (*BlizzarrBackendEntrypoint.open_dataset_parameters, "mode", "cache_members")

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        return backends.zarr.ZarrBackendEntrypoint().guess_can_open(filename_or_obj)

    def open_dataset(
        self, filename_or_obj: Any, *, mode: str = "r", cache_members: bool = True, **options: Any
    ) -> xarray.Dataset:
        return super().open_dataset(filename_or_obj, **options)

    def open_groups_as_dict(self, filename_or_obj: Any, *, mode: str = "r", **options: Any) -> Any:
        return super().open_groups_as_dict(filename_or_obj, **options)


class Growing(ZarrGroup):
    """With the name of zarr-python by which a test creates arrays."""

    def create(self, name: str, **options: Any) -> Any:
        return self.group.create_array(name, **options)


class Store(GroupStore):
    """With the way to open it that tests use."""

    @classmethod
    def open_group(
        cls,
        store: Any,
        mode: Any = "r",
        group: str | None = None,
        zarr_format: Any = None,
        cache_members: bool = True,
        use_zarr_fill_value_as_mask: bool | None = None,
        **options: Any,
    ) -> Store:
        place = _place(store, "r+" if mode == "r" else mode, group, None, None, zarr_format or usual(mode), (), ())
        found = _opened(place, "r+" if mode == "r" else mode, zarr_format or usual(mode))
        masks = (
            masks_fill(found.metadata.format) if use_zarr_fill_value_as_mask is None else use_zarr_fill_value_as_mask
        )
        return cls(Growing(found), mode, use_zarr_fill_value_as_mask=masks, cache_members=cache_members)


def usual(mode: str | None) -> Any:
    """The format of new groups that the tests have set in zarr-python."""
    return zarr.config.get("default_zarr_format") if mode in ("w", "w-", None) else None


def written(data: Any, store: Any = None, mode: Any = None, *arguments: Any, **options: Any) -> Any:
    """Write with the format that the tests have set."""
    if options.get("zarr_format") is None:
        creates = mode in ("w", "w-", None) and not (options.get("append_dim") or options.get("region"))
        options["zarr_format"] = usual("w") if creates else None
    return to_zarr(data, store, mode, *arguments, **options)


BACKEND_ENTRYPOINTS["zarr"] = ("zarr", Engine)
backends.ZarrStore = Store
for kind in (xarray.Dataset, xarray.DataArray, xarray.DataTree):
    kind.to_zarr = written
