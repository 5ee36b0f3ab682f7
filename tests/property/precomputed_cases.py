"""Random documents of volumes of Neuroglancer, and what specs demand of them."""

from __future__ import annotations

from random import Random
from typing import Any

DTYPES = ("uint8", "uint16", "uint32", "int8", "int16", "int32", "uint64", "float32")
UNITS: list[Any] = [None, None, "nm", "4 nm", "8 nm", "0.5 s"]
KEYS = ("a", "8_8_8", "b/c")
RESOLUTIONS = ([8, 8, 8], [4, 4, 40], [1.5, 1, 1])


def sharding(random: Random) -> dict[str, Any]:
    """Shards, some of which are boxes."""
    found: dict[str, Any] = {
        "@type": "neuroglancer_uint64_sharded_v1",
        "preshift_bits": random.choice([0, 1, 2, 9]),
        "minishard_bits": random.choice([0, 1, 3]),
        "shard_bits": random.choice([0, 2, 5]),
        "hash": random.choice(["identity", "identity", "murmurhash3_x86_128"]),
    }
    for name in ("data_encoding", "minishard_index_encoding"):
        if random.random() < 0.7:
            found[name] = random.choice(["raw", "gzip"])
    return found


def scale(random: Random, dtype: str) -> dict[str, Any]:
    """One resolution."""
    encodings = ["raw"]
    if dtype in ("uint32", "uint64"):
        encodings.append("compressed_segmentation")
    found: dict[str, Any] = {
        "key": random.choice(KEYS),
        "resolution": random.choice(RESOLUTIONS),
        "size": [random.choice([0, 1, 5, 16, 33]) for _ in range(3)],
        "encoding": random.choice(encodings),
        "chunk_sizes": [
            [random.choice([1, 4, 7, 16, 64]) for _ in range(3)] for _ in range(random.choice([1, 1, 1, 2]))
        ],
    }
    if random.random() < 0.6:
        found["voxel_offset"] = [random.choice([0, 3, -20, 1000]) for _ in range(3)]
    if found["encoding"] == "compressed_segmentation":
        found["compressed_segmentation_block_size"] = [random.choice([1, 2, 5, 8]) for _ in range(3)]
    if random.random() < 0.4:
        found["sharding"] = sharding(random)
        del found["chunk_sizes"][1:]
    elif random.random() < 0.2:
        found["sharding"] = None
    if random.random() < 0.1:
        found["more"] = {"a": [1, None]}
    return found


def info(random: Random) -> dict[str, Any]:
    """A document."""
    dtype = random.choice(DTYPES)
    found: dict[str, Any] = {
        "type": random.choice(["image", "segmentation", "other"]),
        "data_type": dtype,
        "num_channels": random.choice([1, 1, 2, 3]),
        "scales": [scale(random, dtype) for _ in range(random.choice([1, 1, 2, 3]))],
    }
    if random.random() < 0.8:
        found["@type"] = "neuroglancer_multiscale_volume"
    if random.random() < 0.1:
        found["mesh"] = "mesh_dir"
    return found


WRONG: list[Any] = [None, -1, 0, 3, 1.5, 64.0, "x", "8", [], {}, [1, 2], [1, 2, "3"], [1, 2, -3], True, 2**63, "raw"]


def damaged(random: Random, document: dict[str, Any]) -> dict[str, Any]:
    """The document with one member that is missing, or something else."""
    of = document if random.random() < 0.3 or not document["scales"] else random.choice(document["scales"])
    if isinstance(of.get("sharding"), dict) and random.random() < 0.5:
        of = of["sharding"]
    name = random.choice([*of, "sharding", "jpeg_quality", "png_level", "compressed_segmentation_block_size"])
    if random.random() < 0.3:
        of.pop(name, None)
    else:
        of[name] = random.choice(WRONG)
    return document


def demands(random: Random, document: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Members of a spec, and a schema, that mostly go with one scale of a document."""
    number = random.randrange(len(document["scales"]))
    of = document["scales"][number]
    spec: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    if random.random() < 0.4:
        spec["scale_index"] = number if random.random() < 0.9 else 7
    many = {name: document[name] for name in ("type", "data_type", "num_channels") if random.random() < 0.3}
    one = {name: of[name] for name in of if name not in ("chunk_sizes", "more") and random.random() < 0.25}
    if "compressed_segmentation_block_size" in one:
        one["encoding"] = of["encoding"]
    if "voxel_offset" in one:
        one["size"] = of["size"]
    if random.random() < 0.25:
        one["chunk_size"] = random.choice([*of["chunk_sizes"], [4, 4, 4]])
    other = scale(random, document["data_type"])
    for name in list(one):
        if name in other and random.random() < 0.1:
            one[name] = other[name]
    if many:
        spec["multiscale_metadata"] = many
    if one:
        spec["scale_metadata"] = one
    first = of.get("voxel_offset", [0, 0, 0])
    if random.random() < 0.2:
        schema["dtype"] = document["data_type"] if random.random() < 0.8 else random.choice(DTYPES)
    if random.random() < 0.2:
        low = [*first, 0]
        high = [*(a + b for a, b in zip(first, of["size"], strict=True)), document["num_channels"]]
        if random.random() < 0.2:
            high[random.randrange(4)] += 1
        schema["domain"] = {"inclusive_min": low, "exclusive_max": high}
        if random.random() < 0.3:
            schema["domain"]["labels"] = random.choice(
                [["x", "y", "z", "channel"], ["x", "y", "", ""], ["a"] + [""] * 3]
            )
    if random.random() < 0.15:
        codec = {"driver": "neuroglancer_precomputed"}
        if random.random() < 0.7:
            codec["encoding"] = of["encoding"] if random.random() < 0.8 else "raw"
        if random.random() < 0.3:
            codec["shard_data_encoding"] = random.choice(["raw", "gzip"])
        schema["codec"] = codec
    if random.random() < 0.15:
        sides = [*of["chunk_sizes"][0], document["num_channels"]]
        if random.random() < 0.3:
            sides[random.randrange(4)] = random.choice([0, 5, 64])
        schema["chunk_layout"] = {
            random.choice(["chunk", "read_chunk", "write_chunk", "codec_chunk"]): {"shape": sides}
        }
    if random.random() < 0.15:
        lengths = zip(of["resolution"], "xyz", strict=True)
        schema["dimension_units"] = [
            *([length, "nm"] if random.random() < 0.8 else None for length, _ in lengths),
            None,
        ]
        if random.random() < 0.2:
            schema["dimension_units"] = [random.choice(UNITS) for _ in range(4)]
    if random.random() < 0.02:
        schema["fill_value"] = 0
    if schema:
        spec["schema"] = schema
    return spec, schema


def grid(random: Random, most: int) -> dict[str, Any]:
    """Constraints on one grid of chunks."""
    found: dict[str, Any] = {}
    soft = random.choice(["", "_soft_constraint"])
    if random.random() < 0.6:
        found[f"shape{soft}"] = [random.choice([None, 0, 4, 8, 16, 64, -1, most]) for _ in range(3)] + [None]
    if random.random() < 0.3:
        found["aspect_ratio"] = [random.choice([None, 1, 2, 0.5]) for _ in range(4)]
    if random.random() < 0.4:
        found["elements"] = random.choice([1, 100, 512, 10_000, 10**6, 10**8])
    return found


def creation(random: Random) -> dict[str, Any]:
    """A spec that mostly can be created."""
    dtype = random.choice([*DTYPES, "int64"]) if random.random() < 0.1 else random.choice(DTYPES)
    sizes = [random.choice([1, 5, 33, 100, 1000, 34432]) for _ in range(3)]
    channels = random.choice([1, 2, 3])
    of = scale(random, dtype)
    spec: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    many = {name: value for name, value in (("type", "t"), ("num_channels", channels)) if random.random() < 0.4}
    one = {
        name: of[name] for name in ("key", "resolution", "encoding", "sharding") if name in of and random.random() < 0.4
    }
    if of["encoding"] == "raw" and random.random() < 0.2:
        one["encoding"] = random.choice(["jpeg", "png"])
        if random.random() < 0.5:
            one[{"jpeg": "jpeg_quality", "png": "png_level"}[one["encoding"]]] = 5
    if one.get("encoding") == "compressed_segmentation" and random.random() < 0.5:
        one["compressed_segmentation_block_size"] = of["compressed_segmentation_block_size"]
    if random.random() < 0.3:
        one["chunk_size"] = [random.choice([1, 8, 64]) for _ in range(3)]
    if random.random() < 0.5:
        one["size"] = sizes
        if random.random() < 0.5:
            one["voxel_offset"] = [3, -7, 0]
    else:
        first = random.choice([[0, 0, 0], [20, -30, 40]])
        high = [a + b for a, b in zip(first, sizes, strict=True)]
        schema["domain"] = {"inclusive_min": [*first, 0], "exclusive_max": [*high, channels]}
        if random.random() < 0.1:
            del schema["domain"]
    if random.random() < 0.6:
        schema["dtype"] = dtype
    if random.random() < 0.6 or "dtype" not in schema:
        many["data_type"] = dtype
        if random.random() < 0.05:
            del many["data_type"]
    if random.random() < 0.4:
        layout = {}
        for usage, often in (("chunk", 0.3), ("read_chunk", 0.4), ("write_chunk", 0.6), ("codec_chunk", 0.15)):
            if random.random() < often:
                layout[usage] = grid(random, random.choice(sizes))
        schema["chunk_layout"] = layout
    if random.random() < 0.2:
        codec = {"driver": "neuroglancer_precomputed"}
        if random.random() < 0.7:
            codec["encoding"] = of["encoding"]
        if random.random() < 0.4:
            codec["shard_data_encoding"] = random.choice(["raw", "gzip"])
        schema["codec"] = codec
    if random.random() < 0.3:
        schema["dimension_units"] = [random.choice([None, "nm", "4 nm", "2.5 nm"]) for _ in range(3)] + [None]
    if random.random() < 0.02:
        schema["fill_value"] = 0
    if random.random() < 0.15:
        spec["scale_index"] = random.choice([0, 0, 1])
    if many:
        spec["multiscale_metadata"] = many
    if one:
        spec["scale_metadata"] = one
    if schema:
        spec["schema"] = schema
    return spec
