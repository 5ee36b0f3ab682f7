"""TensorStore as the judge of n5: random arrays are created, opened, refused, written, read and resized the same."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import blizzarr.tensorstore as ours
from property.test_tensorstore_creation import layout
from unit.spec.oracle import Refusal, outcome

theirs = pytest.importorskip("tensorstore")

DTYPES = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64")
UNITS: list[Any] = [None, "nm", "4 nm", "0.5 s", 3]


def compression(random: Random) -> dict[str, Any]:
    """One of those that there are, options left out as often as not."""
    options: dict[str, dict[str, list[Any]]] = {
        "raw": {},
        "gzip": {"level": [-1, 0, 1, 9], "useZlib": [True, False]},
        "bzip2": {"blockSize": [1, 9]},
        "xz": {"preset": [0, 6]},
        "zstd": {"level": [-5, 0, 1, 19]},
        "blosc": {"blocksize": [0, 256]},
    }
    name = random.choice(list(options))
    made = {"type": name} | {
        option: random.choice(values) for option, values in options[name].items() if random.random() < 0.5
    }
    if name == "blosc":
        made |= {"clevel": random.randint(0, 9), "shuffle": random.randint(0, 2)}
        made["cname"] = random.choice(["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"])
    return made


def constraints(random: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Metadata and a schema that mostly go together."""
    rank = random.choice([0, 1, 2, 2, 3, 3])
    shape = [random.choice([0, 1, 3, 10, 50]) for _ in range(rank)]
    labels = random.sample(["", "x", "y", "z"], rank)
    given: list[tuple[str, str, Any]] = [
        ("dimensions", "domain", shape),
        ("dataType", "dtype", random.choice(DTYPES)),
        ("compression", "codec", compression(random)),
        ("blockSize", "chunk_layout", [random.choice([1, 4, 7]) for _ in range(rank)]),
    ]
    metadata: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    for name, in_schema, value in given:
        where = random.choices(["metadata", "schema", "both", "neither"], [5, 5, 2, 1])[0]
        if where in ("metadata", "both"):
            metadata[name] = value
        if where in ("schema", "both"):
            schema[in_schema] = value
    if "domain" in schema:
        schema["domain"] = {"shape": shape} | ({"labels": labels} if random.random() < 0.3 else {})
    if "codec" in schema:
        schema["codec"] = {"driver": "n5", "compression": schema["codec"]}
    if "chunk_layout" in schema:
        schema["chunk_layout"] = layout(random, rank)
    if random.random() < 0.3:
        metadata["axes"] = labels
    if random.random() < 0.3:
        metadata["units"] = [random.choice(["nm", "s", ""]) for _ in range(rank)]
    if random.random() < 0.2:
        metadata["resolution"] = [random.choice([1, 4, 0.5]) for _ in range(rank)]
    if random.random() < 0.3:
        schema["dimension_units"] = [random.choice(UNITS) for _ in range(rank)]
    if random.random() < 0.2:
        metadata["title"] = random.choice(["a", {"b": [1, 2.5, None]}, 5])
    if random.random() < 0.03:
        schema["fill_value"] = 0
    return metadata, schema


def opened(library: Any, spec: dict[str, Any], document: bytes | None = None, **modes: bool) -> str:
    """All that an array says of itself, and what is stored."""
    context = library.Context()
    store = library.KvStore.open("memory://", context=context).result()
    if document is not None:
        store["attributes.json"] = document
    array = library.open(spec, context=context, **modes).result()
    said = json.dumps([array.spec().to_json(), array.schema.to_json()], sort_keys=True)
    return f"{said} {array.dimension_units} {array.fill_value} {json.dumps(json.loads(store['attributes.json']))}"


def gist(found: tuple[str, Any]) -> tuple[str, Any]:
    """Without the codecs that cannot be merged, which each library spells in its own way."""
    kind, said = found
    if isinstance(said, Refusal):
        said = Refusal(re.sub(r"Cannot merge codec spec .* with .*?\}:", "Cannot merge:", said.text), said.is_ours)
    return kind, said


def both(act: Callable[[Any], str], seed: int) -> tuple[str, Any]:
    """The same act of both libraries, which must come to the same."""
    mine, judged = (gist(outcome(lambda: act(library), str)) for library in (ours, theirs))  # noqa: B023
    assert mine == judged, seed
    return mine


@pytest.mark.parametrize("block", range(4))
def test_documents(block: int) -> None:
    """New arrays, and constraints that mostly are a part of what an array was made from."""
    refused = 0
    for seed in range(block * 100, (block + 1) * 100):
        random = Random(seed)
        metadata, schema = constraints(random)
        spec = {"driver": "n5", "kvstore": "memory://", "metadata": metadata, "schema": schema}
        kind, _ = both(lambda library: opened(library, spec, create=True), seed)  # noqa: B023
        if kind != "gives":
            refused += 1
            continue
        document = stored(seed)
        other_metadata, other_schema = constraints(random)
        for whole, other in ((metadata, other_metadata), (schema, other_schema)):
            for name in list(whole):
                if random.random() < 0.4:
                    del whole[name]
            for name in other:
                if random.random() < 0.08:
                    whole[name] = other[name]
        rank = len(json.loads(document)["dimensions"])
        if "domain" in schema and len(schema["domain"]["shape"]) != rank:
            # TensorStore stops the whole process where domain and metadata are of different rank.
            del schema["domain"]
        refused += both(lambda library: opened(library, spec, document), seed)[0] != "gives"  # noqa: B023
    assert refused


def stored(seed: int) -> bytes:
    """What TensorStore stores for the constraints of a seed."""
    metadata, schema = constraints(Random(seed))
    spec = {"driver": "n5", "kvstore": {"driver": "memory"}, "metadata": metadata, "schema": schema}
    found: bytes = theirs.open(spec, create=True, context=theirs.Context()).result().kvstore["attributes.json"]
    return found


def selection(random: Random, shape: list[int]) -> tuple[slice, ...]:
    """A part of an array."""
    ends = [sorted((random.randint(0, length), random.randint(0, length))) for length in shape]
    return tuple(slice(low, high, random.choice([1, 1, 2])) if high > low else slice(low, high) for low, high in ends)


@pytest.mark.parametrize("block", range(4))
def test_elements(block: int, tmp_path: Path) -> None:
    """Both write parts of the same files and read the same from them; what nobody wrote is zero, also after growing."""
    for seed in range(block * 30, (block + 1) * 30):
        random, numbers = Random(seed), np.random.default_rng(seed)
        shape = [random.randint(1, 12) for _ in range(random.randint(0, 4))]
        dtype = random.choice(DTYPES)
        metadata = {
            "dimensions": shape,
            "blockSize": [random.randint(1, 6) for _ in shape],
            "dataType": dtype,
            "compression": compression(random),
        }
        spec = {"driver": "n5", "kvstore": f"file://{tmp_path}/{seed}/"}
        makers = random.sample([ours, theirs], 2)
        makers[0].open({**spec, "metadata": metadata}, create=True).result()
        expected = np.zeros(shape, dtype)
        for _ in range(4):
            part = selection(random, shape)
            values = numbers.integers(0, 100, expected[part].shape).astype(dtype)
            expected[part] = values
            random.choice(makers).open(spec).result()[part].write(values).result()
            part = selection(random, shape)
            for library in makers:
                found = library.open(spec).result()[part].read().result()
                assert found.dtype == expected.dtype
                np.testing.assert_array_equal(found, expected[part], f"{seed} {library.__name__}")
        # Growing only: what TensorStore does with the rest of a block that was cut is another matter.
        grown = [length + random.choice([0, 3]) for length in shape]
        random.choice(makers).open(spec).result().resize(exclusive_max=grown).result()
        larger = np.zeros(grown, dtype)
        larger[tuple(map(slice, shape))] = expected
        for library in makers:
            np.testing.assert_array_equal(library.open(spec).result().read().result(), larger, str(seed))
        assert ours.open(spec).result().spec().to_json()["metadata"]["dimensions"] == grown


def encoded(elements: Any, name: str) -> bytes:
    """A block as N5 for Java stores it: no longer than the array."""
    body = np.asarray(elements).astype(elements.dtype.newbyteorder(">")).tobytes(order="F")
    if name == "gzip":
        import gzip

        body = gzip.compress(body, 1)
    return struct.pack(f">HH{elements.ndim}I", 0, elements.ndim, *elements.shape) + body


@pytest.mark.parametrize("name", ["raw", "gzip"])
def test_blocks_at_the_end(name: str, tmp_path: Path) -> None:
    """Blocks that are stored shorter than the others are read by both, and written whole."""
    for seed in range(12):
        random = Random(seed)
        shape, block = ([random.randint(1, 7) for _ in range(3)] for _ in range(2))
        values = np.arange(1, prod(shape) + 1, dtype="int32").reshape(shape)
        root = tmp_path / f"{seed}"
        root.mkdir()
        metadata = {"dimensions": shape, "blockSize": block, "dataType": "int32", "compression": {"type": name}}
        (root / "attributes.json").write_text(json.dumps(metadata))
        grid = [-(-length // size) for length, size in zip(shape, block, strict=True)]
        for index in np.ndindex(*grid):
            part = tuple(slice(at * size, (at + 1) * size) for at, size in zip(index, block, strict=True))
            key = root.joinpath(*map(str, index))
            key.parent.mkdir(parents=True, exist_ok=True)
            key.write_bytes(encoded(values[part], name))
        spec = {"driver": "n5", "kvstore": f"file://{root}/"}
        for library in (ours, theirs):
            np.testing.assert_array_equal(library.open(spec).result().read().result(), values)
        last = tuple(length - 1 for length in shape)
        values[last] = -5
        ours.open(spec).result()[last] = -5
        np.testing.assert_array_equal(theirs.open(spec).result().read().result(), values)
        stored_block = root.joinpath(*(str(at // size) for at, size in zip(last, block, strict=True))).read_bytes()
        assert struct.unpack(">HH3I", stored_block[:16]) == (0, 3, *block)
