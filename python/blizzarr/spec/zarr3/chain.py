"""Chains of codecs in which options, or the codec that makes bytes, may be left open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from blizzarr.errors import SpecError
from blizzarr.json_values import MISSING, dump, quote
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.members import Members, as_list, as_text
from blizzarr.spec.zarr3.options import Row, row_of, same_order

__all__ = ["Chain", "Codec", "chain_from_json"]


@dataclass(frozen=True, slots=True)
class Codec:
    """One codec with the options that are given.

    Examples
    --------
    >>> Codec("gzip", {"level": 5}).merged(Codec("gzip")).to_json()
    {'configuration': {'level': 5}, 'name': 'gzip'}
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The kind: ``"array -> array"``, ``"array -> bytes"`` or ``"bytes -> bytes"``."""
        return _row(self.name).kind

    @property
    def sharding_height(self) -> int:
        """The number of levels of shards."""
        if self.name != "sharding_indexed":
            return 0
        inner = self.options.get("codecs")
        return 1 + (inner.sharding_height if inner else 0)

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
        """Return the codec with the options of both."""
        try:
            if self.name != other.name:
                raise SpecError("")
            options = dict(self.options)
            for name, value in other.options.items():
                options[name] = _merged_option(name, options[name], value, strict) if name in options else value
        except SpecError as error:
            said = f": {error.reason}" if error.reason else ""
            both = f"{dump(self.to_json())} and {dump(other.to_json())}"
            raise SpecError(f"Cannot merge zarr codec constraints {both}{said}") from error
        return Codec(self.name, options)


_CHAINS: Final = {"index_codecs": 'Incompatible "index_codecs"', "codecs": 'Incompatible sub-chunk "codecs"'}


def _merged_option(name: str, mine: Any, theirs: Any, strict: bool) -> Any:
    if name in _CHAINS:
        with prefixed(_CHAINS[name]):
            return mine.merged(theirs, strict)
    merged = same_order(mine, theirs) if name == "order" else mine if mine == theirs else None
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
        """The number of levels of shards."""
        return self.array_to_bytes.sharding_height if self.array_to_bytes else 0

    @property
    def _innermost(self) -> Codec | None:
        """The codec that turns the smallest chunks into bytes."""
        codec = self.array_to_bytes
        if codec is None or codec.name != "sharding_indexed":
            return codec
        inner = codec.options.get("codecs")
        return None if inner is None else inner._innermost

    @property
    def is_big(self) -> bool:
        """True if stored values begin with the most significant byte."""
        codec = self._innermost
        return codec is not None and codec.options.get("endian") == "big"

    @property
    def leaves_order_open(self) -> bool:
        """True if the codec that has a byte order is given without one."""
        codec = self._innermost
        return codec is not None and codec.name == "bytes" and "endian" not in codec.options

    def to_json(self, partial: bool = False) -> list[dict[str, Any]]:
        """The chain as JSON."""
        middle = () if self.array_to_bytes is None else (self.array_to_bytes,)
        return [codec.to_json(partial) for codec in (*self.array_to_array, *middle, *self.bytes_to_bytes)]

    def merged(self, other: Chain, strict: bool = False) -> Chain:
        """Return the chain with the constraints of both.

        Unless `strict`, one of both may be about what is inside of the other's shards, and may lack a last transpose.
        """
        if not strict and self.sharding_height != other.sharding_height:
            deep, flat = (self, other) if self.sharding_height > other.sharding_height else (other, self)
            if not deep.array_to_array and not deep.bytes_to_bytes:
                return replace(deep, array_to_bytes=_merged_within(deep, flat, self is deep, strict))
        return Chain(
            _merged_all(self.array_to_array, other.array_to_array, "array -> array", strict),
            _merged_one(self.array_to_bytes, other.array_to_bytes, strict),
            _merged_all(self.bytes_to_bytes, other.bytes_to_bytes, "bytes -> bytes", strict),
        )


def _merged_within(deep: Chain, flat: Chain, deep_first: bool, strict: bool) -> Codec:
    sharding = deep.array_to_bytes
    assert sharding is not None
    inner = sharding.options.get("codecs")
    # In either order, the constraints of shards are what the others are merged into.
    merged = flat if inner is None else inner.merged(flat, strict)
    return Codec(sharding.name, {**sharding.options, "codecs": merged})


def _merged_one(mine: Codec | None, theirs: Codec | None, strict: bool) -> Codec | None:
    if mine is None or theirs is None:
        return mine or theirs
    return mine.merged(theirs, strict)


def _merged_all(mine: tuple[Codec, ...], theirs: tuple[Codec, ...], kind: str, strict: bool) -> tuple[Codec, ...]:
    more = len(mine) - len(theirs)
    if kind == "array -> array" and not strict and abs(more) == 1:
        longer = mine if more > 0 else theirs
        if longer[-1].name == "transpose":
            return (*(a.merged(b, strict) for a, b in zip(mine, theirs, strict=False)), longer[-1])
    if more:
        both = " and ".join(dump([codec.to_json() for codec in codecs]) for codecs in (mine, theirs))
        raise SpecError(
            f"Cannot merge zarr codec constraints {both}: Mismatch in number of {kind} codecs "
            f"({len(mine)} vs {len(theirs)})"
        )
    return tuple(a.merged(b, strict) for a, b in zip(mine, theirs, strict=True))


def chain_from_json(value: Any, partial: bool = True) -> Chain:
    """Parse a chain; in a stored one (not `partial`), no option may be missing.

    Examples
    --------
    >>> chain_from_json(["crc32c"])
    Chain(array_to_array=(), array_to_bytes=None, bytes_to_bytes=(Codec(name='crc32c', options={}),))
    """
    codecs = as_list(lambda member: _codec(member, partial))(value)
    at = 0
    while at < len(codecs) and codecs[at].kind == "array -> array":
        at += 1
    to_bytes = codecs[at] if at < len(codecs) and codecs[at].kind == "array -> bytes" else None
    if to_bytes is None and not partial:
        raise SpecError("array -> bytes codec must be specified")
    rest = codecs[at + (to_bytes is not None) :]
    for codec in rest:
        if codec.kind != "bytes -> bytes":
            raise SpecError(f"Expected bytes -> bytes codec, but received: {dump(codec.to_json())}")
    return Chain(codecs[:at], to_bytes, rest)


def _codec(value: Any, partial: bool) -> Codec:
    if partial and isinstance(value, str):
        value = {"name": value}
    members = Members({"configuration": {}, **value} if isinstance(value, dict) else value)
    name = members.take("name", _name)
    options = members.take("configuration", lambda said: _options(_row(name), said, partial))
    members.end()
    return Codec(name, options)


def _name(value: Any) -> str:
    name = as_text(value)
    _row(name)
    return name


def _row(name: str) -> Row:
    row = row_of(name)
    if row is None:
        raise SpecError(f"{quote(name)} is not registered")
    return row


def _options(row: Row, value: Any, partial: bool) -> dict[str, Any]:
    members = Members(value)
    if row.is_ours:
        return members.left

    def partial_chain(said: Any) -> Chain:
        return chain_from_json(said, partial)

    found: dict[str, Any] = {}
    for name, parse in row.options.items():
        unused = name == "typesize" and found.get("shuffle") == "noshuffle"
        may_lack = (partial and name not in row.required) or name in row.optional or unused
        default = None if may_lack else row.defaults.get(name, MISSING)
        option = members.take(name, parse or partial_chain, default)
        if option is not None and not unused:
            found[name] = list(option) if isinstance(option, tuple) else option
    members.end()
    return found
