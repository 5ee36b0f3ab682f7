"""Specs of stored arrays: the drivers of all formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final

from blizzarr.errors import SpecError
from blizzarr.formats import Format, format_named
from blizzarr.json_members import Members, Option, as_bool, options_json
from blizzarr.json_values import MISSING, copied, quote
from blizzarr.lazy_imports import object_at
from blizzarr.spec.codec_spec import DriverCodec
from blizzarr.spec.drivers.driver import (
    Change,
    Driver,
    changed_kvstore,
    kvstore_members,
    path_below,
    url_of_kvstore,
    with_schema,
)
from blizzarr.spec.kvstore_json import kvstore_of
from blizzarr.spec.metadata.interface import MetadataConstraints
from blizzarr.spec.open_mode import MODES, OpenMode, changed_mode, modes_on, recheck_from_json
from blizzarr.spec.resources import RESOURCES
from blizzarr.spec.schema import UNCONSTRAINED
from blizzarr.spec.spec_node import KvNode, SpecNode


class StoredDriver(Driver):
    """Stored arrays.

    - `formats`: the names of the formats that the driver reads; it writes the first.
    - `constraints`: the class of the constraints on metadata, or its place, ``"module:name"``, from which it is
      imported when it is needed. By default constraints are members of the documents, which are JSON.
    - `scheme`: the scheme of URLs that mean the driver; by default its name.
    """

    resources = ("data_copy_concurrency", "cache_pool")
    optional_resources = ("metadata_cache_pool",)

    def __init__(
        self,
        name: str,
        formats: Sequence[str],
        constraints: type[MetadataConstraints] | str | None = None,
        scheme: str = "",
    ) -> None:
        self.name = name  # type: ignore[misc]
        self.scheme = scheme or name  # type: ignore[misc]
        self.formats = tuple(formats)
        self._constraints = constraints

    @cached_property
    def constraints(self) -> type[MetadataConstraints]:
        """The class of the constraints on metadata."""
        given = self._constraints
        if given is None:
            from blizzarr.spec.metadata.older import DocumentConstraints

            own = {"driver": self.name, "format": self.formats[0]}
            return type("DocumentConstraints", (DocumentConstraints,), own)
        kind: type[MetadataConstraints] = object_at(given) if isinstance(given, str) else given
        return kind

    @property
    def codec_class(self) -> type[DriverCodec] | None:  # type: ignore[override]
        """The class of the codec in a schema."""
        return self.constraints.codec_class

    def formats_of(self, node: SpecNode) -> tuple[Format, ...]:
        """Return the formats that an array may have which a spec describes; new arrays get the first."""
        return self.forms

    @cached_property
    def forms(self) -> tuple[Format, ...]:
        """The formats, where they do not depend on the spec; otherwise `formats_of` tells them."""
        return tuple(map(format_named, self.formats))

    @cached_property
    def nothing(self) -> MetadataConstraints:
        """The constraints of a spec that says nothing about metadata."""
        return self.constraints.from_json({})

    @cached_property
    def default_options(self) -> dict[str, Any]:
        """The options of a spec that names none."""
        table = {**_OPTIONS, **self.constraints.options}
        return {"mode": OpenMode(open=True), **{name: option.default for name, option in table.items()}}

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        """Take the store, the open mode, bounds of caches, and the constraints on metadata."""
        given, schema = members.left, node.schema
        dtype = None if schema is UNCONSTRAINED else schema.dtype
        if dtype is not None:
            self.constraints.check_dtype(schema)
        kvstore: KvNode | None = members.take("kvstore", kvstore_of, None)
        if "path" in given:
            kvstore = path_below(members, kvstore)
        if kvstore is not None and not kvstore.path.endswith("/"):
            kvstore = kvstore.directory()
        options, is_open = self.default_options.copy(), False
        metadata = self.take_constraints(members, node) or self.nothing
        if given:
            own = self.constraints.options
            options |= members.take_all(_OPTIONS) | members.take_all(own)
            is_open = bool(options_json(options, own, False))
            if not _MODES.isdisjoint(given):
                options["mode"] = _mode(members)
            metadata = metadata.with_options(options)
        options["metadata"] = metadata
        if metadata is not self.nothing or dtype is not None or is_open:
            schema = schema.copy()
            metadata.constrain(schema, options)
        return node.altered(kvstore=kvstore, options=options, schema=schema)

    def take_constraints(self, members: Members, node: SpecNode) -> MetadataConstraints | None:
        """Take the members that constrain the metadata; return None if there are none."""
        return members.take("metadata", self.constraints.from_json, None) if "metadata" in members.left else None

    def constraints_json(self, constraints: MetadataConstraints, include_defaults: bool) -> dict[str, Any]:
        """Return the members that contain these constraints."""
        metadata = constraints.to_json(include_defaults)
        return {"metadata": copied(metadata)} if include_defaults or metadata != self.nothing.to_json() else {}

    def minimal(self, constraints: MetadataConstraints) -> MetadataConstraints:
        """Return the constraints that a minimal spec keeps, where metadata that meet these are stored."""
        return self.nothing

    def to_json(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        """Return the members of the spec that differ from the defaults, or all of them."""
        options = node.options
        mode: OpenMode = options["mode"]
        json = options_json(options, _OPTIONS, include_defaults)
        for name in MODES[2:]:
            if include_defaults or getattr(mode, name):
                json[name] = getattr(mode, name)
        if mode.create:
            json["create"] = True
            if mode.open:
                json["open"] = True
        json |= self.constraints_json(options["metadata"], include_defaults)
        return json | options_json(options, self.constraints.options, False)

    def changed(self, node: SpecNode, change: Change) -> SpecNode:
        """Return the node with another open mode, bounds of caches, a store if it had none, and further constraints."""
        options = dict(node.options)
        if change.minimal_spec:
            options["metadata"] = self.minimal(options["metadata"])
        for name in ("recheck_cached_metadata", "recheck_cached_data"):
            if (bound := getattr(change, name)) is not None:
                options[name] = bound
        options["mode"] = changed_mode(options["mode"], change.open_mode)
        return with_schema(node.altered(options=options, kvstore=changed_kvstore(node, change)), change.schema)

    def fact(self, node: SpecNode, name: str) -> Any:
        """Return what follows from metadata and schema."""
        return getattr(node.options["metadata"], name)(node.schema, node.options)

    def url(self, node: SpecNode) -> str:
        for name in options_json(node.options, self.constraints.options, False):
            raise SpecError(f"{self.scheme} URL syntax not supported with {name} specified")
        return f"{url_of_kvstore(node)}|{self.scheme}:"

    def __repr__(self) -> str:
        return f"<driver {quote(self.name)}>"


_OPTIONS: Final[Mapping[str, Option]] = {
    "recheck_cached_metadata": Option(recheck_from_json, "open"),
    "recheck_cached_data": Option(recheck_from_json, True),
    "fill_missing_data_reads": Option(as_bool, True),
    "store_data_equal_to_fill_value": Option(as_bool, False),
}
_MODES: Final = frozenset({*MODES, "allow_metadata_mismatch"})


def _mode(members: Members) -> OpenMode:
    on = {name: bool(members.take(name, as_bool, False)) for name in MODES}
    if members.left.pop("allow_metadata_mismatch", MISSING) not in (MISSING, False):
        raise SpecError('expected no "allow_metadata_mismatch", which is no longer supported')
    # The default is to open.
    on["open"] |= not on["create"]
    on["assume_cached_metadata"] &= not on["assume_metadata"]
    return OpenMode(**on)


ZARR3: Final = StoredDriver("zarr3", ("v3",), "blizzarr.spec.metadata.zarr3:Zarr3Constraints")
ZARR2: Final = StoredDriver("zarr", ("v2",), "blizzarr.spec.metadata.zarr2:ZarrConstraints", "zarr2")
N5: Final = StoredDriver("n5", ("n5",), "blizzarr.spec.metadata.n5:N5Constraints")
ZARR1: Final = StoredDriver("zarr1", ("v1",))
DRAFT: Final = StoredDriver(
    "zarr3_draft", ("v3_draft", "v3_draft_zarr_python"), "blizzarr.spec.metadata.older:DraftConstraints"
)
SOUGHT: Final = (ZARR3, ZARR2, N5, ZARR1, DRAFT)
"""The drivers whose formats are looked for first where a spec names no driver."""


class AutoDriver(Driver):
    """The driver that detects the format of what is stored."""

    name: ClassVar = "auto"
    resources = tuple(RESOURCES)
    """All of them, as the driver that is found may use any."""

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        return node.altered(kvstore=kvstore_members(members), options={"mode": OpenMode(open=True)})

    def to_json(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        return {}

    def changed(self, node: SpecNode, change: Change) -> SpecNode:
        """Return the node with a store, if it had none, and further constraints; arrays that are detected cannot be
        created.
        """
        if modes_on(change.open_mode) and not change.open_mode.open:
            raise SpecError("create mode not compatible with format auto-detection")
        return with_schema(node.altered(kvstore=changed_kvstore(node, change)), change.schema)

    def url(self, node: SpecNode) -> str:
        return f"{url_of_kvstore(node)}|auto:"


AUTO: Final = AutoDriver()
