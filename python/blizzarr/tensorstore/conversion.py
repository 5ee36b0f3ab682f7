"""Conversion of elements between data types, as TensorStore does it.

Numbers are converted as C does it: what does not fit wraps or is cut off. Some conversions go only one way, and only
those that keep every value happen without being asked for. Then: writing what users give, or other views, to a view;
and a view that converts what is read and written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from blizzarr.config import config
from blizzarr.errors import NotReadableError, NotWritableError, SpecError
from blizzarr.indexing.form import Form, Map
from blizzarr.json_members import as_text
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.dtype import DType, element_dtype
from blizzarr.spec.json_array import as_element, as_objects, integer_range
from blizzarr.spec.schema import Schema, schema_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.through_view import layout_of_view
from blizzarr.tensorstore.driver import AdaptedDriver, Bounds, Chunk, Driver, Elements, Shared, put_into
from blizzarr.views import IndexDomain
from blizzarr.views.compose import compose, cut

_TEXTS = ("string", "ustring")
_RAW = ("char", "byte")
_BITS = {"int2": 2, "int4": 4}


def _kind(dtype: DType) -> str:
    """Raw, text, json, bool, int, float or complex."""
    name = dtype.name
    if name in _RAW:
        return "raw"
    if name in _TEXTS:
        return "text"
    if name in ("json", "bool"):
        return name
    return "int" if name.startswith(("int", "uint")) else "complex" if name.startswith("complex") else "float"


@lru_cache(1024)
def can_convert(source: DType, target: DType) -> bool:
    """Return whether elements of one data type can be converted to the other.

    >>> can_convert(DType("int8"), DType("string")), can_convert(DType("string"), DType("int8"))
    (True, False)
    """
    if source == target:
        return True
    one, other = _kind(source), _kind(target)
    if "raw" in (one, other):
        return one == other
    if one == "text":
        return other in ("text", "json")
    if other == "text":
        return one != "bool"
    if one == "json":
        return other != "complex"
    return one != "complex" or other != "bool"


@lru_cache(1024)
def is_implicit(source: DType, target: DType) -> bool:
    """Return whether a conversion keeps every value, so that it needs no `cast`.

    >>> is_implicit(DType("int8"), DType("float32")), is_implicit(DType("int32"), DType("float32"))
    (True, False)
    """
    if source == target:
        return True
    if not can_convert(source, target):
        return False
    one, other = _kind(source), _kind(target)
    if one == "raw" or other == "json":
        return source.name != "string"
    if one == "bool":
        return True
    if one == "text":
        return source.name == "ustring"
    if other not in ("int", "float", "complex") or one == "json":
        return False
    if one == "int" and other == "int":
        (low, high), (least, most) = integer_range(source), integer_range(target)
        return least <= low and high <= most
    if one == "int":
        return integer_range(source)[1].bit_length() <= _precision(target)[0]
    if (one == "complex" and other != "complex") or other == "int":
        return False
    mine, its = _precision(source), _precision(target)
    return mine[0] <= its[0] and mine[1] >= its[1] and mine[2] <= its[2]


def convert(elements: npt.NDArray[Any], source: DType, target: DType) -> npt.NDArray[Any]:
    """Convert elements to another data type.

    Raise `SpecError` when there is no such conversion, or an element has no such value.

    >>> convert(np.array([1.5, -0.1]), DType("float64"), DType("string"))
    array([b'1.5', b'-0.1'], dtype=object)
    >>> convert(np.array([300, -1]), DType("int64"), DType("uint8"))
    array([ 44, 255], dtype=uint8)
    """
    if source == target:
        return elements
    if not can_convert(source, target):
        raise SpecError(f"Cannot convert {source.name} -> {target.name}")
    one = _element_of(source, target)
    if one is not None:
        # As a list they are Python's own numbers, which it knows best.
        listed = elements.reshape(-1).tolist()
        made = np.empty(len(listed), element_dtype(target))
        for number, element in enumerate(listed):
            made[number] = one(element)
        return made.reshape(elements.shape)
    if _kind(source) == "raw":
        return elements.view(element_dtype(target))
    if _kind(source) == "complex" and _kind(target) != "complex":
        elements = elements.real
    with np.errstate(all="ignore"):
        if _kind(target) == "int" and _kind(source) in ("float", "complex"):
            return _integers(elements, target)
        if target.name in _BITS:
            return _narrow(elements.astype(np.int64), target)
        if 1 not in (source.numpy_dtype.isbuiltin, target.numpy_dtype.isbuiltin):
            # Among the types that NumPy lacks there is a way only through one that it has.
            return elements.astype(np.float32).astype(target.numpy_dtype)
        return elements.astype(target.numpy_dtype)


def _integers(elements: npt.NDArray[Any], target: DType) -> npt.NDArray[Any]:
    """Convert floats to integers; values outside of 64 bits become the integer with only the highest bit set, or 0."""
    wide = elements.astype(np.float64)
    if target.name == "uint64":
        high = wide >= 2.0**63
        return np.where(
            high, (wide - 2.0**63).astype(np.int64).view(np.uint64) ^ np.uint64(2**63), wide.astype(np.int64)
        ).astype(np.uint64)
    if target.name in ("int64", "uint32"):
        return wide.astype(np.int64).astype(target.numpy_dtype)
    return _narrow(wide.astype(np.int32), target)


def _narrow(elements: npt.NDArray[Any], target: DType) -> npt.NDArray[Any]:
    """Convert to integers with fewer bits, the smallest of which NumPy lacks."""
    bits = _BITS.get(target.name)
    if bits is None:
        return elements.astype(target.numpy_dtype)
    half = 1 << (bits - 1)
    return (((elements & (2 * half - 1)) ^ half) - half).astype(np.int8).astype(target.numpy_dtype)


def _element_of(source: DType, target: DType) -> Callable[[Any], Any] | None:
    """Return a function that converts a single element, for texts and JSON; None for types that NumPy converts."""
    if _kind(target) == "text":
        text = _AS_TEXT[_kind(source)]
        return (lambda value: text(value).encode()) if target.name == "string" else text
    if target.name == "json":
        return _AS_JSON[_kind(source)]
    return as_element(target) if source.name == "json" else None


def _decoded(value: Any) -> str:
    try:
        return value.decode() if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError as error:
        raise SpecError("Invalid UTF-8 sequence encountered") from error


def _shown(value: Any) -> str:
    return f"{float(value):.6g}"


_AS_TEXT: Final[dict[str, Callable[[Any], str]]] = {
    "text": _decoded,
    "json": as_text,
    "complex": lambda value: f"({_shown(value.real)},{_shown(value.imag)})",
    "float": _shown,
    "int": lambda value: str(int(value)),
}
_AS_JSON: Final[dict[str, Callable[[Any], Any]]] = {
    "text": _decoded,
    "complex": lambda value: [float(value.real), float(value.imag)],
    "float": float,
    "int": int,
    "bool": bool,
}


@lru_cache(64)
def _precision(dtype: DType) -> tuple[int, int, int]:
    """The binary digits, and the smallest and largest exponents of normal numbers."""
    known: Any
    if dtype.name in ("float16", "float32", "float64", "complex64", "complex128"):
        known = np.finfo(dtype.numpy_dtype)
    else:
        import ml_dtypes

        known = ml_dtypes.finfo(dtype.numpy_dtype)  # type: ignore[no-untyped-call]
    return int(known.nmant) + 1, int(known.minexp), int(known.maxexp)


def as_elements(value: Any, dtype: DType, max_rank: int | None = None) -> npt.NDArray[Any]:
    """Convert a value to an array of this data type.

    Arrays must convert without loss, whatever their elements are; other values are taken element by element, as NumPy
    takes them.

    Raise `SpecError`, `TypeError` or `OverflowError` when the value does not convert, or has too many dimensions.
    """
    too_deep = SpecError("object too deep for desired array")
    # Numbers where there are no dimensions are looked at first.
    most = max_rank if max_rank or dtype.name in _TEXTS else None
    if most is not None and isinstance(value, np.ndarray) and value.ndim > most:
        raise too_deep
    try:
        result = _converted(value, dtype, max_rank)
    except ValueError as error:
        raise SpecError(str(error)) from error
    except (TypeError, OverflowError):
        # TensorStore counts dimensions before it looks at elements.
        if most is not None and np.array(value, object).ndim > most:
            raise too_deep from None
        raise
    if max_rank is not None and result.ndim > max_rank:
        raise too_deep
    return result


def _converted(value: Any, dtype: DType, max_rank: int | None) -> npt.NDArray[Any]:
    wanted = element_dtype(dtype)
    if wanted.hasobject:
        return as_objects(_json(value, max_rank) if dtype.name == "json" else np.array(value, object), dtype)
    if not isinstance(value, np.ndarray | np.generic) and hasattr(value, "__array__"):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        if value.dtype == wanted:
            return value
        if np.can_cast(value.dtype, wanted, "safe"):
            return value.astype(wanted)
        what = "array data" if value.ndim else "scalar"
        raise TypeError(f"Cannot cast {what} from {value.dtype!r} to {wanted!r} according to the rule 'safe'")
    return np.asarray(value).astype(wanted) if isinstance(value, np.generic) else np.array(value, wanted)


def _json(value: Any, max_rank: int | None) -> npt.NDArray[Any]:
    """Parse nested lists, which are dimensions as far as they are regular, up to `max_rank`; deeper ones are JSON."""
    if isinstance(value, np.ndarray):
        if max_rank is None or value.ndim <= max_rank:
            return value.astype(object)
        # Deeper levels stay lists.
        value = value.tolist()
    shape: list[int] = []
    level = [value]
    while (
        (max_rank is None or len(shape) < max_rank) and level and all(isinstance(each, list | tuple) for each in level)
    ):
        lengths = {len(each) for each in level}
        if len(lengths) > 1:
            break
        shape.append(lengths.pop())
        level = [element for each in level for element in each]
    made = np.empty(len(level), object)
    for number, element in enumerate(level):
        made[number] = element
    return made.reshape(shape)


def as_source(value: Any, shape: tuple[int, ...], dtype: DType) -> Elements:
    """Return what a user gives to be written as elements of the data type of a view.

    Raise `SpecError`, `TypeError` or `OverflowError` when it does not convert.
    """
    if type(value) is np.ndarray and value.shape == shape and value.dtype == element_dtype(dtype):
        return value if value.dtype.kind != "O" else as_elements(value, dtype)
    return as_elements(value, dtype, len(shape))


def fitted(elements: Elements, target: Form) -> Elements:
    """Broadcast elements to the shape of a view; raise `SpecError` when a length does not fit."""
    shape = target.shape
    if elements.shape == shape:
        return elements
    align(Form.of_shape(elements.shape), target)
    return np.broadcast_to(elements, shape)


def write_now(driver: Driver, form: Form, elements: Elements) -> None:
    """Replace the elements of a view; raise `SpecError` when a length does not fit."""
    driver.write(form, fitted(elements, form))


def copy_view(source: Driver, source_form: Form, target: Driver, target_form: Form) -> None:
    """Write one view into another, piece by piece, each of whole chunks of the target.

    Raise `SpecError` when the target cannot be written, the source cannot be read, its elements cannot become those of
    the target unasked, or its lengths do not fit.
    """
    if not target.writable:
        raise NotWritableError("Destination does not support writing.")
    target.catch_up()
    source.catch_up()
    target_form, source_form = target.current(target_form), source.current(source_form)
    if not source.readable:
        raise NotReadableError("Source does not support reading.")
    if not is_implicit(source.dtype, target.dtype):
        asked = can_convert(source.dtype, target.dtype)
        lead = "Explicit data type conversion required to convert" if asked else "Cannot convert"
        raise SpecError(f"{lead} {source.dtype.name} -> {target.dtype.name}")
    aligned = compose(source_form, align(source_form, target_form))
    layout = layout_of_view(target.schema.chunk_layout, target_form)
    for piece in pieces(target_form, target.dtype.numpy_dtype.itemsize, layout):
        elements = source.read(cut(aligned, piece))
        target.write(cut(target_form, piece), convert(elements, source.dtype, target.dtype))


def pieces(form: Form, itemsize: int, layout: ChunkLayout) -> Iterator[Form]:
    """The domain of a view in boxes of whole write chunks, as large as memory that is set aside for copies allows."""
    shape, itemsize = form.shape, max(itemsize, 1)
    if not prod(shape):
        return
    if prod(shape) * itemsize <= config.copy_bytes:
        yield form.domain
        return
    grid = layout.write_chunk
    lengths = [length or size for length, size in zip(grid.shape or (0,) * len(shape), shape, strict=True)]
    origin = [at or 0 for at in layout.grid_origin or (0,) * len(shape)]
    # Grown from the last dimension on, so that a piece is as contiguous as can be.
    for dim in reversed(range(len(shape))):
        rest = prod(min(length, size) for length, size in zip(lengths, shape, strict=True)) * itemsize
        lengths[dim] *= max(1, min(-(-shape[dim] // lengths[dim]), config.copy_bytes // max(1, rest)))
    starts = []
    for low, size, length, at in zip(form.lower, shape, lengths, origin, strict=True):
        first = at + (low - at) // length * length
        starts.append([(max(low, edge), min(low + size, edge + length)) for edge in range(first, low + size, length)])
    for box in product(*starts):
        yield form.domain._replace(lower=tuple([low for low, _ in box]), upper=tuple([high for _, high in box]))


def align(source: Form, target: Form) -> Form:
    """The transform from the domain of the target to that of the source.

    Raise `SpecError` when a length does not fit.

    >>> align(Form.of_shape((1, 4)), Form.of_shape((2, 3, 4))).maps
    (0, (2, 0, 1))
    """
    matches = _matches(source, target)
    maps: list[Map] = []
    problems = []
    for dim, match in enumerate(matches):
        size = source.upper[dim] - source.lower[dim]
        if match is not None and size == target.upper[match] - target.lower[match]:
            maps.append((match, source.lower[dim] - target.lower[match], 1))
            continue
        maps.append(source.lower[dim])
        if size != 1:
            own = f"source dimension {dim} {_dim_shown(source, dim)}"
            other = None if match is None else f"target dimension {match} {_dim_shown(target, match)}"
            problems.append(f"{own} mismatch with {other}" if other else f"unmatched {own} does not have a size of 1")
    if problems:
        raise SpecError(f"Error aligning dimensions: {', '.join(problems)}")
    return target.domain._replace(maps=tuple(maps))


def _matches(source: Form, target: Form) -> list[int | None]:
    if not any(source.labels) or not any(target.labels):
        skipped = target.rank - source.rank
        return [dim + skipped if dim + skipped >= 0 else None for dim in range(source.rank)]
    free = [dim for dim, label in enumerate(target.labels) if not label]
    matches: list[int | None] = []
    for label in reversed(source.labels):
        if label:
            matches.append(target.labels.index(label) if label in target.labels else None)
        else:
            matches.append(free.pop() if free else None)
    return matches[::-1]


def _dim_shown(form: Form, dim: int) -> str:
    label = form.labels[dim]
    # Bounds as they are now, implicit or not.
    return (f'"{label}": ' if label else "") + str(form.interval(dim)).replace("*", "")


class CastDriver(AdaptedDriver):
    """The elements of another driver, which are converted when they are read and written.

    Raise `SpecError` if neither reading nor writing can convert them.
    """

    name = "cast"

    def __init__(self, original: Driver, dtype: DType) -> None:
        super().__init__(original)
        self.dtype = dtype
        self.readable = original.readable and can_convert(original.dtype, dtype)
        self.writable = original.writable and can_convert(dtype, original.dtype)
        if not self.readable and not self.writable:
            arrow = "<->" if original.readable and original.writable else "->"
            raise SpecError(f"Cannot convert {original.dtype.name} {arrow} {dtype.name}")

    @property
    def domain(self) -> IndexDomain:
        return self.original.domain

    @property
    def schema(self) -> Schema:
        schema = self.original.schema
        fill = schema.fill_value if self.readable else None
        fill = None if fill is None else convert(fill, self.original.dtype, self.dtype)
        return schema_of(
            self.dtype, self.rank, None, schema.chunk_layout, schema.dimension_units or (), schema.codec, fill
        )

    def spec_of(self, form: Form, minimal: bool = False) -> SpecNode:
        node = self.original.spec_of(form, minimal)
        # The transform is written once, for the cast.
        base = node.altered(transform=None)
        return SpecNode("cast", Schema(dtype=self.dtype, rank=base.rank), node.transform, bases=(base,))

    def base(self, form: Form) -> tuple[Driver, Form] | None:
        return self.original, form

    def read(self, form: Form, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        return put_into(out, convert(self.original.read(form, None, batch), self.original.dtype, self.dtype))

    def decoded(self, form: Form) -> set[Chunk]:
        return self.original.decoded(form)

    def write(self, form: Form, source: Elements) -> None:
        self.original.write(form, convert(np.asarray(source), self.dtype, self.original.dtype))

    def is_quick(self, form: Form, writes: bool = False) -> bool:
        return self.original.is_quick(form, writes)

    def current(self, form: Form) -> Form:
        return self.original.current(form)

    def resolve(self, fix_resizable_bounds: bool = False) -> Driver:
        return self.over(self.original.resolve(fix_resizable_bounds))

    def resize(self, form: Form, inclusive_min: Bounds, exclusive_max: Bounds, modes: frozenset[str]) -> Driver:
        return self.over(self.original.resize(form, inclusive_min, exclusive_max, modes))

    def storage_statistics(self, form: Form) -> tuple[bool, bool]:
        return self.original.storage_statistics(form)
