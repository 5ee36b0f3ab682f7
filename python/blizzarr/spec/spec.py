"""`Spec`: the spec of an array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, Never

import numpy as np

from blizzarr.keywords import name_keywords, unknown_keywords
from blizzarr.spec.arguments import Argument, apply_arguments, instance_of
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.context import Context
from blizzarr.spec.drivers import DRIVERS, Change, Driver
from blizzarr.spec.dtype import DType
from blizzarr.spec.kvstore_spec import KvStoreSpec, NodeSpec, at_node, changed_context, kvstore_node
from blizzarr.spec.open_mode import MODES, OpenMode, modes_on, recheck_argument
from blizzarr.spec.schema import SCHEMA_ARGUMENTS, Schema, is_unconstrained, schema_of_base
from blizzarr.spec.spec_json import derived, spec_from_json, spec_json
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.through_view import fill_of_view, layout_of_view, units_of_view
from blizzarr.spec.unit import Unit
from blizzarr.views import Indexable, IndexDomain, IndexTransform, form_of


class Spec(NodeSpec, Indexable):
    """The spec of an array to open or create: parsed JSON.

    Indexing gives the spec of a view of the array.

    Parameters
    ----------
    json
        A URL, or an object with a member ``driver``.

    Examples
    --------
    >>> spec = Spec({"driver": "zarr3", "kvstore": "memory://a/", "dtype": "int8"})
    >>> spec.update(shape=[4, 5], create=True)
    >>> spec.shape, spec.open_mode, spec.url
    ((4, 5), OpenMode(create=True), 'memory://a/|zarr3:')
    """

    __slots__ = ("__weakref__", "_node")
    _node: SpecNode
    _node_json = staticmethod(spec_json)

    def __init__(self, json: Any, **unknown: Never) -> None:
        if unknown:
            hint = unknown_keywords(Spec.update, unknown)
            raise TypeError(
                f"Spec() takes JSON alone, create=True and the like are for Spec.update() and open(); {hint}"
            )
        self._node = node_of(json)

    def update(self, **changes: Any) -> None:
        """Change the spec in place, or constrain it further.

        They are ``open_mode``, ``open``, ``create``, ``delete_existing``, ``assume_metadata``,
        ``assume_cached_metadata``, ``unbind_context``, ``strip_context``, ``context``, ``kvstore``, ``minimal_spec``,
        ``recheck_cached_metadata``, ``recheck_cached_data``, ``recheck_cached``, and what constrains a `Schema`.

        Examples
        --------
        >>> spec = Spec({"driver": "zarr3", "kvstore": "memory://"})
        >>> spec.update(rank=2, recheck_cached_data="open")
        >>> spec
        Spec({
          'driver': 'zarr3',
          'kvstore': {'driver': 'memory'},
          'rank': 2,
          'recheck_cached_data': 'open',
        })
        """
        self._node = changed(self._node, change_of(Spec.update, changes))

    # Properties

    @property
    def rank(self) -> int | None:
        """The number of dimensions, if it is known."""
        return self._node.rank

    ndim = rank

    @property
    def dtype(self) -> DType | None:
        """The data type, if it is known."""
        return self._node.schema.dtype

    @property
    def open_mode(self) -> OpenMode:
        """The open mode: what opening may do."""
        return self._driver.open_mode(self._node)

    @property
    def transform(self) -> IndexTransform | None:
        """The map from positions of this view to those of the stored array, if it is known."""
        return self._node.transform

    @property
    def domain(self) -> IndexDomain | None:
        """The indices of elements, if they are known."""
        return self._node.domain

    @property
    def chunk_layout(self) -> ChunkLayout:
        """The chunk layout, as far as it is known."""
        layout: ChunkLayout = self._driver.fact(self._node, "chunk_layout")
        return layout if self._node.transform is None else layout_of_view(layout, form_of(self._node.transform))

    @property
    def codec(self) -> CodecSpec | None:
        """The codec that turns elements into bytes, as far as it is known."""
        codec: CodecSpec | None = self._driver.fact(self._node, "codec")
        return codec

    @property
    def fill_value(self) -> np.ndarray[Any, Any] | None:
        """The value of elements that were never written, if it is known."""
        fill: np.ndarray[Any, Any] | None = self._driver.fact(self._node, "fill_value")
        if fill is None:
            return None
        if self._node.transform is not None:
            fill = fill_of_view(fill, form_of(self._node.transform), self._node.schema.domain)
        # Other specs may have the same one.
        fill = fill.view()
        fill.flags.writeable = False
        return fill

    @property
    def dimension_units(self) -> tuple[Unit | None, ...] | None:
        """The unit of each dimension, if the rank is known; None where it is not known."""
        rank = self._node.schema.rank
        if rank is None:
            return None
        units = self._driver.fact(self._node, "dimension_units") or (None,) * rank
        return units if self._node.transform is None else units_of_view(units, form_of(self._node.transform))

    @property
    def kvstore(self) -> KvStoreSpec | None:
        """The store, if there is one."""
        node = self._driver.kvstore(self._node)
        return None if node is None else at_node(KvStoreSpec, node)

    @property
    def base(self) -> Spec | None:
        """The spec of the array that this one is made from, if there is one."""
        node = self._driver.base(self._node)
        return None if node is None else spec_of(node)

    @property
    def schema(self) -> Schema:
        """The schema: everything that is known of the array."""
        return Schema(
            dtype=self.dtype,
            rank=self.rank,
            domain=self.domain,
            chunk_layout=self.chunk_layout,
            codec=self.codec,
            dimension_units=self.dimension_units,
            fill_value=self.fill_value,
        )

    @property
    def url(self) -> str:
        """The array as a URL."""
        return self._driver.url(self._node)

    @property
    def _driver(self) -> Driver:
        return DRIVERS[self._node.driver]

    # Views of it

    @property
    def _transform(self) -> IndexTransform | None:
        if self._node.transform is not None or self._node.schema.rank is None:
            return self._node.transform
        return IndexTransform(input_rank=self._node.schema.rank)

    def _with_transform(self, transform: IndexTransform) -> Spec:
        return spec_of(self._node.altered(transform=transform))


def spec_of(node: SpecNode) -> Spec:
    """Return the spec of a node."""
    return at_node(Spec, node)


def node_of(json: Any) -> SpecNode:
    """Return the node of a spec, which may be given as JSON or as a URL."""
    return json._node if isinstance(json, Spec) else spec_from_json(json)


def _set(convert: Any, *names: str) -> Argument:
    def apply(change: Change, value: Any) -> None:
        for name in names:
            setattr(change, name, value)

    return Argument(convert, apply)


def _join(change: Change, mode: OpenMode) -> None:
    for name in modes_on(mode):
        setattr(change.open_mode, name, True)


def _set_mode(name: str, change: Change, on: bool) -> None:
    if on:
        setattr(change.open_mode, name, True)


def _constrain(row: Argument, change: Change, value: Any) -> None:
    row.apply(change.schema, value)


CHANGES: Final[dict[str, Argument]] = {
    "open_mode": Argument(instance_of(OpenMode), _join),
    **{name: Argument(bool, partial(_set_mode, name)) for name in MODES},
    **{name: _set(bool, name) for name in ("unbind_context", "strip_context", "minimal_spec")},
    "context": _set(instance_of(Context), "context"),
    "kvstore": Argument(instance_of(KvStoreSpec), lambda change, spec: setattr(change, "kvstore", kvstore_node(spec))),
    **{
        name: _set(recheck_argument, *names)
        for name, *names in (
            ("recheck_cached_metadata", "recheck_cached_metadata"),
            ("recheck_cached_data", "recheck_cached_data"),
            ("recheck_cached", "recheck_cached_data", "recheck_cached_metadata"),
        )
    },
    **{name: Argument(row.convert, partial(_constrain, row)) for name, row in SCHEMA_ARGUMENTS.items()},
}
"""The changes to a spec by keyword, in the order in which they are applied."""

name_keywords(Spec.__init__)
name_keywords(Spec.update, list(CHANGES))


def change_of(function: Callable[..., Any], changes: dict[str, Any]) -> Change:
    """Convert the keywords of a function to changes; unknown and contradictory ones are errors."""
    change = Change()
    apply_arguments(function, change, CHANGES, changes)
    return change


def changed(node: SpecNode, change: Change, default: Context | None = None) -> SpecNode:
    """Return the node with a change; resources that are not bound then are bound to its context, or to the default."""
    node = changed_context(node, change.unbind_context, change.strip_context, None)
    had_none = node.transform is None and change.schema.domain is not None
    if node.transform is not None and not is_unconstrained(change.schema):
        change = replace(change, schema=schema_of_base(change.schema, node.transform))
    node = DRIVERS[node.driver].changed(node, change)
    if had_none:
        node = derived(node)
    made: SpecNode = changed_context(node, False, False, default if change.context is None else change.context)
    return made
