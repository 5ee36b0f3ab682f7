"""Version 3."""

from __future__ import annotations

import sys

from interop.rules import Rule, cannot, neither

# Short-hand codec names are no reason not to read us: we store the long ones, for this very reason.
ZARR_PYTHON = (
    cannot("writes", "takes no short-hand codec names", "short-hand codec"),
    cannot("writes", "checks a shard's inner shape before the transpose", "sharding_indexed", "codecs before sharding"),
    cannot("reads", "checks a shard's inner shape before the transpose", "sharding_indexed", "codecs before sharding"),
    cannot("writes", "writes every NaN as NaN, whatever its payload", "fill hex"),
    cannot("reads", "loses the payload of a float16 NaN", "fill hex", "float16"),
)
# numcodecs compresses for zarr-python; zarrs brings its own blosc.
SNAPPY = cannot("writes", "has numcodecs without snappy", "blosc snappy")
SHARDS_HERE = (
    cannot("writes", "fails at shards of rank 0", "rank 0", "sharding_indexed"),
    *neither("fails at shards of raw bits", "raw bits", "sharding_indexed"),
)
# Beside us is the newest zarr-python for this Python: tests/interop/peers.txt.
GRIDS_HERE = neither("has regular grids only", "grid rectilinear")
ZARR_PYTHON_HERE = (*ZARR_PYTHON, SNAPPY, *((*SHARDS_HERE, *GRIDS_HERE) if sys.version_info < (3, 12) else ()))
ZARRS_PYTHON = (
    *(GRIDS_HERE if sys.version_info < (3, 12) else ()),
    *ZARR_PYTHON,
    *neither("knows no raw_bytes, as zarr-python names them", "raw bits"),
    cannot("reads", "hands its metadata on through zarr-python, which loses the payload of a NaN", "fill hex"),
    cannot("writes", "refuses a transpose of rank 0", "rank 0", "transpose"),
    cannot("reads", "refuses a transpose of rank 0", "rank 0", "transpose"),
    cannot("reads", "swaps a big-endian complex number as one, not as two", "complex", "big-endian"),
    cannot("reads", "swaps a big-endian complex number as one, not as two", "complex", "inner big-endian"),
)
TENSORSTORE = (
    *neither("has arrays only", "group"),
    *neither("has regular grids only", "grid rectilinear"),
    cannot("writes", "ends the process with a failed check", "raw bits", fatal=True),
    cannot("reads", "reads raw bytes as numbers along one more dimension", "raw bits"),
    cannot("writes", "has no codecs of bytes after sharding", "codecs after sharding"),
    cannot("reads", "has no codecs of bytes after sharding", "codecs after sharding"),
    cannot("writes", "wants every dimension name once", "repeated dimension names"),
    cannot("reads", "wants every dimension name once", "repeated dimension names"),
    cannot("writes", "has attributes of 64 bits", "attribute larger"),
    cannot("reads", "reads integers of more than 64 bits as float64", "attribute larger"),
)
ZARRISTA = (
    cannot("reads", "knows no raw_bytes, as zarr-python names them", "raw bits"),
    cannot("writes", "opens groups and cannot create them", "group"),
    cannot("writes", "refuses a transpose of rank 0", "rank 0", "transpose"),
    cannot("reads", "refuses a transpose of rank 0", "rank 0", "transpose"),
    cannot("writes", "has attributes of 64 bits", "attribute larger"),
    cannot("reads", "has attributes of 64 bits", "attribute larger"),
)
ZARRITA_DATA_TYPES = tuple(
    cannot(direction, "has no such data type in this Node", tag)
    for direction in ("writes", "reads")
    for tag in ("raw bits", "complex", "float16")
)
ALL_MISSING = ("nothing written",)
ZARRITA = (
    *neither("has regular grids only", "grid rectilinear"),
    cannot("writes", "writes no consolidated metadata", "consolidated"),
    *ZARRITA_DATA_TYPES,
    cannot("writes", "writes no shards", "sharding_indexed"),
    cannot("writes", "decodes gzip and does not encode it", "gzip"),
    cannot("writes", "decodes crc32c and does not encode it", "crc32c"),
    cannot("writes", "creates no arrays with chunk keys of v2", "keys v2"),
    cannot("writes", "takes no short-hand codec names", "short-hand codec"),
    cannot("writes", "takes the last of two transposes for both", "two transposes"),
    cannot("writes", "refuses a selection of nothing", "nothing written"),
    cannot("writes", "has numbers of 53 bits in JSON", "fill beyond 2**53"),
    cannot("writes", "has numbers of 53 bits in JSON", "attribute large"),
    cannot("writes", "has numbers of 53 bits in JSON", "attribute larger"),
    cannot("writes", "writes -0.0 as 0", "fill -0.0"),
    cannot("reads", "takes the last of two transposes for both", "two transposes"),
    cannot("reads", "looks for every shard's index at the end", "index at the start", unless=ALL_MISSING),
    cannot("reads", "ignores the codecs before sharding", "codecs before sharding", unless=ALL_MISSING),
    cannot("reads", "ignores the codecs after sharding", "codecs after sharding", unless=ALL_MISSING),
    cannot("reads", "has no shards in shards", "inner sharding_indexed", unless=ALL_MISSING),
    cannot("reads", "has numbers of 53 bits in JSON", "fill that is no float64"),
    cannot("reads", "has numbers of 53 bits in JSON", "attribute large"),
    cannot("reads", "has numbers of 53 bits in JSON", "attribute larger"),
    cannot("reads", "knows no hexadecimal fill values", "fill hex"),
    cannot("reads", "refuses a selection of nothing", "empty"),
)

ZARR_JAVA: tuple[Rule, ...] = (
    cannot("writes", "writes no consolidated metadata", "consolidated"),
    cannot("reads", "expects a text for consolidated metadata", "v3", "consolidated"),
    cannot("writes", "leaves null out of attributes of groups", "group", "v3", "attribute none"),
    cannot("writes", "leaves null out of attributes of groups", "group", "v3", "attribute deep"),
    *neither("has regular grids only", "grid rectilinear"),
    *neither("has no such data type", "float16"),
    *neither("has no such data type", "complex"),
    *neither("has no such data type", "raw bits"),
    *neither("checks a shard's inner shape before the transpose", "sharding_indexed", "codecs before sharding"),
    *neither("has no infinite fill values", "v3", "fill Infinity"),
    *neither("refuses a transpose of rank 0", "rank 0", "transpose"),
    cannot("writes", "wants a configuration of chunk keys", "keys without configuration"),
    cannot("writes", "takes no short-hand codec names", "short-hand codec"),
    cannot("writes", "writes nothing at all or something", "v3", "nothing written"),
    cannot("writes", "writes something else across chunks", "v3", "written across chunks"),
    cannot("reads", "hands more than the frame to zstd", "zstd within crc32c", unless=("empty",)),
    # Not always: it depends on where in a shard the chunk lies.
    cannot("reads", "hands more than the frame to zstd", "inner zstd", fatal=True),
    cannot("reads", "looks for the chunk of a scalar under the name of the array", "rank 0", "keys v2"),
    cannot("reads", "reads every NaN as NaN, whatever its payload", "fill hex"),
    cannot("writes", "writes the chunk of a scalar to the name of the array", "rank 0", "keys v2"),
)
