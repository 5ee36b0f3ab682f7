"""TensorStore as the judge: fields of structs, and elements by their bytes, in files that both write."""

from __future__ import annotations

import ctypes
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import blizzarr
import blizzarr.tensorstore as ours
from blizzarr import views
from support.view_chains import is_hazardous, operation

theirs = pytest.importorskip("tensorstore")

BASES = {
    "zarr": ["<i2", ">i2", "|u1", "<f4", ">f8", "|b1", "<c8", ">c16", "|S3", "|V2", "bfloat16", "int4", "float8_e5m2"],
}
V3_BASES = [
    "int16",
    "uint8",
    "float32",
    "float64",
    "bool",
    "complex64",
    "complex128",
    "bfloat16",
    "int4",
    "float8_e5m2",
]
COMPRESSORS = [None, {"id": "zlib", "level": 1}, {"id": "blosc"}, {"id": "zstd"}]


def random_type(random: Random) -> Any:
    """A data type of Zarr v2 with fields, or one whose elements have dimensions."""
    bases = BASES["zarr"]
    if random.random() < 0.2:
        return random.choice(bases)
    names = random.sample(["a", "b", "c", "d"], random.randint(1, 3))
    shapes = [[], [], [2], [2, 3], [1]]
    return [[name, random.choice(bases), *([shape] if (shape := random.choice(shapes)) else [])] for name in names]


def v2_case(random: Random) -> dict[str, Any]:
    """Metadata."""
    rank = random.randint(0, 2)
    return {
        "shape": [random.randint(1, 6) for _ in range(rank)],
        "chunks": [random.randint(1, 4) for _ in range(rank)],
        "dtype": random_type(random),
        # Of the only order that there is, TensorStore says C whatever was demanded.
        "order": random.choice("CF") if rank > 1 else "C",
        "compressor": random.choice(COMPRESSORS),
        "dimension_separator": random.choice("./"),
    }


def shown(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """What it is and has; TensorStore gives bytes and characters a length of none, but they are there."""
    if array.dtype.type in (np.void, np.bytes_):
        if array.dtype.itemsize == 0:
            # The elements of what it gives to NumPy lie one byte apart from each other.
            raw = np.empty(array.shape, "u1")
            for index in np.ndindex(array.shape):
                offset = sum(at * stride for at, stride in zip(index, array.strides, strict=True))
                raw[index] = ctypes.c_ubyte.from_address(array.ctypes.data + offset).value
        else:
            raw = np.frombuffer(array.tobytes(), "u1").reshape(array.shape)
        return array.dtype.kind, array.shape, raw.tobytes()
    return array.dtype, array.shape, array.tobytes()


def done(act: Any) -> Any:
    """What an act gives, or the class of its error."""
    try:
        return act()
    except (IndexError, ValueError, TypeError) as error:
        return next(kind for kind in (TypeError, ValueError, IndexError) if isinstance(error, kind))


def is_text(store: Any) -> bool:
    """Whether its elements are characters or bytes."""
    return store.dtype.name in ("char", "byte")


def elements(random: Random, store: Any, shape: tuple[int, ...]) -> Any:
    """Some elements for both."""
    raw = np.frombuffer(random.randbytes(16 * int(np.prod(shape, dtype=int))), "u1")
    name = store.dtype.name
    count = int(np.prod(shape, dtype=int))
    if is_text(store):
        return raw[:count].view("S1" if name == "char" else "V1").reshape(shape)
    if name == "bool":
        return (raw[:count] % 2 == 1).reshape(shape)
    return (raw[:count] % 8).astype(store.dtype.numpy_dtype).reshape(shape)


def choices(dtype: Any) -> list[dict[str, Any]]:
    """What can be opened of elements of this type."""
    parts = [{"field": field[0]} for field in dtype] if isinstance(dtype, list) else [{}]
    # Bytes other than 0 and 1 are no booleans to TensorStore.
    return parts if "b1" in str(dtype) else [*parts, {"open_as_void": True}]


def v3_case(random: Random) -> dict[str, Any]:
    """Metadata, without bytes within elements, of which TensorStore 0.1.86 cannot tell the layout."""
    rank = random.randint(0, 2)
    names = random.sample(["a", "b", "c", "d"], random.randint(1, 3))
    fields = [{"name": name, "data_type": random.choice(V3_BASES)} for name in names]
    chunks = [random.randint(1, 4) for _ in range(rank)]
    codecs: list[Any] = [{"name": "bytes", "configuration": {"endian": random.choice(["little", "big"])}}]
    codecs += random.choice([[], ["gzip"], ["zstd"], ["blosc", "crc32c"]])
    if random.random() < 0.5:
        order = random.sample(range(rank), rank)
        codecs.insert(0, {"name": "transpose", "configuration": {"order": order}})
    if random.random() < 0.4 and rank:
        inner, chunks = chunks, [length * random.randint(1, 3) for length in chunks]
        codecs = [{"name": "sharding_indexed", "configuration": {"chunk_shape": inner, "codecs": codecs}}]
    return {
        "shape": [random.randint(1, 6) for _ in range(rank)],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "data_type": {"name": "struct", "configuration": {"fields": fields}},
        "codecs": codecs,
    }


CASES = {"zarr": v2_case, "zarr3": v3_case}


def parts(driver: str, metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """What can be opened of elements, so that both libraries can."""
    if driver == "zarr":
        return choices(metadata["dtype"])
    return [{"field": field["name"]} for field in metadata["data_type"]["configuration"]["fields"]]


@pytest.mark.parametrize("driver", ["zarr", "zarr3"])
@pytest.mark.parametrize("block", range(4))
def test_fields(driver: str, block: int, tmp_path: Path) -> None:
    """Each writes what the other reads, through views of a field, whose other fields stay as they are."""
    compared = 0
    for seed in range(40 * block, 40 * (block + 1)):
        random = Random(seed)
        metadata = CASES[driver](random)
        spec = {"driver": driver, "kvstore": f"file://{tmp_path}/{seed}/"}
        maker = random.choice([theirs, ours])
        options = parts(driver, metadata)
        maker.open({**spec, "metadata": metadata, **options[0]}, create=True).result()
        for _ in range(4):
            option = random.choice(options)
            pair = [library.open({**spec, **option}).result() for library in (theirs, ours)]
            said = f"{seed} {metadata} {option}"
            assert pair[0].domain == theirs.IndexDomain(json=pair[1].domain.to_json()), said
            assert pair[0].chunk_layout.to_json() == pair[1].chunk_layout.to_json(), said
            history = [said]
            for _ in range(random.randint(0, 2)):
                bare = views.IndexTransform(views.IndexDomain(json=pair[0].domain.to_json()))
                text = operation(random, bare)
                if is_hazardous(bare, text):
                    break
                found = [done(lambda view=view, library=library: eval(text, {"ts": library, "x": view}))  # noqa: B023
                         for library, view in zip((theirs, ours), pair, strict=True)]  # fmt: skip
                if isinstance(found[0], type) or isinstance(found[1], type):
                    assert found[0] == found[1], "\n".join([*history, text])
                    break
                history.append(text)
                pair = found
            note = "\n".join(history)
            if pair[0].size > 10_000:
                # Bounds that were left open on a view of other bounds lead as far as indices go.
                continue
            read = [done(lambda view=view: shown(view.read().result())) for view in reversed(pair[1:])]
            if isinstance(read[0], type):
                # Indices beyond those within elements TensorStore does not find out: it reads what lies there.
                continue
            read.append(done(lambda: shown(pair[0].read().result())))  # noqa: B023
            assert read[0] == read[1], note
            # Points that are written twice have no order.
            repeats = "[[" in note or "array" in note
            value = elements(random, pair[0], () if repeats else random.choice([pair[0].shape, pair[0].shape[-1:]]))
            writer = random.choice(pair)
            if not writer.size:
                # TensorStore, writing nothing, puts whatever lies in memory into the first element.
                writer = pair[1]
            written = done(lambda: writer.write(value).result())  # noqa: B023
            if isinstance(written, type):
                assert [done(lambda view=view: view.write(value).result()) for view in pair] == [written] * 2, note  # noqa: B023
                continue
            read = [shown(view.read().result()) for view in pair]
            assert read[0] == read[1], note
            for every in [*options, *([{"open_as_void": True}] if driver == "zarr" else [])]:
                one = {**spec, **every}
                whole = [shown(library.open(one).result().read().result()) for library in (theirs, ours)]
                assert whole[0] == whole[1], note
            compared += read[0][1] != ()
    assert compared > 20


@pytest.mark.parametrize("endian", ["little", "big"])
def test_bytes_of_v3(endian: str, tmp_path: Path) -> None:
    """Elements by their bytes, and fields of bytes, whose layout TensorStore 0.1.86 cannot tell."""
    fields = [{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "r16"}]
    metadata = {
        "shape": [3],
        "data_type": {"name": "struct", "configuration": {"fields": fields}},
        "fill_value": {"a": 258, "b": "AwQ="},
        "codecs": [{"name": "bytes", "configuration": {"endian": endian}}],
    }
    spec: dict[str, Any] = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/"}
    store = ours.open({**spec, "metadata": metadata, "field": "b"}, create=True).result()
    assert store.domain.shape == (3, 2)
    first = b"\x02\x01" if endian == "little" else b"\x01\x02"
    void = ours.open({**spec, "open_as_void": True}).result()
    assert void.read().result().tobytes() == (first + b"\x03\x04") * 3
    assert void.fill_value.tobytes() == first + b"\x03\x04"
    assert void.chunk_layout.read_chunk.shape == (3, 4)
    store[1] = np.frombuffer(b"xy", "V1")
    ours.open({**spec, "field": "a"}).result()[2] = 3
    assert blizzarr.open_array(tmp_path)[:].tolist() == [(258, b"\x03\x04"), (258, b"xy"), (3, b"\x03\x04")]
    again = ours.open(void.spec()).result()
    again[0, :2] = np.frombuffer(first[::-1], "V1")
    assert ours.open({**spec, "field": "a"}).result().read().result().tolist() == [513, 258, 3]


def test_single_fields(tmp_path: Path) -> None:
    """Of one field, TensorStore stores the fill value alone: both kinds of documents are read."""
    one = {"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int8"}]}}
    for maker in (theirs, ours):
        spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/{maker.__name__}/"}
        maker.open({**spec, "metadata": {"shape": [2], "data_type": one, "fill_value": 3}}, create=True).result()
        assert [library.open(spec).result().read().result().tolist() for library in (theirs, ours)] == [[3, 3]] * 2


def test_fields_in_transactions(tmp_path: Path) -> None:
    """Fields that were written together are stored together, and leave alone what somebody else wrote meanwhile."""
    names = ["a", "b", "c"]
    spec = {"driver": "zarr", "kvstore": f"file://{tmp_path}/"}
    metadata = {"shape": [4], "chunks": [2], "dtype": [[name, ">i4", [2]] for name in names]}
    ours.open({**spec, "metadata": metadata, "field": "a"}, create=True).result()
    a, b, c = (ours.open({**spec, "field": name}).result() for name in names)
    with ours.Transaction() as transaction:
        a.with_transaction(transaction)[0] = [1, 2]
        b.with_transaction(transaction)[:2, 1] = 3
        c[0] = 9
        assert a.read().result().tolist() == [[0, 0]] * 4
        assert a.with_transaction(transaction)[0].read().result().tolist() == [1, 2]
    found = [theirs.open({**spec, "field": name}).result().read().result().tolist() for name in names]
    assert found == [[[1, 2], *[[0, 0]] * 3], [[0, 3], [0, 3], [0, 0], [0, 0]], [[9, 9], *[[0, 0]] * 3]]
