"""`virtual_chunked`: a store whose elements are made by functions, chunk by chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blizzarr.errors import SpecError
from blizzarr.indexing.interval import INF
from blizzarr.keywords import name_keywords
from blizzarr.spec.arguments import apply_arguments, prefixed
from blizzarr.spec.chunk_layout import ChunkLayout, grid_of, merge_grid, order_in, origin_in
from blizzarr.spec.context import Context, resource_of
from blizzarr.spec.layout_solver import choose_shape
from blizzarr.spec.schema import SCHEMA_ARGUMENTS, Schema
from blizzarr.spec.spec_node import SpecNode
from blizzarr.tensorstore.driver import Request
from blizzarr.tensorstore.opening import OPENERS
from blizzarr.tensorstore.store import TensorStore, store_of
from blizzarr.tensorstore.virtual_driver import ReadFunction, VirtualDriver, WriteFunction, running_loop
from blizzarr.transactions import Transaction
from blizzarr.views import IndexDomain, form_of

if TYPE_CHECKING:
    import asyncio


def virtual_chunked(
    read_function: ReadFunction | None = None,
    write_function: WriteFunction | None = None,
    *,
    loop: asyncio.AbstractEventLoop | None = None,
    context: Context | None = None,
    transaction: Transaction | None = None,
    **constraints: Any,
) -> TensorStore:
    """Make a store whose chunks are produced, and consumed, by functions.

    Parameters
    ----------
    read_function
        Called with the domain of a chunk, an array to fill, and `VirtualChunkedReadParameters`. If it returns a future
        or coroutine, that is waited for. Without this function, the store cannot be read.
    write_function
        Called with the domain of a chunk, its elements, and `VirtualChunkedWriteParameters`. Without this function, the
        store cannot be written.
    loop
        The event loop that runs coroutines; by default, that of this thread.
    context
        What is shared with others.
    transaction
        The transaction that gathers what is written; the functions are called when it is committed.
    **constraints
        The arguments of `Schema`: ``dtype``, and ``shape`` or ``domain``, are required; ``chunk_layout`` is optional.

    Examples
    --------
    >>> import numpy as np
    >>> def squares(domain, array, _):
    ...     array[...] = np.arange(domain.inclusive_min[0], domain.exclusive_max[0]) ** 2
    >>> virtual_chunked(squares, dtype="int64", shape=[10**12])[10**6 : 10**6 + 3].read().result()
    array([1000000000000, 1000002000001, 1000004000004])
    """
    if read_function is None and write_function is None:
        raise SpecError("Must specify `read_function`, `write_function`, or both")
    schema = Schema()
    apply_arguments(virtual_chunked, schema, SCHEMA_ARGUMENTS, constraints)
    here = context or Context()
    resources = {name: resource_of(here, name) for name in ("data_copy_concurrency", "cache_pool")}
    driver = virtual_driver((read_function, write_function), schema, resources, loop or running_loop())
    return store_of(driver if transaction is None else driver.with_transaction(transaction))


name_keywords(virtual_chunked, [name for name in SCHEMA_ARGUMENTS if name not in ("codec", "fill_value")])


def virtual_driver(
    functions: tuple[ReadFunction | None, WriteFunction | None],
    schema: Schema,
    resources: dict[str, Any],
    loop: Any,
    node: SpecNode | None = None,
) -> VirtualDriver:
    """Return the driver of functions that make chunks; `node` is the spec of the driver that has these functions."""
    rank = schema.rank
    if rank is None:
        raise SpecError("rank must be specified")
    if schema.dtype is None:
        raise SpecError("dtype must be specified")
    if schema.fill_value is not None:
        raise SpecError("fill_value not supported")
    if schema.codec is not None:
        raise SpecError("codec not supported")
    given = schema.domain or IndexDomain(rank)
    # There is nothing stored from which implicit bounds would be found.
    domain = IndexDomain(labels=given.labels, inclusive_min=given.inclusive_min, exclusive_max=given.exclusive_max)
    layout = _layout(schema.chunk_layout, domain)
    units = schema.dimension_units or (None,) * rank
    return VirtualDriver(functions, domain, schema.dtype, layout, units, resources, loop, node)


def _layout(asked: ChunkLayout, domain: IndexDomain) -> ChunkLayout:
    """Return the requested layout with everything that it leaves open chosen."""
    codec_shape = grid_of(asked, "codec").shape
    if any(codec_shape.values[dim] for dim in codec_shape.hard):
        raise SpecError("codec_chunk_shape not supported")
    bounds = [form_of(domain).interval(dim).bounds for dim in range(domain.rank)]
    with prefixed("Failed to compute chunk grid"):
        with prefixed("write_chunk constraints not compatible with existing read_chunk constraints"):
            merge_grid(asked, "read", grid_of(asked, "write"))
        shape = choose_shape(grid_of(asked, "read"), bounds)
    # The usual origin is in the first chunk of positive indices.
    usual = [low % side if low > -INF else 0 for low, side in zip(domain.inclusive_min, shape, strict=True)]
    given = origin_in(asked) or (None,) * domain.rank
    origin = [at if at is not None else low for at, low in zip(given, usual, strict=True)]
    return ChunkLayout(
        grid_origin=origin, chunk_shape=list(shape), inner_order=list(order_in(asked) or range(domain.rank))
    )


def _open_virtual(node: SpecNode, request: Request) -> TensorStore:
    made = virtual_driver(node.options["functions"], node.schema, dict(node.resources), node.options["loop"])
    return store_of(made)


OPENERS["virtual_chunked"] = _open_virtual
