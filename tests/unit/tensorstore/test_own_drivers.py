"""Drivers and formats of other packages: registered, or named by entry points; their specs, views and errors."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import blizzarr
import blizzarr.tensorstore as ts
from blizzarr.codecs import BytesCodec, CodecChain
from blizzarr.dtypes import DataType, fill_user
from blizzarr.errors import MetadataError, NotWritableError, SpecError, UnknownExtensionError
from blizzarr.formats import ArrayFormat, register_format
from blizzarr.formats.table import UNSOUGHT
from blizzarr.model import ArrayMeta, ChunkKeys, RegularGrid
from blizzarr.open_table import OpenTable
from blizzarr.problems import Problems
from blizzarr.spec.driver_table import DRIVERS
from blizzarr.tensorstore.drivers import ChunkDriver, Option, StoredDriver, as_integer, register_driver


class Rows(ArrayFormat):
    """Arrays of bytes in rows, whose document has the shape only."""

    name = "rows"
    documents = ("rows.json",)
    keys = ChunkKeys("rows", ".", "row", "row")

    def decode_array(self, document: dict[str, Any], problems: Problems) -> ArrayMeta | None:
        """Check the only member."""
        shape = document.get("shape")
        if type(shape) is not list or len(shape) != 2:
            problems.add("shape", "two lengths", shape)
            return None
        dtype, codecs = DataType.parse("uint8"), CodecChain((), BytesCodec(), ())
        return ArrayMeta(tuple(shape), dtype, RegularGrid((1, shape[1])), self.keys, fill_user.default(dtype), codecs)

    def encode_array(self, meta: ArrayMeta, problems: Problems) -> dict[str, Any]:
        """Return the only member."""
        return {"shape": list(meta.shape)}


KEPT: dict[tuple[int, int], Any] = {}


class Kept(ChunkDriver):
    """Numbers in a dictionary of this module; those that are not there are the start."""

    name = "kept"
    members: ClassVar = {"rows": Option(as_integer(0, 100)), "start": Option(as_integer(0, 9), 0)}

    def describe(self, rows: int, start: int) -> dict[str, Any]:
        """Return rows of three."""
        return {"dtype": "int32", "shape": (rows, 3), "chunk_layout": ts.ChunkLayout(chunk_shape=[2, 3])}

    def read_chunk(self, domain: ts.IndexDomain, out: Any, rows: int, start: int) -> None:
        """Read, element by element."""
        first = domain.inclusive_min
        for at in np.ndindex(*domain.shape):
            out[at] = KEPT.get((at[0] + first[0], at[1] + first[1]), start)

    def write_chunk(self, domain: ts.IndexDomain, source: Any, rows: int, start: int) -> None:
        """Keep, element by element."""
        first = domain.inclusive_min
        KEPT.update({(at[0] + first[0], at[1] + first[1]): source[at] for at in np.ndindex(*domain.shape)})


class Fixed(Kept):
    """The same, read-only."""

    name = "fixed"
    write_chunk = ChunkDriver.write_chunk


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers them for the time of a test."""
    for table in (DRIVERS, UNSOUGHT):
        monkeypatch.setattr(table, "places", dict(table.places))
        monkeypatch.setattr(table, "_here", dict(table._here))
    register_format(Rows())
    register_driver(StoredDriver("rows_driver", ("rows",), scheme="rows"))
    register_driver(Kept())
    register_driver(Fixed())
    KEPT.clear()


def kept(**members: Any) -> ts.TensorStore:
    return ts.open({"driver": "kept", "rows": 5, **members}).result()


def test_chunks_of_methods() -> None:
    """Views are read and written through whole chunks; a part of a chunk is read before it is written."""
    store = kept(start=4)
    assert store.domain == ts.IndexDomain(shape=[5, 3])
    store[1:4, 2].write([7, 8, 9]).result()
    expected = np.full((5, 3), 4, "int32")
    expected[1:4, 2] = 7, 8, 9
    assert (store.read().result() == expected).all()
    assert (store[::-2, [2, 0]].read().result() == expected[::-2, [2, 0]]).all()
    # The last chunk was not touched.
    assert sorted({row for row, _ in KEPT}) == [0, 1, 2, 3]


def test_specs_of_chunks() -> None:
    """A store gives the members of its spec, leaves out defaults, and opens again from the spec or a pickle."""
    store = kept(start=4)[2:]
    assert store.spec().to_json(include_defaults=False) == {
        "driver": "kept",
        "dtype": "int32",
        "rows": 5,
        "start": 4,
        "transform": {"input_exclusive_max": [5, 3], "input_inclusive_min": [2, 0]},
    }
    assert "start" not in kept().spec().to_json()
    KEPT[2, 1] = 6
    for again in (ts.open(store.spec()).result(), pickle.loads(pickle.dumps(store))):
        assert again.domain == store.domain
        assert again[2].read().result().tolist() == [4, 6, 4]


def test_constraints_on_chunks() -> None:
    """What a spec asks for is compared with what the driver describes."""
    assert kept(dtype="int32").dtype == ts.int32
    with pytest.raises(ValueError, match="int8"):
        kept(dtype="int8")
    with pytest.raises(SpecError, match="rows"):
        ts.open({"driver": "kept"})
    with pytest.raises(SpecError, match=r"start.*\[0, 9\].*11"):
        kept(start=11)
    with pytest.raises(SpecError, match=r"extra members.*other"):
        kept(other=1)


def test_transactions_of_chunks() -> None:
    """Writes of a transaction are passed on when it is committed."""
    with ts.Transaction() as transaction:
        staged = kept().with_transaction(transaction)
        staged[0, 0] = 5
        assert staged[0, 0].read().result() == 5
        assert not KEPT
    assert KEPT[0, 0] == 5


def test_read_only_chunks() -> None:
    """Without a method that writes, nothing can be written."""
    store = ts.open({"driver": "fixed", "rows": 1}).result()
    assert store.mode == "r"
    with pytest.raises(NotWritableError):
        store[0].write(1).result()


def test_a_format_by_its_name(tmp_path: Path) -> None:
    """The verbs read, create, copy, resize and check an array of a registered format, which nothing looks for."""
    made = blizzarr.create_array(tmp_path / "a", shape=(3, 4), chunks=(1, 4), dtype="uint8", zarr_format="rows")
    made[1] = 7
    assert sorted(os.listdir(tmp_path / "a")) == ["row1.0", "rows.json"]
    with pytest.raises(blizzarr.errors.NodeNotFoundError):
        blizzarr.open(tmp_path / "a", mode="r")
    found = blizzarr.open_array(tmp_path / "a", mode="r+", zarr_format="rows")
    assert (found[:] == made[:]).all()
    assert found.metadata.format == "rows"
    assert (blizzarr.copy(found, tmp_path / "b", zarr_format=3)[:, 1] == [0, 7, 0]).all()
    assert (blizzarr.copy(found, tmp_path / "c")[:, 1] == [0, 7, 0]).all()
    assert (tmp_path / "c" / "rows.json").exists()
    found.resize((1, 4))
    assert sorted(os.listdir(tmp_path / "a")) == ["rows.json"]
    assert pickle.loads(pickle.dumps(found)).shape == (1, 4)


def test_what_a_format_cannot_express(tmp_path: Path) -> None:
    """An array that its document would not bring back is not stored; all differences are in one error."""
    given: dict[str, Any] = {"shape": (3, 4), "chunks": (2, 2), "dtype": "int16", "zarr_format": "rows"}
    with pytest.raises(MetadataError) as error:
        blizzarr.create_array(tmp_path / "a", attributes={"a": 1}, fill_value=3, **given)
    assert [problem.path for problem in error.value.problems] == ["dtype", "chunk_grid", "attributes"]
    same = {**given, "chunks": (1, 4), "dtype": "uint8", "compressors": "gzip"}
    with pytest.raises(MetadataError) as error:
        blizzarr.create_array(tmp_path / "a", fill_value=3, **same)
    assert [problem.path for problem in error.value.problems] == ["codecs", "fill_value"]
    with pytest.raises(MetadataError, match="rows has no groups"):
        blizzarr.create_group(tmp_path / "a", zarr_format="rows")
    assert not (tmp_path / "a").exists() or not os.listdir(tmp_path / "a")
    (tmp_path / "rows.json").write_text('{"shape": 4}')
    with pytest.raises(MetadataError, match="shape: expected two lengths, found 4"):
        blizzarr.open(tmp_path, mode="r", zarr_format="rows")


def test_the_driver_of_a_format(tmp_path: Path) -> None:
    """One line gives a format a driver: specs, URLs, creation, detection."""
    spec = {"driver": "rows_driver", "kvstore": {"driver": "file", "path": f"{tmp_path}/"}}
    store = ts.open(spec, create=True, dtype=ts.uint8, shape=[2, 3], chunk_layout=ts.ChunkLayout(chunk_shape=[1, 3]))
    store.result()[1, :2] = 4
    assert (tmp_path / "row1.0").read_bytes() == b"\x04\x04\x00"
    assert store.result().url == f"file://{tmp_path}/|rows:"
    for place in (spec, f"file://{tmp_path}/|rows:", f"file://{tmp_path}/"):
        assert ts.open(place).result()[1].read().result().tolist() == [4, 4, 0]
    with pytest.raises(ValueError, match=r"shape.*\[9,3\].*\[2,3\]"):
        ts.open({**spec, "metadata": {"shape": [9, 3]}}).result()
    with pytest.raises(SpecError, match="not registered"):
        ts.CodecSpec({"driver": "rows_driver"})


def test_specs_of_the_driver_of_a_format_can_be_pickled() -> None:
    """As worker processes get them; the class of their constraints is made for the driver."""
    for driver, metadata in ({"rows": {"shape": [4, 6]}, "zarr1": {"shape": [4, 6], "order": "F"}}).items():
        spec = ts.Spec({"driver": driver, "kvstore": "memory://", "metadata": metadata})
        for again in (pickle.loads(pickle.dumps(spec)), copy.deepcopy(spec)):
            assert again == spec
            assert again.to_json() == spec.to_json()
            assert again.rank == 2


def test_names_that_are_taken() -> None:
    """A name stands for one format or driver; registering the same twice changes nothing."""
    register_driver(DRIVERS["kept"])
    for driver in (Kept(), StoredDriver("zarr3", ("v3",)), StoredDriver("neuroglancer-precomputed", ("rows",))):
        with pytest.raises(ValueError, match="does not have yet"):
            register_driver(driver)
    with pytest.raises(ValueError, match="does not have yet"):
        register_format(Rows())
    with pytest.raises(UnknownExtensionError, match=r"'rows'.*'row'"):
        blizzarr.open({}, mode="r", zarr_format="row")
    with pytest.raises(SpecError, match="kep"):
        ts.Spec({"driver": "kep"})


def test_entry_points(tmp_path: Path) -> None:
    """Formats and drivers of an installed package are known by name; a name of this library is not replaced."""
    (tmp_path / "microscope.py").write_text(
        "from blizzarr.formats.v1 import V1Format\n"
        "from blizzarr.tensorstore.drivers import StoredDriver\n"
        "class Scan(V1Format):\n    name = 'scan'\n"
        "FORMAT, DRIVER = Scan(), StoredDriver('scans', ('scan',))\n"
    )
    info = tmp_path / "microscope-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: microscope\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[blizzarr.formats]\nscan = microscope:FORMAT\n"
        "[blizzarr.drivers]\nscans = microscope:DRIVER\nzarr3 = microscope:DRIVER\n"
    )
    program = (
        "import sys, blizzarr, blizzarr.tensorstore as ts\n"
        "from blizzarr.formats import format_named\n"
        "assert ts.Spec({'driver': 'zarr3'}).to_json()['driver'] == 'zarr3'\n"
        "assert 'microscope' not in sys.modules\n"
        "print(format_named('scan').name, ts.Spec({'driver': 'scans'}).to_json())\n"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(blizzarr.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "scan {'driver': 'scans'}\n", done.stderr


def test_a_table_is_a_mapping() -> None:
    """Iterating a table lists all names; a missing one is a KeyError."""
    table = OpenTable[type]("blizzarr.nothing", {"whole": "fractions:Fraction"})
    table.register("real", float)
    assert list(table) == ["whole", "real"]
    assert len(table) == 2
    with pytest.raises(KeyError, match="complex"):
        table["complex"]
