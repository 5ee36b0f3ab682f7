"""New arrays: random constraints give both libraries the same document and schema, or the same error (K-20 to K-64)."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest
import tensorstore as ts

from blizzarr.spec.drivers import DRIVERS
from blizzarr.spec.schema import Schema
from blizzarr.views import IndexDomain
from unit.spec.oracle import Refusal, outcome

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
    # All bits, as documents have them.
    digits = int(dtype.removeprefix("bfloat").removeprefix("float").partition("_")[0]) // 4 if "float" in dtype else 0
    return random.choice([1.5, "NaN", "-Infinity", f"0x3c{'0' * (digits - 2)}", 0]) if digits else 1


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
        metadata["foo"] = {"must_understand": False, "x": random.randrange(2)}
    if random.random() < 0.15:
        schema["dimension_units"] = [random.choice([None, [2.0, "nm"], "3s"]) for _ in range(rank)]
    if random.random() < 0.1:
        separator = {"separator": random.choice("./")}
        metadata["chunk_key_encoding"] = {"name": random.choice(["default", "v2"]), "configuration": separator}
    return metadata, schema


TYPES = {
    "bool": "|b1",
    "int8": "|i1",
    "uint8": "<u1",
    "int16": ">i2",
    "uint16": "<u2",
    "int32": ">i4",
    "uint64": "<u8",
    "float16": "<f2",
    "float32": ">f4",
    "float64": "<f8",
    "complex64": "<c8",
    "complex128": ">c16",
}
V2_COMPRESSORS: list[Any] = [
    None,
    {"id": "zlib"},
    {"id": "zstd", "level": 3},
    {"id": "blosc", "cname": "zstd", "shuffle": 2},
    {"id": "blosc"},
]


def random_v2_constraints(random: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Constraints on metadata of v2, and a schema."""
    v3, schema = random_constraints(random)
    metadata: dict[str, Any] = {}
    if "shape" in v3:
        metadata["shape"] = v3["shape"]
    if (dtype := v3.get("data_type")) is not None:
        metadata["dtype"] = TYPES.get(dtype, dtype)
        if "fill_value" in v3:
            value = random.choice([None, v3["fill_value"]])
            # Documents of v2 have no hexadecimal digits.
            metadata["fill_value"] = 2.5 if isinstance(value, str) and value.startswith("0x") else value
    if "chunk_grid" in v3 and random.random() < 0.6:
        metadata["chunks"] = v3["chunk_grid"]["configuration"]["chunk_shape"]
    if random.random() < 0.3:
        metadata["compressor"] = random.choice(V2_COMPRESSORS)
    if random.random() < 0.3:
        metadata["order"] = random.choice("CF")
    if random.random() < 0.2:
        metadata["dimension_separator"] = random.choice("./")
    if "codec" in schema:
        schema["codec"] = {"driver": "zarr"}
        if random.random() < 0.5:
            schema["codec"]["compressor"] = random.choice(V2_COMPRESSORS)
    if random.random() < 0.7:
        schema.pop("dimension_units", None)
    return metadata, schema


def theirs(driver: str, metadata: dict[str, Any], schema: dict[str, Any]) -> list[Any]:
    """What TensorStore stores, the schema it then has, and the metadata of its spec."""
    spec = {"driver": driver, "kvstore": {"driver": "memory"}, "metadata": metadata, "schema": schema}
    store = ts.open(spec, create=True, context=ts.Context()).result()
    (key,) = store.kvstore.list().result()
    return [json.loads(store.kvstore[key]), store.schema.to_json(), store.spec().to_json()["metadata"]]


def ours(driver: str, metadata: dict[str, Any], schema: dict[str, Any]) -> list[Any]:
    """The same by this library."""
    stored: Any = DRIVERS[driver]
    kind = stored.constraints
    constraints, wanted = kind.from_json(metadata), Schema(schema)
    constraints.check_dtype(wanted)
    constraints.constrain(wanted, {})
    meta = constraints.create(wanted, {})
    constraints.check(meta, wanted, {})
    found = kind.schema_of(meta, {})
    if wanted.domain is not None and driver == "zarr":
        # There is no room for labels in the document: whoever opens an array gives them to it.
        found.update(domain=IndexDomain(labels=wanted.domain.labels))
    return [dict(meta.source or {}), found.to_json(), kind.of(meta).to_json()]


def gist(found: tuple[str, Any]) -> tuple[str, Any]:
    """The outcome without who says it; of two codecs that cannot be merged the second.

    TensorStore shows the first one with what was merged into it before the error, and bytes as characters.
    """
    kind, said = found
    if not isinstance(said, Refusal):
        return kind, json.dumps(said, sort_keys=True)
    text = re.sub(r"(schema requires fill value of) .*", r"\1", said.text, flags=re.DOTALL)
    text = re.sub(r"Cannot merge codec spec .* with (\{.*?\}): .*", r"Cannot merge \1", text)
    return kind, Refusal(text, said.is_ours).without(*NOT_OF_METADATA)


NOT_OF_METADATA = ("zarr3", "zarr", "zarr.json", ".zarray", "schema", "metadata")
"""The names of what an error is about as a whole, which only a spec has."""


def compare(*case: Any) -> None:
    """The same comes of it with both."""
    assert gist(outcome(lambda: ours(*case), list)) == gist(outcome(lambda: theirs(*case), list)), case


@pytest.mark.parametrize("driver", ["zarr3", "zarr"])
@pytest.mark.parametrize("block", range(10))
def test_random_constraints(driver: str, block: int) -> None:
    """The same array comes of the same constraints, to the last option; or the same contradiction is named."""
    make = {"zarr3": random_constraints, "zarr": random_v2_constraints}[driver]
    for seed in range(block * CASES // 10, (block + 1) * CASES // 10):
        compare(driver, *make(Random(seed)))


@pytest.mark.parametrize("seed", [3829, 5903, 8908])
def test_ratios_of_chunks_that_are_not_cut(seed: int) -> None:
    """Ratios of what is read and of what is written contradict those of the codec, and each other."""
    compare("zarr3", *random_constraints(Random(seed)))
