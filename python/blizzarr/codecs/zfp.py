"""``zfp`` (array -> bytes): numbers with a bounded loss, or without any, by the package ``zfpy``.

https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zfp

The stream has no header: what it says follows from the options, and from the shape of the chunk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from math import prod
from typing import Any, ClassVar, Final, Self

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, integer, one_of
from blizzarr.codecs.in_numpy import Layout
from blizzarr.codecs.numcodecs.library import ZFPY
from blizzarr.errors import CodecError, UnknownExtensionError
from blizzarr.problems import Problems, describe

_TYPES: Final = ("int32", "int64", "float32", "float64")
_MAX_RANK: Final = 4
_SIDE: Final = 4
"""The length of a block along each axis."""
_EXTRA_BITS: Final = 64
"""More than the bits of a block that are not those of its values, such as the exponent."""
_OPTION: Final = {
    "reversible": None,
    "fixed_accuracy": "tolerance",
    "fixed_rate": "rate",
    "fixed_precision": "precision",
}
"""The option of each mode."""


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and value > 0


@dataclass(frozen=True, slots=True)
class ZfpCodec(Codec):
    """The codec ``zfp`` (array -> bytes): compresses integers of 32 and 64 bits, float32 and float64.

    Chunks have up to four axes. The package zfpy does the work: ``pip install 'blizzarr[zfp]'``.

    Specification: https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zfp

    Parameters
    ----------
    mode
        ``"reversible"``, without loss; ``"fixed_accuracy"`` with `tolerance`;
        ``"fixed_rate"`` with `rate`; or ``"fixed_precision"`` with `precision`. zfpy lacks ``"expert"``.
    tolerance
        The greatest difference.
    rate
        The bits of a number on average.
    precision
        The bits of each number that are kept.

    Examples
    --------
    >>> ZfpCodec("fixed_accuracy", tolerance=0.05).to_json()
    {'name': 'zfp', 'configuration': {'mode': 'fixed_accuracy', 'tolerance': 0.05}}
    """

    name: ClassVar[str] = "zfp"
    stage: ClassVar[Stage] = Stage.SERIALIZER
    options: ClassVar[tuple[Option, ...]] = (
        one_of("mode", (*_OPTION, "expert")),
        Option("tolerance", "a positive number", _is_number, required=False),
        Option("rate", "a positive number", _is_number, required=False),
        integer("precision", 1, 128, required=False),
    )

    mode: str = "reversible"
    tolerance: float | None = None
    rate: float | None = None
    precision: int | None = None

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        if configuration.get("mode") == "expert":
            problems.unknown(f"{path}.configuration.mode", "mode of zfp", "expert", "zfpy lacks it; zarrs reads it")
            return None
        codec = super(ZfpCodec, cls).from_json(configuration, path, problems, chunk)
        if find_spec("zfpy") is None:
            problems.unknown(path, "codec", "zfp", f"it needs a package that is not installed: pip install '{ZFPY}'")
            return None
        return codec

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        before = len(problems.items)
        for option in _OPTION.values():
            value = None if option is None else getattr(self, option)
            if option is not None and (value is not None) != (_OPTION.get(self.mode) == option):
                expected = f"{'no ' if value is not None else ''}{option} for the mode {describe(self.mode)}"
                problems.add(f"{path}.configuration.{option}", expected, value)
        if chunk.dtype is not None and chunk.dtype.name not in _TYPES:
            expected = f"a codec for such elements; this one is for {', '.join(_TYPES)}"
            problems.add(path, expected, str(chunk.dtype))
        if chunk.shape is not None and len(chunk.shape) > _MAX_RANK:
            problems.add(path, f"a codec for such chunks; this one is for at most {_MAX_RANK} axes", len(chunk.shape))
        return len(problems.items) == before

    def after(self, chunk: Chunk) -> Chunk:
        return chunk._replace(shape=None)

    def steps(self, chunk: Chunk) -> list[Step]:
        """Return the codec as the engine takes it.

        Raises
        ------
        UnknownExtensionError
            zfpy is not installed.
        """
        try:
            zfpy = import_module("zfpy")
        except ImportError as missing:
            reason = f"the codec zfp needs a package that is not installed: pip install '{ZFPY}'"
            raise UnknownExtensionError(reason, extensions=("zfp",)) from missing
        return [("bytes", 0), ("python", _Zfp(self, Layout.of(chunk), zfpy))]


@dataclass(frozen=True, slots=True)
class _Zfp:
    """The step of the engine."""

    codec: ZfpCodec
    layout: Layout
    zfpy: Any
    name: str = "zfp"
    fixed_size: bool = False

    @property
    def _options(self) -> dict[str, Any]:
        option = _OPTION[self.codec.mode]
        return {} if option is None else {option: getattr(self.codec, option)}

    @property
    def _shape(self) -> tuple[int, ...]:
        return self.layout.shape or (1,)

    def encoded_size(self, decoded: int) -> int:
        """Return the most bytes that zfp makes, or reads, of a chunk."""
        blocks: int = prod(-(-length // _SIDE) for length in self._shape)
        bits: int = _SIDE ** len(self._shape) * (8 * self.layout.dtype.itemsize + 1) + _EXTRA_BITS
        # A rate beyond the bits of a number fills up each block.
        bits = max(bits, int(_SIDE ** len(self._shape) * (self.codec.rate or 0)) + _EXTRA_BITS)
        return blocks * bits // 8 + _EXTRA_BITS

    def encode(self, decoded: bytes) -> Any:
        return self.zfpy.compress_numpy(
            self.layout.array(decoded).reshape(self._shape), write_header=False, **self._options
        )

    def decode(self, encoded: bytes, max_size: int) -> Any:
        most = self.encoded_size(max_size)
        if not 0 < len(encoded) <= most:
            raise CodecError(f"expected 1 to {most:,} bytes, found {len(encoded):,}")
        # zfp reads on behind the end of damaged data: there have to be bytes.
        padded = encoded + bytes(most - len(encoded))
        kind = self.zfpy.dtype_to_ztype(self.layout.dtype)
        made = self.zfpy._decompress(padded, kind, self._shape, **self._options)
        return self.layout.stored(made.reshape(self.layout.shape))
