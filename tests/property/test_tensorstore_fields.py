"""TensorStore as the judge: fields of structs, and elements by their bytes, in files that both write."""

from __future__ import annotations

import ctypes
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import blizzarr.tensorstore as ours
from blizzarr import views
from support.view_chains import is_hazardous, operation

theirs = pytest.importorskip("tensorstore")

BASES = {
    "zarr": ["<i2", ">i2", "|u1", "<f4", ">f8", "|b1", "<c8", ">c16", "|S3", "|V2", "bfloat16", "int4", "float8_e5m2"],
}
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
    if array.dtype.kind in "SV" and array.dtype.names is None:
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


@pytest.mark.parametrize("block", range(4))
def test_fields_of_v2(block: int, tmp_path: Path) -> None:
    """Each writes what the other reads, through views of a field, whose other fields stay as they are."""
    compared = 0
    for seed in range(60 * block, 60 * (block + 1)):
        random = Random(seed)
        metadata = v2_case(random)
        spec = {"driver": "zarr", "kvstore": f"file://{tmp_path}/{seed}/"}
        maker = random.choice([theirs, ours])
        options = choices(metadata["dtype"])
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
            written = done(lambda: writer.write(value).result())  # noqa: B023
            assert not isinstance(written, type), (note, done(lambda: pair[0].write(value).result()))  # noqa: B023
            read = [shown(view.read().result()) for view in pair]
            assert read[0] == read[1], note
            void = {**spec, "open_as_void": True}
            whole = [shown(library.open(void).result().read().result()) for library in (theirs, ours)]
            assert whole[0] == whole[1], note
            compared += read[0][1] != ()
    assert compared > 30
