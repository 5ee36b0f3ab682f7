"""Specs of one value of a JSON document, as an array without dimensions."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, Final

from blizzarr.errors import SpecError
from blizzarr.json_members import Members, Option, options_json
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.drivers.driver import Change, Driver, changed_kvstore, kvstore_members, url_of_kvstore
from blizzarr.spec.dtype import as_dtype
from blizzarr.spec.json_pointer import as_pointer
from blizzarr.spec.open_mode import OpenMode
from blizzarr.spec.recheck import recheck_from_json
from blizzarr.spec.schema import SCHEMA_ARGUMENTS, Schema
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.urls import encoded
from blizzarr.views import IndexDomain

_JSON = as_dtype("json")
_FACTS = {"domain": IndexDomain(shape=[]), "chunk_layout": ChunkLayout(rank=0), "codec": None, "fill_value": None}
_OPTIONS = {"json_pointer": Option(as_pointer, ""), "recheck_cached_data": Option(recheck_from_json, "open")}


class JsonValue(Driver):
    """A document, or a part of it that a JSON Pointer means."""

    name: ClassVar = "json"
    scheme: ClassVar = "json"
    # A value is created by writing it.
    opens: ClassVar = True
    resources = ("data_copy_concurrency", "cache_pool")

    def take(self, members: Members, node: SpecNode) -> SpecNode:
        schema = node.schema.copy()
        SCHEMA_ARGUMENTS["dtype"].apply(schema, _JSON)
        SCHEMA_ARGUMENTS["rank"].apply(schema, 0)
        _check(schema)
        kvstore = kvstore_members(members)
        options = {"mode": OpenMode(open=True), **members.take_all(_OPTIONS)}
        return node.altered(kvstore=kvstore, options=options, schema=schema)

    def to_json(self, node: SpecNode, include_defaults: bool) -> dict[str, Any]:
        return options_json(node.options, _OPTIONS, include_defaults)

    def changed(self, node: SpecNode, change: Change) -> SpecNode:
        options = dict(node.options)
        if change.recheck_cached_data is not None:
            options["recheck_cached_data"] = change.recheck_cached_data
        schema = change.schema.copy()
        SCHEMA_ARGUMENTS["dtype"].apply(schema, _JSON)
        _check(schema)
        # The only constraints are properties that every JSON value has.
        return node.altered(options=options, kvstore=changed_kvstore(node, change))

    def fact(self, node: SpecNode, name: str) -> Any:
        return copy(_FACTS[name]) if name in _FACTS else super().fact(node, name)

    def url(self, node: SpecNode) -> str:
        return f"{url_of_kvstore(node)}|json:{encoded(node.options['json_pointer'])}"


def _check(schema: Schema) -> None:
    for name in ("codec", "fill_value"):
        if getattr(schema, name) is not None:
            raise SpecError(f"{name} not supported by json driver")


JSON: Final = JsonValue()
