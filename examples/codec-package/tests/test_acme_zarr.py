"""What is stored with the codec and the data type can be read, and by their names only."""

import numpy as np
import pytest

import blizzarr


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_round_trip(tmp_path, axis):
    data = np.random.default_rng(0).integers(-32768, 32768, (20, 30), dtype="int16")
    difference = {"name": "acme.difference", "configuration": {"axis": axis}}
    blizzarr.create_array(tmp_path / "a", data=data, chunks=(8, 8), filters=difference, dtype="acme.celsius")
    array = blizzarr.open(tmp_path / "a")
    assert array.metadata.dtype.name == "acme.celsius"
    np.testing.assert_array_equal(array[:], data)


def test_stored_bytes(tmp_path):
    blizzarr.create_array(
        tmp_path / "a", data=[100, 101, 99], dtype="acme.celsius", filters="acme.difference", compressors=None
    )
    assert np.frombuffer((tmp_path / "a/c/0").read_bytes(), "<i2").tolist() == [100, 1, -2]
