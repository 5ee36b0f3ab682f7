"""Chains of codecs in which options, or the codec that makes bytes, may be left open; and how they are completed.

Defaults are filled in, and transposes and shards inserted as a layout needs them. The way goes from the first codec to
the last: each takes what it is to encode (`Decoded`), and gives what the next one is to encode. What a chain makes of
chunks is found on the way back (`layout_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from blizzarr.codecs import BloscCodec
from blizzarr.codecs.catalogue import CATALOGUE
from blizzarr.errors import SpecError
from blizzarr.json_members import Members, as_integer, as_list, as_text, one_of
from blizzarr.json_values import braces, dump, expected, quote
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.metadata.reading import whole
from blizzarr.views.values import MAX_RANK

_THEIRS: Final = ("transpose", "bytes", "sharding_indexed", "blosc", "gzip", "zstd", "crc32c")
"""The codecs that TensorStore has. Others take any options, which are checked when they are used."""


@dataclass(frozen=True, slots=True)
class Codec:
    """One codec with the options that are given.

    >>> Codec("gzip", {"level": 5}).merged(Codec("gzip")).to_json()
    {'configuration': {'level': 5}, 'name': 'gzip'}
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The kind: ``"array -> array"``, ``"array -> bytes"`` or ``"bytes -> bytes"``."""
        return str(CATALOGUE[self.name].stage)

    def to_json(self, partial: bool = False) -> dict[str, Any]:
        """Return the codec as JSON; `partial` includes a default that is left out of documents, the location of a
        shard's index.
        """
        configuration = {
            name: value.to_json(partial) if isinstance(value, Chain) else value
            for name, value in sorted(self.options.items())
            if partial or (name, value) != ("index_location", "end")
        }
        return {"configuration": configuration, "name": self.name} if configuration else {"name": self.name}

    def merged(self, other: Codec, strict: bool = False) -> Codec:
        options = dict(self.options)
        with prefixed(lambda: f"Cannot merge codec constraints {dump(self.to_json())} and {dump(other.to_json())}"):
            if self.name != other.name:
                raise SpecError("the codecs differ")
            for name, value in other.options.items():
                options[name] = _merged_option(name, options[name], value, strict) if name in options else value
        return Codec(self.name, options)


_CHAINS: Final = {"index_codecs": 'Incompatible "index_codecs"', "codecs": 'Incompatible sub-chunk "codecs"'}


def _merged_option(name: str, mine: Any, theirs: Any, strict: bool) -> Any:
    if name in _CHAINS:
        with prefixed(_CHAINS[name]):
            return mine.merged(theirs, strict)
    merged = _same_order(mine, theirs) if name == "order" else mine if mine == theirs else None
    if merged is None:
        raise SpecError(f"Incompatible {quote(name)}: {dump(mine)} vs {dump(theirs)}")
    return merged


@dataclass(frozen=True, slots=True)
class Chain:
    """Codecs in the order in which they encode."""

    array_to_array: tuple[Codec, ...] = ()
    array_to_bytes: Codec | None = None
    bytes_to_bytes: tuple[Codec, ...] = ()

    @property
    def sharding_height(self) -> int:
        if self.array_to_bytes is None or self.array_to_bytes.name != "sharding_indexed":
            return 0
        inner = self.array_to_bytes.options.get("codecs")
        return 1 + (inner.sharding_height if inner else 0)

    @property
    def leaves_order_open(self) -> bool:
        """True if the codec that turns the smallest chunks into bytes has a byte order, and is given without one."""
        codec = self.array_to_bytes
        if codec is not None and codec.name == "sharding_indexed":
            inner = codec.options.get("codecs")
            return inner is not None and bool(inner.leaves_order_open)
        return codec is not None and codec.name == "bytes" and "endian" not in codec.options

    def to_json(self, partial: bool = False) -> list[dict[str, Any]]:
        middle = () if self.array_to_bytes is None else (self.array_to_bytes,)
        return [codec.to_json(partial) for codec in (*self.array_to_array, *middle, *self.bytes_to_bytes)]

    def merged(self, other: Chain, strict: bool = False) -> Chain:
        """Return the chain with the constraints of both.

        Unless `strict`, one of both may be about what is inside of the other's shards, and may lack a last transpose.
        """
        if not strict and self.sharding_height != other.sharding_height:
            deep, flat = (self, other) if self.sharding_height > other.sharding_height else (other, self)
            sharding = deep.array_to_bytes
            if sharding is not None and not deep.array_to_array and not deep.bytes_to_bytes:
                inner = sharding.options.get("codecs")
                # In either order, the constraints of shards are what the others are merged into.
                within = flat if inner is None else inner.merged(flat, strict)
                return replace(deep, array_to_bytes=Codec(sharding.name, {**sharding.options, "codecs": within}))
        mine, theirs = self.array_to_bytes, other.array_to_bytes
        return Chain(
            _merged_all(self.array_to_array, other.array_to_array, "array -> array", strict),
            mine.merged(theirs, strict) if mine and theirs else mine or theirs,
            _merged_all(self.bytes_to_bytes, other.bytes_to_bytes, "bytes -> bytes", strict),
        )


def _merged_all(mine: tuple[Codec, ...], theirs: tuple[Codec, ...], kind: str, strict: bool) -> tuple[Codec, ...]:
    more = len(mine) - len(theirs)
    if kind == "array -> array" and not strict and abs(more) == 1:
        longer = mine if more > 0 else theirs
        if longer[-1].name == "transpose":
            return (*(a.merged(b, strict) for a, b in zip(mine, theirs, strict=False)), longer[-1])
    if more:
        both = " and ".join(dump([codec.to_json() for codec in codecs]) for codecs in (mine, theirs))
        raise SpecError(f"Cannot merge codec constraints {both}: {len(mine)} and {len(theirs)} codecs {kind}")
    return tuple(a.merged(b, strict) for a, b in zip(mine, theirs, strict=True))


def chain_from_json(value: Any) -> Chain:
    """Parse a chain in which codecs and options may be left open."""
    codecs, at = as_list(_codec)(value), 0
    while at < len(codecs) and codecs[at].kind == "array -> array":
        at += 1
    to_bytes = codecs[at] if at < len(codecs) and codecs[at].kind == "array -> bytes" else None
    rest = codecs[at + (to_bytes is not None) :]
    for codec in rest:
        if codec.kind != "bytes -> bytes":
            raise SpecError(f"Expected bytes -> bytes codec, but received: {dump(codec.to_json())}")
    return Chain(tuple(codecs[:at]), to_bytes, tuple(rest))


def _codec(value: Any) -> Codec:
    def registered(given: Any) -> str:
        if (known := as_text(given)) not in CATALOGUE:
            raise SpecError(f"{quote(given)} is not registered")
        return known

    if isinstance(value, str):
        value = {"name": value}
    members = Members({"configuration": {}, **value} if isinstance(value, dict) else value)
    name = members.take("name", registered)
    options = members.take("configuration", lambda given: _options(name, given))
    members.end()
    return Codec(name, options)


def _options(name: str, value: Any) -> dict[str, Any]:
    members = Members(value)
    if name not in _THEIRS:
        return members.left
    options = {option: members.take(option, parse) for option, parse in _PARSERS.items() if option in members.left}
    if (name == "transpose" and "order" not in options) or (name != "transpose" and "order" in options):
        raise expected(value, 'object with member "order"' if name == "transpose" else 'no member "order"')
    for option in CATALOGUE[name].options:
        if option.name in members.left:
            given = whole(members.left.pop(option.name))
            if not option.accepts(given):
                raise SpecError(f"expected {option.expected} as {quote(option.name)}, found {dump(given)}")
            options[option.name] = given
    members.end()
    if options.get("shuffle") == "noshuffle":
        options.pop("typesize", None)
    return options


def _order(value: Any) -> Any:
    if isinstance(value, str):
        return one_of("C", "F")(value)
    order = list(as_list(as_integer(0, MAX_RANK - 1), MAX_RANK)(value))
    if sorted(order) != list(range(len(order))):
        raise SpecError(f"{braces(order)} is not a valid permutation")
    return order


def _same_order(a: Any, b: Any) -> Any:
    """Return the more specific of two orders that agree; None if they differ."""
    if isinstance(a, str) and isinstance(b, list):
        return _same_order(b, a)
    if isinstance(a, list) and isinstance(b, str):
        return a if a == list(range(len(a)))[:: 1 if b == "C" else -1] else None
    return a if a == b else None


_lengths = as_list(as_integer(1, (1 << 63) - 1))
_PARSERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "order": _order,
    "chunk_shape": lambda value: list(_lengths(value)),
    "codecs": chain_from_json,
    "index_codecs": chain_from_json,
}
"""The options whose constraints have other forms than the option itself."""


_ENDIAN = "little"
DEFAULT_INDEX_CODECS: Final = Chain((), Codec("bytes", {"endian": _ENDIAN}), (Codec("crc32c"),))


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
    resolved = to_bytes
    if to_bytes.name == "sharding_indexed":
        with _through(to_bytes, "resolving codec spec"):
            resolved = _resolve_shards(to_bytes, decoded)
    elif to_bytes.name == "bytes":
        has_order = decoded.itemsize > 1 or decoded.states_order
        resolved = Codec("bytes", {"endian": to_bytes.options.get("endian", _ENDIAN)} if has_order else {})
    if resolved.name == "sharding_indexed" and chain.bytes_to_bytes:
        after = dump([codec.to_json() for codec in chain.bytes_to_bytes])
        raise SpecError(f"expected no codec after {dump(to_bytes.to_json())}, found {after}: put it into the shards")
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


def _resolve_shards(codec: Codec, decoded: Decoded) -> Codec:
    shape = codec.options.get("chunk_shape", decoded.read_shape)
    if shape is None:
        raise SpecError('"chunk_shape" must be specified')
    _check_rank(shape, decoded.rank)
    with prefixed("Error resolving sub-chunk codecs"):
        codecs = resolve(codec.options.get("codecs", Chain()), decoded)
    with prefixed("Error resolving index_codecs"):
        if decoded.rank > MAX_RANK - 1:
            raise SpecError(f"expected at most {MAX_RANK - 1} dimensions in shards, found {decoded.rank}")
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
        raise SpecError(f"expected {rank} dimensions as in the array, found the sub-chunk shape {braces(shape)}")


_DEFAULTS: Final[dict[str, dict[str, Any]]] = {"gzip": {"level": 6}, "zstd": {"level": 3, "checksum": False}}


def _compressor(codec: Codec, itemsize: int | None) -> Codec:
    if codec.name != "blosc":
        return Codec(codec.name, {**_DEFAULTS.get(codec.name, {}), **codec.options})
    shuffle, typesize = codec.options.get("shuffle"), codec.options.get("typesize")
    if shuffle != "noshuffle" and typesize is None:
        if itemsize is None and shuffle is not None:
            raise SpecError("expected a typesize, as the itemsize is not known after another codec (-1/8)")
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
