"""Stores and specs made from others: converted to another data type, or downsampled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from blizzarr.spec.context import Context
from blizzarr.spec.dtype import DTypeLike, as_dtype
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec import Spec, node_of, spec_of
from blizzarr.spec.spec_json import derived
from blizzarr.spec.spec_node import SpecNode
from blizzarr.tensorstore.downsample_driver import DownsampleDriver
from blizzarr.tensorstore.facts import driver_of
from blizzarr.tensorstore.memory_array import array_driver
from blizzarr.tensorstore.store import TensorStore, store_of
from blizzarr.views import form_of

S = TypeVar("S", TensorStore, Spec)


def cast(base: S, dtype: DTypeLike) -> S:
    """Return a view with another data type, whose elements are converted when they are read and written.

    Parameters
    ----------
    base
        A store, or a spec.
    dtype
        The data type.

    Examples
    --------
    >>> import blizzarr.tensorstore as ts
    >>> cast(ts.array([1.5, -2.5]), "int8").read().result()
    array([ 1, -2], dtype=int8)
    """
    if isinstance(base, TensorStore):
        return base.astype(dtype)
    _check_base(base)
    node = node_of(base)
    made = SpecNode("cast", Schema(dtype=as_dtype(dtype), rank=node.schema.rank), node.transform)
    return spec_of(replace(made, bases=(replace(node, transform=None),)))


def downsample(base: S, downsample_factors: Iterable[int], method: str) -> S:
    """Return a downsampled view: each of its elements is computed from a block.

    Parameters
    ----------
    base
        A store, or a spec.
    downsample_factors
        The lengths of blocks.
    method
        How the elements are made: ``"stride"`` takes the element whose indices are multiples of the factors; the others
        are ``"mean"``, ``"min"``, ``"max"``, ``"median"`` (of two, the lower one) and ``"mode"``, the most frequent
        element (of several, the least).

    Examples
    --------
    >>> import blizzarr.tensorstore as ts
    >>> downsample(ts.array([[1, 2, 5], [3, 4, 6]]), [2, 2], "mean").read().result()
    array([[2, 6]])
    """
    if not isinstance(downsample_factors, Iterable):
        raise TypeError(
            f"Invalid downsample_factors: expected one integer for each dimension, found {downsample_factors!r}"
        )
    if not isinstance(method, str):
        raise TypeError(f"Invalid method: expected text, found {method!r}")
    factors = tuple(int(factor) for factor in downsample_factors)
    if isinstance(base, TensorStore):
        return store_of(DownsampleDriver(driver_of(base), form_of(base), factors, method))
    _check_base(base)
    known = {} if base.dtype is None else {"dtype": base.dtype}
    made = SpecNode(
        "downsample",
        Schema(rank=len(factors), **known),
        bases=(node_of(base),),
        options={"factors": factors, "method": method},
    )
    return spec_of(derived(made))


def _check_base(base: object) -> None:
    if not isinstance(base, Spec):
        raise TypeError(f"expected a TensorStore or a Spec, found {type(base).__name__}")


def array(
    array: Any,
    dtype: DTypeLike | None = None,
    *,
    context: Context | None = None,
    copy: bool | None = None,
    write: bool | None = None,
) -> TensorStore:
    """Make a store of an array in memory.

    Parameters
    ----------
    array
        An array, or anything that NumPy can make into one.
    dtype
        The data type of the elements; by default, that of the array.
    context
        What is shared with others.
    copy
        Give the store a copy of the elements. None copies only what must be converted; False fails in that
        case.
    write
        Allow writing. None allows it if the array does; with True, a copy is made if necessary.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1, 2, 3])
    >>> store = array(x)
    >>> store[0] = 9
    >>> x
    array([9, 2, 3])
    """
    return store_of(array_driver(array, dtype, context, copy, write))
