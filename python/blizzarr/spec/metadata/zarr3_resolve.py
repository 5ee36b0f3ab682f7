"""Completing chains of codecs: defaults are filled in, and transposes and shards inserted as a layout needs them.

The way goes from the first codec to the last: each takes what it is to encode (`Decoded`), and gives what the next one
is to encode. What a chain makes of chunks is found on the way back (`layout_of`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from blizzarr.codecs import BloscCodec
from blizzarr.errors import SpecError
from blizzarr.json_values import braces, dump
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.metadata.zarr3_chain import Chain, Codec
from blizzarr.views.values import MAX_RANK

_ENDIAN = "little"
DEFAULT_INDEX_CODECS: Final = Chain((), Codec("bytes", {"endian": _ENDIAN}), (Codec("crc32c"),))
"""The default codecs of a shard's index."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The array that a codec is to encode."""

    rank: int
    itemsize: int
    """Bytes of an element."""
    read_shape: tuple[int, ...] | None = None
    """The chunks that can be read individually."""
    inner_order: tuple[int, ...] | None = None
    """The dimensions from the slowest to the fastest."""
    states_order: bool = False
    """True if the byte order is stated even for bytes, because they contain fields."""


Layout: TypeAlias = tuple[tuple[int, ...] | None, tuple[int, ...] | None]
"""The order of dimensions in a chunk, and the shape of what can be read individually, as far as they are known."""


def resolve(chain: Chain, decoded: Decoded) -> Chain:
    """Return the chain with every option chosen.

    >>> for codec in resolve(Chain(), Decoded(rank=2, itemsize=4, inner_order=(1, 0))).to_json():
    ...     print(codec)
    {'configuration': {'order': [1, 0]}, 'name': 'transpose'}
    {'configuration': {'endian': 'little'}, 'name': 'bytes'}
    """
    transposes = []
    for codec in chain.array_to_array:
        if codec.name == "transpose":
            with _through(codec, "resolving codec spec"):
                codec, decoded = _resolve_transpose(codec, decoded)
        transposes.append(codec)
    to_bytes = chain.array_to_bytes or Codec("bytes", {"endian": _ENDIAN})
    wanted = decoded.inner_order
    if to_bytes.name != "sharding_indexed" and wanted is not None and wanted != tuple(range(decoded.rank)):
        codec, decoded = _resolve_transpose(Codec("transpose", {"order": list(wanted)}), decoded)
        transposes.append(codec)
    with _through(to_bytes, "resolving codec spec"):
        resolved = _to_bytes(to_bytes, decoded)
    if resolved.name == "sharding_indexed" and chain.bytes_to_bytes:
        raise SpecError(
            f"Sharding codec {dump(to_bytes.to_json())} is not compatible with subsequent bytes -> bytes codecs "
            f"{dump([codec.to_json() for codec in chain.bytes_to_bytes])} that apply to the entire shard.  Instead, "
            "bytes -> bytes codecs may be specified as inner codecs that apply to each sub-chunk individually."
        )
    compressors = []
    itemsize: int | None = decoded.itemsize
    for codec in chain.bytes_to_bytes:
        with _through(codec, "resolving codec spec"):
            compressors.append(_compressor(codec, itemsize))
        itemsize = None
    return Chain(tuple(transposes), resolved, tuple(compressors))


def _through(codec: Codec, doing: str) -> prefixed:
    """Name the codec in errors."""
    return prefixed(lambda: f"Error {doing} through codec {dump(codec.to_json())}")


def order_of(codec: Codec, rank: int) -> tuple[int, ...]:
    """Return the permutation of a transpose for this number of dimensions; other codecs keep the order."""
    if codec.name != "transpose":
        return tuple(range(rank))
    order = codec.options["order"]
    if isinstance(order, str):
        return tuple(range(rank) if order == "C" else range(rank - 1, -1, -1))
    if len(order) != rank:
        raise SpecError(f"{braces(order)} is not a valid dimension permutation for a rank {rank} array")
    return tuple(order)


def _resolve_transpose(codec: Codec, decoded: Decoded) -> tuple[Codec, Decoded]:
    order = order_of(codec, decoded.rank)
    inner, read = decoded.inner_order, decoded.read_shape
    encoded = replace(
        decoded,
        inner_order=None if inner is None else tuple(order.index(dim) for dim in inner),
        read_shape=None if read is None else tuple(read[dim] for dim in order),
    )
    return Codec("transpose", {"order": list(order)}), encoded


def _to_bytes(codec: Codec, decoded: Decoded) -> Codec:
    if codec.name == "sharding_indexed":
        return _resolve_shards(codec, decoded)
    if codec.name != "bytes":
        return codec
    has_order = decoded.itemsize > 1 or decoded.states_order
    return Codec("bytes", {"endian": codec.options.get("endian", _ENDIAN)} if has_order else {})


def _resolve_shards(codec: Codec, decoded: Decoded) -> Codec:
    shape = codec.options.get("chunk_shape", decoded.read_shape)
    if shape is None:
        raise SpecError('"chunk_shape" must be specified')
    _check_rank(shape, decoded.rank)
    with prefixed("Error resolving sub-chunk codecs"):
        codecs = resolve(codec.options.get("codecs", Chain()), decoded)
    with prefixed("Error resolving index_codecs"):
        if decoded.rank > MAX_RANK - 1:
            raise SpecError(
                f"Rank of {decoded.rank} exceeds the maximum rank of {MAX_RANK - 1} supported for sharding_indexed"
            )
        index_codecs = resolve(codec.options.get("index_codecs", DEFAULT_INDEX_CODECS), Decoded(decoded.rank + 1, 8))
    return Codec(
        "sharding_indexed",
        {
            "chunk_shape": list(shape),
            "codecs": codecs,
            "index_codecs": index_codecs,
            "index_location": codec.options.get("index_location", "end"),
        },
    )


def _check_rank(shape: Any, rank: int) -> None:
    if len(shape) != rank:
        raise SpecError(
            f"sharding_indexed sub-chunk shape of {braces(shape)} is not compatible with array of rank {rank}"
        )


_DEFAULTS: Final[dict[str, dict[str, Any]]] = {"gzip": {"level": 6}, "zstd": {"level": 3, "checksum": False}}


def _compressor(codec: Codec, itemsize: int | None) -> Codec:
    if codec.name != "blosc":
        return Codec(codec.name, {**_DEFAULTS.get(codec.name, {}), **codec.options})
    shuffle, typesize = codec.options.get("shuffle"), codec.options.get("typesize")
    if shuffle != "noshuffle" and typesize is None:
        if itemsize is None and shuffle is not None:
            raise SpecError(
                "typesize must be specified explicitly because inferred itemsize -1/8 is not supported by Blosc"
            )
        shuffle, typesize = (shuffle, itemsize) if itemsize is not None else ("noshuffle", None)
    shuffle = shuffle or ("bitshuffle" if typesize == 1 else "shuffle")
    options = {**BloscCodec().configuration(), **codec.options, "shuffle": shuffle}
    # Without shuffling the size of elements does not matter.
    options.pop("typesize", None)
    if shuffle != "noshuffle":
        options["typesize"] = typesize
    return Codec("blosc", options)


def layout_of(chain: Chain, rank: int, shape: tuple[int, ...] | None = None) -> Layout:
    """Return the order of elements in chunks of this shape, and the parts that can be read individually.

    >>> layout_of(Chain((Codec("transpose", {"order": [1, 0]}),), Codec("bytes")), 2, (10, 20))
    ((1, 0), (10, 20))
    """
    orders = []
    for codec in chain.array_to_array:
        with _through(codec, "propagating data type and shape"):
            order = order_of(codec, rank)
        orders.append(order)
        shape = None if shape is None else tuple(shape[dim] for dim in order)
    # Whatever is chosen will not cut the chunk into parts.
    inner, read = None, shape
    if chain.array_to_bytes is not None:
        with _through(chain.array_to_bytes, "propagating chunk layout"):
            inner, read = _layout_of_bytes(chain.array_to_bytes, rank, shape)
    for order in reversed(orders):
        inner = None if inner is None else tuple(order[dim] for dim in inner)
        read = None if read is None else tuple(read[order.index(dim)] for dim in range(rank))
    return inner, read


def _layout_of_bytes(codec: Codec, rank: int, shape: tuple[int, ...] | None) -> Layout:
    if codec.name != "sharding_indexed":
        return tuple(range(rank)), shape
    part = codec.options.get("chunk_shape")
    if part is not None:
        _check_rank(part, rank)
    codecs = codec.options.get("codecs")
    return (None, None) if codecs is None else layout_of(codecs, rank, None if part is None else tuple(part))
