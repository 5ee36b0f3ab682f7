"""zarrs-python: zarr-python over the pipeline of zarrs, which has to do the work itself or say that it cannot."""

from __future__ import annotations

from importlib.metadata import version as version_of

import zarr
import zarrs  # noqa: F401  registers its pipeline

from interop.adapters import zarr_python
from interop.message import Message

PIPELINE = {"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}


def version(message: Message) -> Message:
    return {"version": f"{version_of('zarrs')} on zarr {zarr.__version__}"}


def write(message: Message) -> Message:
    with zarr.config.set(PIPELINE):
        return zarr_python.write(message)


def read(message: Message) -> Message:
    with zarr.config.set(PIPELINE):
        return zarr_python.read(message)


def write_group(message: Message) -> Message:
    with zarr.config.set(PIPELINE):
        return zarr_python.write_group(message)


def read_group(message: Message) -> Message:
    with zarr.config.set(PIPELINE):
        return zarr_python.read_group(message)
