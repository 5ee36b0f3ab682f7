"""zarr-python reads and writes through our pipeline here, or through its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

zarr = pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")

OWN = "zarr.core.codec_pipeline.BatchedCodecPipeline"


@pytest.fixture(autouse=True)
def ours() -> Iterator[None]:
    """Our pipeline is the one of all arrays that a test opens."""
    import blizzarr

    with zarr.config.set({"codec_pipeline.path": f"blizzarr.{blizzarr.ZarrPipeline.__name__}"}):
        yield


@pytest.fixture
def plain() -> Callable[..., Any]:
    """Open an array with zarr-python's own pipeline."""

    def opened(store: Any, **given: Any) -> Any:
        with zarr.config.set({"codec_pipeline.path": OWN}):
            return zarr.open_array(store, **given)

    return opened


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where each read and write goes: ``engine``, or ``usual`` for zarr-python's own pipeline."""
    from blizzarr.zarr_pipeline.pipeline import ZarrPipeline

    calls: list[str] = []
    lowered = ZarrPipeline._lowered

    def watched(self: Any, *given: Any, **options: Any) -> Any:
        calls.append("usual")
        found = lowered(self, *given, **options)
        calls[-1] = "engine"
        return found

    monkeypatch.setattr(ZarrPipeline, "_lowered", watched)
    return calls
