"""``conditional`` (bytes -> bytes): codecs that each chunk may skip.

A chunk begins with one bit for each codec, which says whether it was applied. Writing applies all codecs, or none if
the chunk would not become smaller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from blizzarr import _native
from blizzarr.codecs import chain as chains
from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, integer
from blizzarr.errors import CodecError
from blizzarr.problems import MISSING, Problems


@dataclass(frozen=True, slots=True)
class ConditionalCodec(Codec):
    """The codec ``conditional`` (bytes -> bytes): compressors that chunks skip if they do not become smaller.

    Specification: https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/conditional

    Parameters
    ----------
    codecs
        The compressors.
    header_bits
        The bits in front of each chunk, a multiple of 8, if there shall be more of them than codecs need.

    Examples
    --------
    >>> import blizzarr, numpy as np
    >>> store, noise = {}, np.random.default_rng(0).bytes(100)
    >>> codec = ConditionalCodec(["gzip"])
    >>> data = np.frombuffer(b"a" * 100 + noise, "uint8")
    >>> array = blizzarr.create_array(store, data=data, chunks=100, compressors=codec)
    >>> len(store["c/0"]) < 50, len(store["c/1"])
    (True, 101)
    """

    name: ClassVar[str] = "conditional"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (integer("header_bits", 8, 1024, required=False),)

    codecs: Any
    header_bits: int | None = None

    def __post_init__(self) -> None:
        from blizzarr.codecs.user import codecs_of

        Codec.__post_init__(self)
        object.__setattr__(self, "codecs", tuple(codecs_of(self.codecs)))

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        others = {name: value for name, value in configuration.items() if name != "codecs"}
        values = cls.read_options(others, path, problems)
        listed, place = configuration.get("codecs", MISSING), f"{path}.configuration.codecs"
        inner = chunk._replace(depth=chunk.depth + 1)
        if not chains.is_list(listed, place, problems, inner.depth):
            return None
        if not listed:
            problems.add(place, "at least one codec", listed)
            return None
        members = [_member(item, f"{place}[{at}]", problems, inner) for at, item in enumerate(listed)]
        if values is None or None in members:
            return None
        codec = cls(members, **values)
        return codec if codec.fits(chunk, path, problems) else None

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        for codec in self.codecs:
            if codec.stage is not Stage.COMPRESSOR:
                problems.add(f"{path}.configuration.codecs", "codecs from bytes to bytes", codec.name)
                return False
        bits = self.header_bits
        if bits is None or (bits % 8 == 0 and bits >= len(self.codecs)):
            return True
        expected = f"a multiple of 8, at least one bit for each of {len(self.codecs)} codecs"
        problems.add(f"{path}.configuration.header_bits", expected, bits)
        return False

    def resolve(self, chunk: Chunk) -> Self:
        return type(self)([codec.resolve(chunk) for codec in self.codecs], self.header_bits)

    def step(self, chunk: Chunk) -> Step:
        steps = [codec.step(chunk) for codec in self.codecs]
        return ("python", _Conditional(steps, -(-(self.header_bits or len(steps)) // 8)))

    def configuration(self) -> dict[str, Any]:
        listed = [codec.to_json() for codec in self.codecs]
        return {"codecs": listed, **({} if self.header_bits is None else {"header_bits": self.header_bits})}


def _member(item: Any, path: str, problems: Problems, chunk: Chunk) -> Codec | None:
    listed = chains.decode_name(item, path, problems)
    if listed is None:
        return None
    _, row, configuration = listed
    return row.from_json(configuration, path, problems, chunk)


@dataclass(frozen=True, slots=True)
class _Conditional:
    """The step of the engine."""

    steps: list[Step]
    header: int
    """The bytes of the bits."""
    name: str = "conditional"
    fixed_size: bool = False

    def encoded_size(self, decoded: int) -> int:
        # Twice what a compressor of another writer may lose, which need not skip what does not help.
        return self.header + 2 * decoded + 65536

    def encode(self, decoded: bytes) -> bytes:
        encoded = self._chain((1 << len(self.steps)) - 1, len(decoded)).encode(decoded)
        if len(encoded) >= len(decoded):
            return bytes(self.header) + decoded
        return ((1 << len(self.steps)) - 1).to_bytes(self.header, "little") + encoded

    def decode(self, encoded: bytes, max_size: int) -> bytes:
        if len(encoded) < self.header:
            raise CodecError(f"expected {self.header} bytes in front of the data, found {len(encoded)}")
        applied = int.from_bytes(encoded[: self.header], "little")
        if applied >> len(self.steps):
            raise CodecError(f"expected bits for {len(self.steps)} codecs, found {applied:b}")
        return self._chain(applied, max_size).decode(encoded[self.header :])

    def _chain(self, applied: int, size: int) -> _native.Chain:
        steps = [step for place, step in enumerate(self.steps) if applied >> place & 1]
        return _native.Chain((size,), 1, b"\0", False, [("bytes", 0), *steps])
