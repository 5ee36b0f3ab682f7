"""zarr-python with one of four pipelines: its own two, that of zarrs, and ours."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import zarr

from bench.layouts import Layout
from bench.peers.base import CannotError, Library, Selection, Task, Values


class ZarrPython(Library):
    """As it comes."""

    name = "zarr-python"
    settings = "as it comes: BatchedCodecPipeline"
    pipeline = "zarr.core.codec_pipeline.BatchedCodecPipeline"
    buffer = "zarr.buffer.cpu.NDBuffer"

    def activate(self) -> None:
        zarr.config.set({"codec_pipeline.path": self.pipeline, "ndbuffer": self.buffer})

    def version(self) -> str:
        return str(zarr.__version__)

    def open(self, path: str, write: bool = False, zarr_format: int = 3) -> Any:
        return zarr.open_array(path, mode="r+" if write else "r", zarr_format=zarr_format)

    def basic(self, array: Any, key: tuple[Any, ...]) -> Any:
        return array[key]

    def points(self, array: Any, key: tuple[Any, ...]) -> Any:
        return array.vindex[key]

    def outer(self, array: Any, key: tuple[Any, ...]) -> Any:
        return array.oindex[key]

    def mask(self, array: Any, key: tuple[Any, ...]) -> Any:
        return array.get_mask_selection(key[0])

    def write(self, array: Any, key: tuple[Any, ...], values: Values) -> None:
        array[key] = values

    def append(self, array: Any, count: int, frame: Values) -> Any:
        array.append(frame, axis=0)
        return array

    def members(self, path: str) -> Any:
        return [(name, array.shape) for name, array in zarr.open_group(path, mode="r", zarr_format=3).arrays()]


class Fused(ZarrPython):
    name = "zarr-python fused"
    settings = f"codec_pipeline.path = FusedCodecPipeline, its default of threads ({os.cpu_count()} cores)"
    pipeline = "zarr.core.codec_pipeline.FusedCodecPipeline"


class Zarrs(ZarrPython):
    name = "zarrs-python"
    settings = (
        f"codec_pipeline.path = ZarrsCodecPipeline, {os.cpu_count()} rayon threads; zarr-python where it falls back"
    )
    pipeline = "zarrs.ZarrsCodecPipeline"

    def __init__(self) -> None:
        import zarrs  # noqa: F401  registers its pipeline

    def version(self) -> str:
        return f"{version('zarrs')} on zarr {zarr.__version__}"

    def reading(self, root: Path, layout: Layout, selections: Sequence[Selection]) -> Task:
        if layout.zarr_format == 2 and layout.order is not None:
            raise CannotError("reads no array of v2 in F order: it wants the result in C order")
        return super().reading(root, layout, selections)


class Ours(ZarrPython):
    name = "blizzarr in zarr-python"
    settings = f"import blizzarr.for_zarr, {os.cpu_count()} threads"
    pipeline = "blizzarr.ZarrPipeline"
    buffer = "blizzarr.zarr_pipeline.NDBuffer"

    def __init__(self) -> None:
        import blizzarr.for_zarr

        self._version = blizzarr.__version__

    def version(self) -> str:
        return f"{self._version} on zarr {zarr.__version__}"


PEERS = {peer.name: peer for peer in (ZarrPython, Fused, Zarrs, Ours)}
