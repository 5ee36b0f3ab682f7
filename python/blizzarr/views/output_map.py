"""The output maps of a transform: how one index of an array follows from a position.

At the end: maps as users and documents give them are checked against their domain.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple, cast, overload

import numpy as np
import numpy.typing as npt

from blizzarr.errors import SelectionError, SpecError
from blizzarr.indexing.form import ArrayMap, Form, IndexArray, Map, identity_maps
from blizzarr.indexing.interval import INF, UNBOUNDED, Bounds, Interval
from blizzarr.json_values import braces
from blizzarr.keywords import name_keywords, unknown_keywords
from blizzarr.views.dim import Dim, dim_of, interval_of
from blizzarr.views.dim_selection import normalize_range
from blizzarr.views.values import MAX_RANK, to_index


class RawMap(NamedTuple):
    """An output map that was not checked yet: constant unless it has a dimension or an array."""

    offset: int
    stride: int = 1
    dim: int | None = None
    array: IndexArray | None = None
    bounds: Bounds = UNBOUNDED


class OutputIndexMethod(Enum):
    """The kind of an output map."""

    constant = 0
    single_input_dimension = 1
    array = 2

    def __int__(self) -> int:
        return self.value

    __index__ = __int__


class OutputIndexMap:
    """A map from a position to one index of an array: constant, along one dimension, or an array of indices.

    Parameters
    ----------
    offset
        The index, if nothing else is given; otherwise an offset that is added.
    input_dimension
        The dimension of the position whose index is used, multiplied by `stride`.
    index_array
        Indices by position, multiplied by `stride`; all must be within `index_range`.

    Examples
    --------
    >>> OutputIndexMap(7), OutputIndexMap(input_dimension=0, offset=5, stride=2)
    (OutputIndexMap(offset=7), OutputIndexMap(offset=5, stride=2, input_dimension=0))
    >>> OutputIndexMap([[1, 2]], index_range=Dim(8))
    OutputIndexMap(offset=0, stride=1, index_array={{1, 2}}, index_range=[0, 8))
    """

    __slots__ = ("_raw",)

    _raw: RawMap

    def __init__(self, *args: Any, **given: Any) -> None:
        names = _names(args, given)
        for name, value in zip(names, args, strict=False):
            if name in given:
                raise TypeError(f"OutputIndexMap() was given {name!r} twice")
            given[name] = value
        if len(args) > len(names) or not given.keys() <= set(names):
            if unknown := given.keys() - _KEYWORDS.keys():
                raise unknown_keywords(OutputIndexMap.__init__, unknown)
            raise TypeError(f"OutputIndexMap() takes {', '.join(names)}, was given {', '.join(map(str, given))}")
        within = given.get("index_range")
        if "index_range" in given and not isinstance(within, Dim):
            raise TypeError(f"expected a Dim as index_range, found {type(within).__name__}")
        self._raw = RawMap(
            to_index(given.get("offset", 0)),
            to_index(given.get("stride", 1)),
            to_index(given["input_dimension"]) if "input_dimension" in given else None,
            _index_array(given["index_array"]) if "index_array" in given else None,
            UNBOUNDED if within is None else interval_of(within).bounds,
        )

    @property
    def method(self) -> OutputIndexMethod:
        """The kind of map."""
        if self._raw.array is not None:
            return OutputIndexMethod.array
        return OutputIndexMethod.constant if self._raw.dim is None else OutputIndexMethod.single_input_dimension

    @property
    def offset(self) -> int:
        """The constant index, or the offset that is added."""
        return self._raw.offset

    @property
    def stride(self) -> int | None:
        """The factor of the index; None if the map is constant."""
        return None if self.method is OutputIndexMethod.constant else self._raw.stride

    @property
    def input_dimension(self) -> int | None:
        """The dimension of the position that the map depends on; None for other kinds of maps."""
        return self._raw.dim

    @property
    def index_array(self) -> npt.NDArray[np.int64] | None:
        """The index array, which must not be changed; None for other kinds of maps."""
        return self._raw.array

    @property
    def index_range(self) -> Dim | None:
        """The range that all indices must lie in; None for other kinds of maps than index arrays."""
        return None if self._raw.array is None else dim_of(Interval(*self._raw.bounds))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OutputIndexMap):
            return NotImplemented
        mine, its = self._raw, other._raw
        same = mine.array is its.array or np.array_equal(cast(Any, mine.array), cast(Any, its.array))
        return same and mine._replace(array=None) == its._replace(array=None)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        offset, stride, _, array, _ = self._raw
        if array is None:
            return _of_raw, (self._raw,)
        # Arrays can be changed again once they are unpickled: those that are made from them cannot.
        return OutputIndexMap, (array, offset, stride, self.index_range)

    def __repr__(self) -> str:
        offset, stride, dim, array, bounds = self._raw
        if array is not None:
            shown = f"index_array={shown_array(array)}, index_range={bounds}"
            return f"OutputIndexMap(offset={offset}, stride={stride}, {shown})"
        return f"OutputIndexMap(offset={offset}{'' if dim is None else f', stride={stride}, input_dimension={dim}'})"


_KEYWORDS: Final = {"offset": 0, "input_dimension": None, "index_array": None, "stride": 1, "index_range": None}
"""The keywords of `OutputIndexMap`, and their defaults."""

name_keywords(OutputIndexMap.__init__, _KEYWORDS)


def _names(args: tuple[Any, ...], given: dict[str, Any]) -> tuple[str, ...]:
    """Return the parameters in the order in which they may be positional."""
    if "index_array" in given or (args and _is_array(args[0])):
        return "index_array", "offset", "stride", "index_range"
    if "input_dimension" in given or len(args) > 1 or (args and given):
        return "input_dimension", "offset", "stride"
    return ("offset",)


def _is_array(value: Any) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not (isinstance(value, np.ndarray) and value.ndim == 0)


def _index_array(value: Any) -> IndexArray:
    result: npt.NDArray[Any] = np.asarray(value)
    if isinstance(value, np.ndarray) and result.dtype.kind not in "iub":
        raise TypeError(f"expected an array of integers, found one of {result.dtype}")
    if result.dtype.kind not in "iufb":
        raise TypeError(f"expected indices, found {value!r}")
    # Along a dimension that was broadcast all indices are the same.
    own = np.array(result[tuple(slice(0, 1 if step == 0 else None) for step in result.strides)], np.int64)
    own.flags.writeable = False
    return np.broadcast_to(own, result.shape)


def shown_array(array: IndexArray) -> str:
    """Format an array in braces; of a large one, only the ends of long dimensions.

    >>> shown_array(np.array([[1, 2], [3, 4]])), shown_array(np.arange(2000))
    ('{{1, 2}, {3, 4}}', '{0, 1, 2, ..., 1997, 1998, 1999}')
    """
    return _shown(array, array.size > 1000)


def _shown(array: IndexArray, shortened: bool) -> str:
    if array.ndim == 0:
        return str(int(array))
    if shortened and len(array) > 6:
        parts = [*(_shown(part, True) for part in array[:3]), "...", *(_shown(part, True) for part in array[-3:])]
    else:
        parts = [_shown(part, shortened) for part in array]
    return "{" + ", ".join(parts) + "}"


def raw_map(map_: Any) -> RawMap:
    """Return the parts of a map, before it is checked against a domain."""
    if not isinstance(map_, OutputIndexMap):
        raise TypeError(f"expected output maps, found {map_!r}")
    return map_._raw


def _of_raw(raw: RawMap) -> OutputIndexMap:
    made = object.__new__(OutputIndexMap)
    made._raw = raw
    return made


def _output_map(map_: Map) -> OutputIndexMap:
    if isinstance(map_, int):
        return _of_raw(RawMap(map_))
    if isinstance(map_, tuple):
        return _of_raw(RawMap(map_[1], map_[2], map_[0]))
    return OutputIndexMap(map_.array, map_.offset, map_.stride, dim_of(Interval(*map_.bounds)))


class OutputIndexMaps(Sequence[OutputIndexMap]):
    """The output maps of a transform.

    Examples
    --------
    >>> from blizzarr.views import IndexTransform
    >>> IndexTransform(input_shape=[3, 4]).output[-1]
    OutputIndexMap(offset=0, stride=1, input_dimension=1)
    """

    __slots__ = ("_maps",)

    def __init__(self, maps: tuple[Map, ...]) -> None:
        self._maps = maps

    @property
    def rank(self) -> int:
        """The number of dimensions of the array."""
        return len(self._maps)

    def __len__(self) -> int:
        return len(self._maps)

    def __iter__(self) -> Iterator[OutputIndexMap]:
        return map(_output_map, self._maps)

    @overload
    def __getitem__(self, index: int) -> OutputIndexMap: ...

    @overload
    def __getitem__(self, index: slice) -> list[OutputIndexMap]: ...

    def __getitem__(self, index: int | slice) -> OutputIndexMap | list[OutputIndexMap]:
        count = len(self._maps)
        if isinstance(index, slice):
            step = 1 if index.step is None else operator.index(index.step)
            places = normalize_range((index.start, index.stop, step), count, SpecError)
            return [_output_map(self._maps[place]) for place in places]
        place = operator.index(index)
        if not -count <= place < count:
            raise SelectionError(f"Index {place} is outside valid range [-{count}, {count})", index=place)
        return _output_map(self._maps[place])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self))}]"


def made_maps(domain: Form, raw: Sequence[RawMap] | None) -> Form:
    """Return the domain with these output maps; without any, each position maps to itself.

    Raise `SpecError` if a map does not fit the domain.
    """
    if raw is None:
        return domain._replace(maps=identity_maps(domain.rank))
    if len(raw) > MAX_RANK:
        raise SpecError(f"Number of output dimensions ({len(raw)}) exceeds maximum rank of {MAX_RANK}")
    is_empty = domain.is_empty
    return domain._replace(maps=tuple(_map(map_, domain, is_empty, output) for output, map_ in enumerate(raw)))


def _map(raw: RawMap, domain: Form, is_empty: bool, output: int) -> Map:
    if raw.array is not None:
        dims = _indexing_dims(raw.array, domain, output)
        if is_empty or not raw.stride:
            return 0 if is_empty else raw.offset
        once = tuple(slice(None) if dim in dims else slice(0, 1) for dim in range(domain.rank))
        return ArrayMap(raw.offset, raw.stride, raw.array[once], dims, raw.bounds)
    if raw.dim is None:
        return raw.offset
    if not 0 <= raw.dim < domain.rank:
        raise SpecError(
            f"Input dimension {raw.dim} specified for output dimension {output} is outside valid range "
            f"[0, {domain.rank})"
        )
    return (raw.dim, raw.offset, raw.stride) if raw.stride else raw.offset


def _indexing_dims(array: IndexArray, domain: Form, output: int) -> tuple[int, ...]:
    """Return the dimensions that index an array: those along which it is as long as the domain, not of length 1."""
    if array.ndim != domain.rank:
        raise SpecError(
            f"Index array for output dimension {output} has rank {array.ndim} but must have rank {domain.rank}"
        )
    dims = []
    for dim, (length, size, step) in enumerate(zip(array.shape, domain.shape, array.strides, strict=True)):
        if length == 1:
            continue
        if length != size:
            raise SpecError(
                f"Index array for output dimension {output} has shape {braces(array.shape)} which does not match "
                f"input_shape {braces(domain.shape)}"
            )
        if length != 0 and (step == 0 or array.size == 0):
            continue
        if domain.implicit_lower[dim] or domain.implicit_upper[dim]:
            raise SpecError(
                f"Index array for output dimension {output} depends on input dimension {dim} with implicit bounds"
            )
        if domain.lower[dim] == -INF or domain.upper[dim] == INF + 1:
            raise SpecError(
                f"Index array for output dimension {output} depends on input dimension {dim} with infinite bounds"
            )
        dims.append(dim)
    return tuple(dims)
