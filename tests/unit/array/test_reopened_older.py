"""Arrays of v2 and N5 that are opened again: v2 has another document for attributes, and perhaps no separator."""

from __future__ import annotations

import json
import shutil
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr

VALUES = np.arange(24, dtype="int16").reshape(4, 6)


def _made(place: Path, **options: Any) -> Path:
    """Make an array and open it until it is remembered."""
    blizzarr.create_array(str(place), data=VALUES, chunks=(2, 3), zarr_format=2, **options)
    return _remembered(place)


def _remembered(place: Path) -> Path:
    first, second = [blizzarr.open(str(place)) for _ in range(4)][-2:]
    assert first._binding is not None
    assert first._binding is second._binding
    return place


def _read(place: Path) -> tuple[list[list[int]], dict[str, Any]]:
    """Return what each of three further handles reads, which must be the same."""
    handles = [blizzarr.open(str(place)) for _ in range(3)]
    [once, *again] = [(handle[...].tolist(), dict(handle.attrs)) for handle in handles]
    assert again == [once, once]
    return once


@pytest.mark.parametrize("separator", [".", "/"])
@pytest.mark.parametrize("attributes", [{}, {"list": [1]}])
def test_nothing_is_prepared_again(tmp_path: Path, separator: str, attributes: dict[str, Any]) -> None:
    keys = {"name": "v2", "separator": separator}
    place = _made(tmp_path / "a", attributes=attributes, chunk_key_encoding=keys)
    blizzarr.open(str(place)).metadata.attributes["more"] = 1
    assert _read(place) == (VALUES.tolist(), attributes)


def test_the_document_of_attributes_counts(tmp_path: Path) -> None:
    place = _made(tmp_path / "a")
    document = place / ".zattrs"
    for attributes in ({"a": 1}, {"a": 2}, {"a": 2, "b": [3]}):
        # In place, so that the directory stays as it is.
        document.write_text(json.dumps(attributes))
        assert _read(place) == (VALUES.tolist(), attributes)
    time.sleep(0.3)
    _remembered(place)
    document.write_text(json.dumps({"a": 7}))
    assert _read(place) == (VALUES.tolist(), {"a": 7})
    document.unlink()
    assert _read(place) == (VALUES.tolist(), {})
    blizzarr.open(str(place)).attrs["mine"] = 1
    assert _read(place) == (VALUES.tolist(), {"mine": 1})


@pytest.mark.parametrize("pause", [0, 0.3])
def test_the_document_of_the_array_counts(tmp_path: Path, pause: float) -> None:
    place = _made(tmp_path / "a")
    time.sleep(pause)
    _remembered(place)
    described = json.loads((place / ".zarray").read_text())
    (place / ".zarray").write_text(json.dumps({**described, "shape": [3, 6]}))
    assert _read(place) == (VALUES[:3].tolist(), {})
    blizzarr.open(str(place)).append(VALUES[:1])
    assert _read(place) == (VALUES[[0, 1, 2, 0]].tolist(), {})


@pytest.mark.parametrize("pause", [0, 0.3])
def test_documents_of_other_formats_count(tmp_path: Path, pause: float) -> None:
    place = _made(tmp_path / "a")
    blizzarr.create_array(str(tmp_path / "other"), data=VALUES + 1, chunks=(2, 3))
    time.sleep(pause)
    _remembered(place)
    shutil.copytree(tmp_path / "other", place, dirs_exist_ok=True)
    for _ in range(3):
        with pytest.warns(UserWarning, match="two formats"):
            array = blizzarr.open(str(place))
        assert array.metadata.format == "v3"
        assert (array[...] == VALUES + 1).all()


def test_an_inferred_separator_is_inferred_again(tmp_path: Path) -> None:
    place = tmp_path / "a"
    blizzarr.create_array(str(place), data=VALUES, chunks=(2, 3), zarr_format=2)
    described = json.loads((place / ".zarray").read_text())
    described.pop("dimension_separator", None)
    (place / ".zarray").write_text(json.dumps(described))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _remembered(place)
        assert _read(place) == (VALUES.tolist(), {})
    for row, column in np.ndindex(2, 2):
        (place / str(row)).mkdir(exist_ok=True)
        (place / f"{row}.{column}").rename(place / f"{row}/{column}")
    for _ in range(3):
        with pytest.warns(UserWarning, match="dimension_separator"):
            array = blizzarr.open(str(place))
        assert (array[...] == VALUES).all()


def test_without_a_chunk_nothing_is_inferred_for_good(tmp_path: Path) -> None:
    place = tmp_path / "a"
    blizzarr.create_array(str(place), shape=(4, 6), chunks=(2, 3), dtype="int16", zarr_format=2)
    described = json.loads((place / ".zarray").read_text())
    described.pop("dimension_separator", None)
    (place / ".zarray").write_text(json.dumps(described))
    (place / "0").mkdir()
    time.sleep(0.3)
    assert _read(place)[0] == np.zeros((4, 6)).tolist()
    made = _made(tmp_path / "b", chunk_key_encoding={"name": "v2", "separator": "/"}, compressors=None)
    shutil.copy(made / "0/0", place / "0/0")
    described["compressor"] = None
    (place / ".zarray").write_text(json.dumps(described))
    with pytest.warns(UserWarning, match="dimension_separator"):
        assert (blizzarr.open(str(place))[:2, :3] == VALUES[:2, :3]).all()


def test_arrays_of_n5(tmp_path: Path) -> None:
    place = tmp_path / "a"
    blizzarr.create_array(
        str(place), data=VALUES, chunks=(2, 3), zarr_format="n5", attributes={"list": [1], "shape": [9]}
    )
    time.sleep(0.3)
    _remembered(place)
    assert _read(place) == (VALUES.tolist(), {"list": [1], "shape": [9]})
    blizzarr.open(str(place)).attrs["list"] = 2
    assert _read(place) == (VALUES.tolist(), {"list": 2, "shape": [9]})
    described = json.loads((place / "attributes.json").read_text())
    (place / "attributes.json").write_text(json.dumps({**described, "dimensions": [4, 5]}))
    assert _read(place) == (VALUES[:, :5].tolist(), {"list": 2, "shape": [9]})
    time.sleep(0.3)
    _remembered(place)
    blizzarr.create_array(str(tmp_path / "other"), data=VALUES + 1, chunks=(2, 3), zarr_format=2)
    for name in (".zarray", "0.0", "0.1", "1.0", "1.1"):
        shutil.copy(tmp_path / "other" / name, place / name)
    assert _read(place)[0] == (VALUES + 1).tolist()
