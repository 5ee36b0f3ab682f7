"""``cast_value`` (array -> array): numbers as those of another data type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from blizzarr.codecs.codec import REAL, Chunk, Codec, Option, Stage, Step, bits, one_of
from blizzarr.dtypes import DataType, Kind
from blizzarr.problems import Problems

_ROUNDING = ("nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away")
_DIRECTIONS = ("encode", "decode")


def _is_data_type(value: Any) -> bool:
    return isinstance(value, str | DataType) or (isinstance(value, Mapping) and "name" in value)


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        direction in _DIRECTIONS
        and isinstance(pairs, list | tuple)
        and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs)
        for direction, pairs in value.items()
    )


@dataclass(frozen=True, slots=True)
class CastValueCodec(Codec):
    """The codec ``cast_value`` (array -> array): stores each number as one of another data type.

    Reading converts back by the same rules. A number that the other type does not have, and for which there is no rule,
    is an error.

    Specification: https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/cast_value

    Parameters
    ----------
    data_type
        The data type of what is stored, an integer or floating point.
    rounding
        How numbers between two of the other type are rounded: ``"nearest-even"``, ``"nearest-away"``,
        ``"towards-zero"``, ``"towards-positive"`` or ``"towards-negative"``.
    out_of_range
        What numbers beyond the least or the greatest of the other type become: that one (``"clamp"``), the lowest bits
        of an integer (``"wrap"``), or, with None, an error.
    scalar_map
        Numbers that become others, whatever the rules: pairs under ``"encode"`` and ``"decode"``, spelled as fill
        values are in documents.

    Examples
    --------
    >>> import blizzarr, numpy as np
    >>> nan = {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}
    >>> cast = CastValueCodec("uint8", scalar_map=nan)
    >>> data = np.array([1.2, 254.6, np.nan])
    >>> array = blizzarr.create_array({}, data=data, fill_value=np.nan, filters=cast)
    >>> array[:].tolist()
    [1.0, 255.0, nan]
    """

    name: ClassVar[str] = "cast_value"
    stage: ClassVar[Stage] = Stage.FILTER
    options: ClassVar[tuple[Option, ...]] = (
        Option("data_type", "a data type", _is_data_type),
        one_of("rounding", _ROUNDING, required=False),
        one_of("out_of_range", ("clamp", "wrap"), required=False),
        Option("scalar_map", "pairs of numbers under encode and decode", _is_map, required=False),
    )
    fixed_size: ClassVar[bool] = True
    elementwise: ClassVar[bool] = True
    refuses_values: ClassVar[bool] = True
    changes_values: ClassVar[bool] = True

    data_type: Any
    rounding: str = "nearest-even"
    out_of_range: str | None = None
    scalar_map: Mapping[str, Sequence[Sequence[Any]]] | None = None

    def __post_init__(self) -> None:
        Codec.__post_init__(self)
        object.__setattr__(self, "data_type", DataType.parse(self.data_type))

    def __hash__(self) -> int:
        return hash((self.data_type, self.rounding, self.out_of_range))

    @classmethod
    def from_json(cls, configuration: Mapping[str, Any], path: str, problems: Problems, chunk: Chunk) -> Self | None:
        values = cls.read_options(configuration, path, problems)
        if values is None:
            return None
        dtype = DataType.from_json(values["data_type"], f"{path}.configuration.data_type", problems)
        codec = None if dtype is None else cls(**{**values, "data_type": dtype})
        return codec if codec is not None and codec.fits(chunk, path, problems) else None

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        inside, made, before = f"{path}.configuration", self.data_type, len(problems.items)
        if made.kind not in REAL:
            problems.add(f"{inside}.data_type", "a type of real numbers", str(made))
        if self.out_of_range == "wrap" and made.kind is not Kind.INTEGER:
            problems.add(f"{inside}.out_of_range", f"clamp, as {made} is no type of integers", self.out_of_range)
        if chunk.dtype is not None and chunk.dtype.kind not in REAL:
            problems.add(path, "a codec for such elements; this one is for real numbers", str(chunk.dtype))
        if len(problems.items) > before or chunk.dtype is None:
            return len(problems.items) == before
        for direction, types in zip(_DIRECTIONS, ((chunk.dtype, made), (made, chunk.dtype)), strict=True):
            for position, pair in enumerate((self.scalar_map or {}).get(direction, ())):
                for side, (dtype, value) in enumerate(zip(types, pair, strict=True)):
                    dtype.fill_from_json(value, f"{inside}.scalar_map.{direction}[{position}][{side}]", problems)
        return len(problems.items) == before

    def after(self, chunk: Chunk) -> Chunk:
        return chunk._replace(dtype=self.data_type, is_big=False)

    def step(self, chunk: Chunk) -> Step:
        assert chunk.dtype is not None
        made = self.data_type
        maps = (self._map("encode", chunk.dtype, made), self._map("decode", made, chunk.dtype))
        return ("cast_value", chunk.dtype.name, made.name, self.rounding, self.out_of_range or "", *maps)

    def _map(self, direction: str, taken: DataType, made: DataType) -> str:
        pairs = (self.scalar_map or {}).get(direction, ())
        return ",".join(f"{bits(taken, key)}:{bits(made, value)}" for key, value in pairs)

    def configuration(self) -> dict[str, Any]:
        values = {**super(CastValueCodec, self).configuration(), "data_type": self.data_type.to_json()}
        if self.rounding == "nearest-even":
            del values["rounding"]
        if self.scalar_map is not None:
            values["scalar_map"] = {name: [list(pair) for pair in pairs] for name, pairs in self.scalar_map.items()}
        return values
