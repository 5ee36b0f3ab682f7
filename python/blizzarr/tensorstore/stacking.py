"""Stores and specs made from others, converted, downsampled or stacked, and from arrays in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from blizzarr.errors import SpecError, TransactionError
from blizzarr.keywords import name_keywords
from blizzarr.spec.arguments import apply_arguments
from blizzarr.spec.context import Context, resource_of
from blizzarr.spec.drivers.adapters import common_domain
from blizzarr.spec.dtype import DType, DTypeLike, as_dtype
from blizzarr.spec.schema import SCHEMA_ARGUMENTS, Schema, is_unconstrained, merge_schema
from blizzarr.spec.spec import Spec, derived, node_of, spec_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unit import common_units
from blizzarr.tensorstore.downsample_driver import DownsampleDriver
from blizzarr.tensorstore.driver import Request
from blizzarr.tensorstore.opening import OPENERS, limited
from blizzarr.tensorstore.stack_driver import Layer, StackDriver, as_layer, placed
from blizzarr.tensorstore.store import TensorStore, driver_of, store_of
from blizzarr.tensorstore.values import array_driver
from blizzarr.transactions import Transaction
from blizzarr.views import IndexDomain, form_of
from blizzarr.views.dim_selection import normalize_dim
from blizzarr.views.operations import Translation, added, translate
from blizzarr.views.values import MAX_RANK

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
    schema = Schema(dtype=as_dtype(dtype), rank=node.schema.rank)
    return spec_of(SpecNode("cast", schema, node.transform, bases=(node.altered(transform=None),)))


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


def overlay(
    layers: Iterable[Any],
    *,
    read: bool | None = None,
    write: bool | None = None,
    context: Context | None = None,
    transaction: Transaction | None = None,
    **constraints: Any,
) -> TensorStore:
    """Overlay stores: each element is that of the last store whose domain contains it.

    Parameters
    ----------
    layers
        Stores, or specs with a known domain, which are opened when they are needed.
    read, write, context, transaction
        As for `open`.
    **constraints
        ``rank``, ``dtype``, ``domain``, ``shape``, ``dimension_units`` and ``schema``.

    Examples
    --------
    >>> import blizzarr.tensorstore as ts
    >>> overlay([ts.array([1, 2, 3, 4]), ts.array([5, 6, 7]).translate_to[3]]).read().result()
    array([1, 2, 3, 5, 6, 7])
    """
    made = _layers(layers, context)
    return _made(overlay, made, Request(read, write, context, transaction), constraints)


def stack(
    layers: Iterable[Any],
    axis: int = 0,
    *,
    read: bool | None = None,
    write: bool | None = None,
    context: Context | None = None,
    transaction: Transaction | None = None,
    **constraints: Any,
) -> TensorStore:
    """Stack stores along a new dimension.

    Parameters
    ----------
    layers
        Stores, or specs with a known domain, which are opened when they are needed.
    axis
        The new dimension; negative numbers count from the last.
    read, write, context, transaction
        As for `open`.
    **constraints
        As for `overlay`.

    Examples
    --------
    >>> import blizzarr.tensorstore as ts
    >>> stack([ts.array([1, 2]), ts.array([3, 4])], axis=-1).read().result()
    array([[1, 3],
           [2, 4]])
    """
    made = _layers(layers, context, "stack")
    rank = form_of(made[0]).rank + 1
    dim = normalize_dim(int(axis), [""] * rank, SpecError)
    _check_ranks(made)
    side_by_side = [placed(layer, added(form_of(layer), dim, number)) for number, layer in enumerate(made)]
    return _made(stack, side_by_side, Request(read, write, context, transaction), constraints)


def concat(
    layers: Iterable[Any],
    axis: int | str,
    *,
    read: bool | None = None,
    write: bool | None = None,
    context: Context | None = None,
    transaction: Transaction | None = None,
    **constraints: Any,
) -> TensorStore:
    """Concatenate stores along one of their dimensions.

    Parameters
    ----------
    layers
        Stores, or specs with a known domain, which are opened when they are needed.
    axis
        The dimension, as a number or label.
    read, write, context, transaction
        As for `open`.
    **constraints
        As for `overlay`.

    Examples
    --------
    >>> import blizzarr.tensorstore as ts
    >>> concat([ts.array([[1, 2]]), ts.array([[3]])], axis=1).read().result()
    array([[1, 2, 3]])
    """
    made = _layers(layers, context, "concat")
    _check_ranks(made)
    is_label = isinstance(axis, str)
    labels = _common_domain(made).labels if is_label else [""] * form_of(made[0]).rank
    dim = normalize_dim(axis if is_label else int(axis), labels, SpecError)
    in_a_row = []
    end = form_of(made[0]).lower[dim]
    for layer in made:
        form = form_of(layer)
        if form.lower[dim] != end:  # Also if the first is not bounded below.
            form, _ = translate(form, [dim], end, Translation.TO)
        end = form.upper[dim]
        in_a_row.append(placed(layer, form))
    return _made(concat, in_a_row, Request(read, write, context, transaction), constraints)


_CONSTRAINTS = ("rank", "dtype", "domain", "shape", "dimension_units", "schema")
for _function in (overlay, stack, concat):
    name_keywords(_function, _CONSTRAINTS)


def _layers(layers: Iterable[Any], context: Context | None, doing: str = "") -> list[Layer]:
    """Return the layers that a user gives; with `doing` there must be one."""
    shared = context or Context()
    made = [as_layer(layer, shared) for layer in layers]
    if doing and not made:
        raise SpecError(f"At least one layer must be specified for {doing}")
    return made


def _check_ranks(layers: Sequence[Layer]) -> None:
    ranks = [layer.rank for layer in layers]
    for number, rank in enumerate(ranks):
        if rank != ranks[0]:
            raise SpecError(
                f"Layer {number}: Layer domain {layers[number].domain} of rank {rank} "
                f"does not match layer 0 rank of {ranks[0]}"
            )


def _common_domain(layers: Sequence[Layer]) -> IndexDomain:
    return common_domain([domain for layer in layers if (domain := layer.domain) is not None])


def _made(
    function: Callable[..., TensorStore], layers: list[Layer], request: Request, constraints: dict[str, Any]
) -> TensorStore:
    schema = Schema()
    apply_arguments(function, schema, SCHEMA_ARGUMENTS, constraints)
    return stacked(layers, schema, request)


def stacked(layers: list[Layer], schema: Schema, request: Request) -> TensorStore:
    """Return the store of layers that have their final positions.

    Raise `SpecError` when they do not go together, or with the schema.
    """
    dtype: DType | None = schema.dtype
    for number, layer in enumerate(layers):
        if dtype is None:
            dtype = layer.dtype
        elif layer.dtype is not None and layer.dtype != dtype:
            raise SpecError(
                f"Layer {number}: Layer dtype of {layer.dtype.name} does not match existing dtype of {dtype.name}"
            )
    if dtype is None:
        raise SpecError("dtype must be specified")
    _check_ranks(layers)
    if schema.domain is not None:
        domain = schema.domain
    elif layers:
        domain = _common_domain(layers)
    else:
        raise SpecError("domain must be specified")
    if domain.rank > MAX_RANK or not is_unconstrained(schema):
        merge_schema(schema.copy(), Schema(rank=domain.rank))
    units = common_units(schema.dimension_units, (layer.dimension_units for layer in layers)) or (None,) * domain.rank
    resource = resource_of(request.context or Context(), "data_copy_concurrency")
    driver = limited(StackDriver(tuple(layers), domain, dtype, units, resource), request)
    transaction = _transaction_of(layers, request.transaction)
    return store_of(driver if transaction is None else driver.with_transaction(transaction))


def _transaction_of(layers: Sequence[Layer], transaction: Transaction | None) -> Transaction | None:
    """Return the transaction that all layers have."""
    for number, layer in enumerate(layers):
        own = transaction if isinstance(layer, Spec) else layer.transaction
        if transaction is None and number == 0:
            transaction = own
        if own is not transaction and (own is not None or number):
            raise TransactionError(f"Layer {number}: Transaction mismatch")
    return transaction


def _open_stack(node: SpecNode, request: Request) -> TensorStore:
    for number, base in enumerate(node.bases):
        if base.transform is None:
            raise SpecError(f"Layer {number}: domain must be specified")
    return stacked(list(map(spec_of, node.bases)), node.schema, replace(request, context=None))


OPENERS["stack"] = _open_stack
