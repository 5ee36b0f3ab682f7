"""``blizzarr diff``: what is printed, and what the exit status says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import StoreError

Run = Callable[..., "tuple[int, str, str, bytes]"]


def test_the_same_in_another_format(run: Run, data: Path) -> None:
    blizzarr.copy(blizzarr.open(data), "old.zip", zarr_format="v2", shards=None)
    code, out, err, _ = run("diff", data, "old.zip")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith("the same  (3 arrays, 2 groups, 532 elements compared in ")
    assert "└── /brain/t1\n" in out
    assert "├── /\n│   └── format  v3 against v2\n" in out
    assert out.count("v3 against v2") == 1, "what is true of all nodes is said once"
    assert "    ├── layout  shards: (4, 8, 10) against none\n" in out


def test_what_differs(run: Run, data: Path) -> None:
    other = blizzarr.copy(blizzarr.open(data), "b.zarr")
    other["brain/t1"][5, 7, 8:] = 0
    other["brain"].attrs["a"] = 1
    code, out, _, _ = run("diff", data, "b.zarr")
    assert code == 1
    lines = out.splitlines()
    assert lines[0].startswith("A ")
    assert lines[0].endswith("data.zarr")
    assert lines[2:-1] == [
        "├── /brain",
        "│   └── attributes  only in B: 'a'",
        "└── /brain/t1",
        "    └── elements  2 of 480 differ, in 1 chunk, within [5:6, 7:8, 8:10], by at most 479",
        "        ├── [5, 7, 8]  478 against 0",
        "        └── [5, 7, 9]  479 against 0",
    ]
    assert lines[-1].startswith("2 differences  (3 arrays, 2 groups, 532 elements compared in ")
    code, out, _, _ = run("diff", "--json", data / "brain/t1", "b.zarr/brain/t1")
    found = json.loads(out)
    assert (code, found["same"], found["arrays"]) == (1, False, 1)
    assert found["differences"][0]["elements"] == {
        "compared": 480,
        "different": 2,
        "chunks": 1,
        "box": [[5, 6], [7, 8], [8, 10]],
        "largest": 479,
        "first": [{"index": [5, 7, 8], "a": 478, "b": 0}, {"index": [5, 7, 9], "a": 479, "b": 0}],
        "unread": 0,
    }
    assert run("diff", "--atol", 479, data / "brain/t1", "b.zarr/brain/t1")[0] == 0


def test_trouble(run: Run, data: Path, volume: np.ndarray) -> None:
    blizzarr.create_array("b.zarr", data=volume, chunks=(3, 4, 5))
    Path("b.zarr/c/0/0/1").write_bytes(b"")
    code, out, _, _ = run("diff", data / "brain/t1", "b.zarr")
    assert code == 2
    assert "could not be compared  B c/0/0/1: zstd: data ended after 0 of 120 bytes\n" in out
    code, out, err, _ = run("diff", data, "nowhere.zarr")
    assert (code, out) == (2, "")
    assert err.startswith(f"blizzarr: {Path('nowhere.zarr').absolute()}: no array or group here: ")
    assert err.count("\n") == 1
    assert run("diff", data, "data.zarr/series[0]")[0] == 2


def test_a_comparison_that_fails_is_no_difference(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StoreError("cannot list: the network is down")

    monkeypatch.setattr("blizzarr.api.diff", fail)
    code, out, err, _ = run("diff", data, data)
    assert (code, out, err) == (2, "", "blizzarr: cannot list: the network is down\n")
