"""Running the command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import blizzarr
from blizzarr.cli import main


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str
    raw: bytes


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run ``blizzarr`` with these arguments."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: object) -> Result:
        capfdbinary.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        raw, err = capfdbinary.readouterr()
        code = ended.value.code
        return Result(code if isinstance(code, int) else 0, raw.decode("utf-8", "replace"), err.decode(), raw)

    return run


@pytest.fixture
def volume() -> np.ndarray:
    """The elements of `data`'s array."""
    return np.arange(6 * 8 * 10, dtype=np.uint16).reshape(6, 8, 10)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, volume: np.ndarray) -> Path:
    """A hierarchy in the current directory: ``data.zarr`` with ``brain/t1``, ``brain/mask`` and ``series``."""
    monkeypatch.chdir(tmp_path)
    root = blizzarr.create_group("data.zarr", attributes={"title": "brain"})
    root.create_array(
        "brain/t1",
        data=volume,
        chunks=(2, 4, 5),
        shards=(4, 8, 10),
        dimension_names=("z", "y", "x"),
        attributes={"units": "a.u."},
    )
    root.create_array("brain/mask", shape=(6, 8), dtype="bool", chunks=(3, 8))
    root.create_array("series", data=np.array([0.1, np.nan, np.inf, -2.5], np.float32))
    return Path("data.zarr")
