"""Drivers of other packages: what they derive from, and the function that makes them known.

There are two kinds. A `StoredDriver` opens arrays of a format, which `blizzarr.formats.register_format` makes known;
the engine reads and writes their chunks. A `ChunkDriver` reads and writes chunks itself, wherever they are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from blizzarr.json_members import Members, Option, as_bool, as_integer, as_text, options_json
from blizzarr.spec.driver_table import DRIVERS
from blizzarr.spec.drivers import Driver, StoredDriver
from blizzarr.spec.schema import Schema, merge_schema
from blizzarr.spec.spec_node import SpecNode
from blizzarr.tensorstore.driver import Elements, Request
from blizzarr.tensorstore.store import TensorStore, store_of
from blizzarr.tensorstore.virtual_chunked import VirtualDriver
from blizzarr.views import IndexDomain

__all__ = ["ChunkDriver", "Option", "StoredDriver", "as_bool", "as_integer", "as_text", "register_driver"]


def register_driver(driver: Driver) -> None:
    """Make a driver known by its name and by its scheme in URLs, to `blizzarr.tensorstore.open` and in every spec.

    An installed package registers its drivers without this function, by entry points of the group
    ``blizzarr.drivers``: an entry point has the name of a driver, and refers to the driver. A scheme that is not the
    name of the driver is another entry point.

    Raises
    ------
    ValueError
        There is another driver of this name.

    Examples
    --------
    >>> register_driver(StoredDriver("zarr3", formats=("v3",)))
    Traceback (most recent call last):
    ...
    ValueError: expected a name that blizzarr.drivers does not have yet, found 'zarr3'; choose another
    """
    for name in dict.fromkeys((driver.name, driver.scheme or driver.name)):
        DRIVERS.register(name, driver)


class ChunkDriver(Driver):
    """Arrays whose chunks are read, and written, by the methods of a subclass.

    A subclass has a `name`, and in `members` the members that its specs have besides those of every driver. Each method
    gets their values as keyword arguments. Without a method `write_chunk`, arrays are read-only.

    Examples
    --------
    >>> class Counting(ChunkDriver):
    ...     name = "counting"
    ...     members = {"start": Option(as_integer(0, 100), 0)}
    ...
    ...     def describe(self, start):
    ...         return {"dtype": "int8", "shape": (5,)}
    ...
    ...     def read_chunk(self, domain, out, start):
    ...         out[...] = range(start + domain.inclusive_min[0], start + domain.exclusive_max[0])
    >>> Counting().open(SpecNode("counting", options={"start": 7}), Request())[1:4].read().result()
    array([ 8,  9, 10], dtype=int8)
    """

    resources = ("data_copy_concurrency", "cache_pool")
    members: ClassVar[Mapping[str, Option]] = {}
    """How each member is parsed, with its default; a member without a default is required."""

    @abstractmethod
    def describe(self, **members: Any) -> Mapping[str, Any]:
        """Return arguments of `Schema`: at least ``dtype`` and ``shape``, and a ``chunk_layout`` for the chunks."""

    @abstractmethod
    def read_chunk(self, domain: IndexDomain, out: Elements, **members: Any) -> None:
        """Put the elements of a chunk, which has this domain, into `out`."""

    def write_chunk(self, domain: IndexDomain, source: Elements, **members: Any) -> None:
        """Store the elements of a chunk, which has this domain."""
        raise NotImplementedError

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        return node.altered(options={**node.options, **members.take_all(self.members)})

    def to_json(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        return options_json(node.options, self.members, include_defaults)

    def open(self, node: SpecNode, request: Request) -> TensorStore:
        """Return the array, if it meets the constraints of the spec."""
        schema = node.schema.copy()
        merge_schema(schema, Schema(**self.describe(**node.options)))
        reads = partial(_called, self.read_chunk, node)
        writes = None if type(self).write_chunk is ChunkDriver.write_chunk else partial(_called, self.write_chunk, node)
        return store_of(VirtualDriver((reads, writes), schema, node.resources, None, node))


def _called(method: Callable[..., None], node: SpecNode, domain: IndexDomain, elements: Elements, _: object) -> None:
    """Call a method of a driver, as functions of virtual chunks are called."""
    method(domain, elements, **node.options)
