"""New arrays of zarr3: random constraints give both libraries the same document, schema, or error (K-20 to K-64)."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest
import tensorstore as ts

from blizzarr.spec.schema import Schema
from blizzarr.spec.zarr3.driver import Zarr3Constraints
from unit.spec.oracle import outcome

CASES = 1500
DTYPES = (
    *("bool", "int2", "int4", "int8", "uint8", "int16", "uint16", "int32", "uint64", "float16", "bfloat16"),
    *("float32", "float64", "complex64", "complex128", "float8_e5m2"),
)
COMPRESSORS: list[Any] = [
    "gzip",
    {"name": "gzip", "configuration": {"level": 9}},
    "zstd",
    {"name": "zstd", "configuration": {"level": 5}},
    {"name": "zstd", "configuration": {"checksum": True}},
    "blosc",
    {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 3}},
    {"name": "blosc", "configuration": {"shuffle": "noshuffle"}},
    {"name": "blosc", "configuration": {"shuffle": "bitshuffle"}},
    {"name": "blosc", "configuration": {"typesize": 3, "blocksize": 1000}},
]
INDEX_CODECS: list[Any] = [["bytes", "crc32c"], ["bytes"], ["crc32c"], ["gzip"], []]


def chain(random: Random, rank: int, depth: int = 0) -> list[Any]:
    """Some codecs, with as many options left open as not."""
    found: list[Any] = []
    if random.random() < 0.3:
        order = random.choice(["C", "F", random.sample(range(rank), rank), random.sample(range(rank), rank)])
        if random.random() < 0.03:
            order = random.sample(range(rank + 1), rank + 1)
        found.append({"name": "transpose", "configuration": {"order": order}})
    which = random.random()
    if which < 0.3:
        endian = {"endian": random.choice(["little", "big"])}
        found.append(random.choice(["bytes", {"name": "bytes", "configuration": endian}]))
    elif which < 0.5 and depth < 2:
        options: dict[str, Any] = {}
        if random.random() < 0.7:
            options["chunk_shape"] = [random.choice([1, 2, 5, 10, 3]) for _ in range(rank)]
        if random.random() < 0.5:
            options["codecs"] = chain(random, rank, depth + 1)
        if random.random() < 0.2:
            options["index_codecs"] = random.choice(INDEX_CODECS)
        if random.random() < 0.3:
            options["index_location"] = random.choice(["start", "end"])
        found.append({"name": "sharding_indexed", "configuration": options})
        if random.random() < 0.9:
            return found
    if random.random() < 0.6:
        found.append(random.choice(COMPRESSORS))
    if random.random() < 0.3:
        found.append(random.choice(["crc32c", "blosc"]))
    return found


def either(random: Random, name: str) -> str:
    """The name of a hard constraint, or of a soft one."""
    return random.choice([name, f"{name}_soft_constraint"])


def layout(random: Random, rank: int) -> dict[str, Any]:
    """Constraints on the layout."""
    found: dict[str, Any] = {}
    if random.random() < 0.2:
        found[either(random, "inner_order")] = random.sample(range(rank), rank)
    if random.random() < 0.03:
        found["grid_origin"] = [random.choice([0, 0, 0, 1]) for _ in range(rank)]
    for usage, often in (("chunk", 0.25), ("read_chunk", 0.25), ("write_chunk", 0.25), ("codec_chunk", 0.04)):
        if random.random() > often:
            continue
        grid: dict[str, Any] = {}
        if random.random() < 0.6:
            sides = [random.choice([None, 0, 1, 2, 4, 5, 10, 20, 7, -1, 50]) for _ in range(rank)]
            grid[either(random, "shape")] = sides
        if random.random() < 0.4:
            grid[either(random, "aspect_ratio")] = [random.choice([None, 1, 2, 0.5, 3.7, 10]) for _ in range(rank)]
        if random.random() < 0.4:
            grid[either(random, "elements")] = random.choice([1, 10, 100, 1000, 12345, 10**6, 10**9, 0, 7])
        found[usage] = grid
    return found


def fill(random: Random, dtype: str) -> Any:
    """A fill value as metadata have it."""
    if dtype == "bool":
        return True
    if dtype.startswith("complex"):
        return [1, random.choice(["NaN", 2.5])]
    return random.choice([1.5, "NaN", "-Infinity", "0x7f", 0]) if "float" in dtype else 1


def random_constraints(random: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Constraints on metadata, and a schema."""
    rank = random.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])
    metadata: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    shape = [random.choice([0, 1, 5, 10, 100, 1000, 64, 12345]) for _ in range(rank)]
    dtype = random.choice(DTYPES)
    if random.random() < 0.6:
        metadata["shape"] = shape
    else:
        schema["domain"] = {"shape": shape}
        if random.random() < 0.3:
            schema["domain"]["labels"] = [random.choice(["", "x", str(dim)]) for dim in range(rank)]
    if random.random() < 0.6:
        metadata["data_type"] = dtype
        if random.random() < 0.3:
            metadata["fill_value"] = fill(random, dtype)
    else:
        schema["dtype"] = dtype
    if random.random() < 0.15 and not dtype.startswith("complex"):
        schema["fill_value"] = True if dtype == "bool" else random.choice([0, 1, True, -1])
    if random.random() < 0.4:
        sides = [random.choice([1, 2, 4, 5, 10, 20, 60]) for _ in range(rank)]
        metadata["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": sides}}
    if random.random() < 0.5:
        metadata["codecs"] = chain(random, rank)
    if random.random() < 0.3:
        schema["codec"] = {"driver": "zarr3", "codecs": chain(random, rank)}
    if random.random() < 0.6:
        schema["chunk_layout"] = layout(random, rank)
    if random.random() < 0.2:
        metadata["dimension_names"] = [random.choice(["a", "b", None, ""]) for _ in range(rank)]
    if random.random() < 0.15:
        units = [random.choice([None, "2nm", ""]) for _ in range(rank)]
        metadata["attributes"] = {"a": 1, "dimension_units": units}
    if random.random() < 0.15:
        schema["dimension_units"] = [random.choice([None, [2.0, "nm"], "3s"]) for _ in range(rank)]
    if random.random() < 0.1:
        separator = {"separator": random.choice("./")}
        metadata["chunk_key_encoding"] = {"name": random.choice(["default", "v2"]), "configuration": separator}
    return metadata, schema


def theirs(metadata: dict[str, Any], schema: dict[str, Any]) -> list[Any]:
    """What TensorStore stores, the schema it then has, and the metadata of its spec."""
    spec = {"driver": "zarr3", "kvstore": {"driver": "memory"}, "metadata": metadata, "schema": schema}
    store = ts.open(spec, create=True, context=ts.Context()).result()
    return [json.loads(store.kvstore["zarr.json"]), store.schema.to_json(), store.spec().to_json()["metadata"]]


def ours(metadata: dict[str, Any], schema: dict[str, Any]) -> list[Any]:
    """The same by this library."""
    constraints, wanted = Zarr3Constraints.from_json(metadata), Schema(schema)
    constraints.check_dtype(wanted)
    constraints.constrain(wanted, {})
    meta = constraints.create(wanted, {})
    constraints.check(meta, wanted, {})
    return [
        dict(meta.source or {}),
        Zarr3Constraints.schema_of(meta, {}).to_json(),
        Zarr3Constraints.of(meta).to_json(),
    ]


NOT_OF_METADATA = re.compile(
    r"Error (opening|writing|parsing object member) \"(zarr3|zarr.json|schema|metadata)\"( driver)?: "
    r"|Cannot create using specified \"metadata\" and schema: "
)


def gist(found: tuple[str, Any]) -> tuple[str, str]:
    """The outcome without who says it; of two codecs that cannot be merged the second.

    TensorStore shows the first one with what was merged into it before the error.
    """
    kind, said = found
    if kind == "gives":
        return kind, json.dumps(said, sort_keys=True)
    said = NOT_OF_METADATA.sub("", said)
    return kind, re.sub(r"Cannot merge codec spec .* with (\{.*?\}): .*", r"Cannot merge \1", said)


@pytest.mark.parametrize("block", range(10))
def test_random_constraints(block: int) -> None:
    """The same array comes of the same constraints, to the last option; or the same contradiction is named."""
    for seed in range(block * CASES // 10, (block + 1) * CASES // 10):
        case = random_constraints(Random(seed))
        found = outcome(lambda case=case: ours(*case), list)
        expected = outcome(lambda case=case: theirs(*case), list)
        assert gist(found) == gist(expected), (seed, case)
