"""The attributes of an array or a group, as a mutable mapping whose changes are stored at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, ClassVar, Final, Protocol

from blizzarr.array.document import check_same
from blizzarr.creation.json_values import check_attributes
from blizzarr.errors import NodeNotFoundError, NodeTypeError
from blizzarr.hierarchy.documents import Node, revise
from blizzarr.json_values import copied
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.printable import printable
from blizzarr.stores import Store

_SHOWN: Final = 10
"""The most names that an error shows."""


class HasAttributes(Protocol):
    """The members of arrays and groups that their attributes use."""

    @property
    def store(self) -> Store: ...
    @property
    def path(self) -> str: ...
    @property
    def metadata(self) -> Any: ...

    def refresh(self) -> Any:
        """Read the metadata again."""

    _adoptions: int

    def _adopt(self, metadata: Any, since: int | None = None) -> bool:
        """Take over metadata that was just stored, see `Node`."""

    def _outdate_above(self) -> None:
        """Let groups that have a copy of the metadata read them again, see `Node`."""


class Attributes(MutableMapping[str, Any]):
    """The attributes of a node: names and JSON values.

    Every change is stored before the call returns, in one atomic step, and starts from the attributes that are stored
    at that moment: if two programs set different attributes, both succeed. For several changes at once use `update` or
    `put`. Values that JSON cannot express are refused before anything changes. Lists and objects are returned as
    copies: changing one has no effect until it is set again.

    Reading shows the attributes as they were when the node was opened or last changed through this handle; `refresh`
    reads them again.

    Every change may raise `MetadataError` (JSON cannot express a value), `ReadOnlyError` (the node was opened for
    reading), `NodeNotFoundError` (the node has been removed), `ConflictError` (other writers keep changing the
    document; `UnknownOutcomeError` if the change may have been stored) or `StoreError` (the store fails).

    Examples
    --------
    >>> import blizzarr
    >>> attributes = blizzarr.create_group({}).attrs
    >>> attributes["title"] = "brain"
    >>> attributes.update(units="mm", scale=[0.5, 0.5])
    >>> attributes.asdict()
    {'title': 'brain', 'units': 'mm', 'scale': [0.5, 0.5]}
    """

    __slots__ = ("_node",)
    _kind: ClassVar[type[dict[str, Any]]] = dict

    def __init__(self, node: HasAttributes) -> None:
        self._node = node

    def __getitem__(self, name: str) -> Any:
        """Return a copy of an attribute.

        Raises
        ------
        KeyError
            If there is no such attribute.
        """
        values = self._values()
        try:
            return copied(values[name])
        except KeyError as error:
            there = ", ".join(map(repr, [*values][:_SHOWN])) or "nothing"
            error.add_note(printable(f"in the attributes of /{self._node.path} there is {there}"))
            raise

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._values()))

    def __len__(self) -> int:
        return len(self._values())

    def __contains__(self, name: object) -> bool:
        return name in self._values()

    def __repr__(self) -> str:
        return printable(f"<Attributes of /{self._node.path}: {self._values()!r}>")

    def __setitem__(self, name: str, value: Any) -> None:
        """Set an attribute.

        Raises
        ------
        MetadataError
            If JSON cannot express the value. For other errors see the class.
        """
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        """Remove an attribute.

        Raises
        ------
        KeyError
            If there is no such attribute. For other errors see the class.
        """

        def without(attributes: dict[str, Any]) -> dict[str, Any]:
            del attributes[name]
            return attributes

        if name not in self._values():
            raise KeyError(name)
        self._change(without)

    def update(self, *others: Any, **more: Any) -> None:
        """Set several attributes in one step; the others stay.

        Raises
        ------
        MetadataError
            If JSON cannot express a value. For other errors see the class.
        """
        new = check_attributes(self._kind(*others, **more))
        if new:
            self._change(lambda attributes: attributes | new)

    def put(self, attributes: Mapping[str, Any]) -> None:
        """Replace all attributes by these, in one step.

        Raises
        ------
        MetadataError
            If JSON cannot express a value. For other errors see the class.
        """
        new = check_attributes(attributes)
        self._change(lambda _: new)

    def clear(self) -> None:
        """Remove all attributes in one step; for errors see the class."""
        self.put({})

    def pop(self, name: str, *default: Any) -> Any:
        """Remove an attribute, and return the value that was stored, or the default if there was none.

        Raises
        ------
        KeyError
            If there is no such attribute, and no default. For other errors see the class.
        """
        if name not in self:
            if default:
                return default[0]
            raise KeyError(name)
        taken: list[Any] = []

        def without(attributes: dict[str, Any]) -> dict[str, Any]:
            taken[:] = [attributes.pop(name)]
            return attributes

        try:
            self._change(without)
        except NodeNotFoundError:
            raise
        except KeyError:
            if not default:
                raise
            # Somebody else has removed it since this handle read it.
            self.refresh()
            return default[0]
        return copied(taken[0])

    def setdefault(self, name: str, default: Any = None) -> Any:
        """Return the attribute; set it to `default` first if there is none, neither here nor in the store.

        Raises
        ------
        MetadataError
            If JSON cannot express the default. For other errors see the class.
        """
        if name not in self:
            new = check_attributes(self._kind({name: default}))
            self._change(lambda attributes: attributes if name in attributes else attributes | new)
        return self[name]

    def asdict(self) -> dict[str, Any]:
        """Return a copy of all attributes as a dict."""
        return dict(self)

    def refresh(self) -> None:
        """Read the attributes again, as they are stored now.

        Raises
        ------
        NodeNotFoundError
            If the node has been removed.
        MetadataError
            If its document does not conform.
        StoreError
            If the store fails.
        """
        self._node.refresh()

    def _values(self) -> dict[str, Any]:
        values: dict[str, Any] = self._node.metadata.attributes
        return values

    def _change(self, change: Any) -> None:
        node = self._node

        def changed(stored: Node) -> Any:
            if isinstance(node.metadata, ArrayMeta):
                check_same(node.store, node.path, node.metadata, stored)
            elif isinstance(stored, ArrayMeta):
                raise NodeTypeError(
                    "expected a group, found an array: the node was replaced since it was opened; open it again",
                    array=f"/{node.path}",
                    store=str(node.store),
                )
            return stored.with_attributes(change(dict(stored.attributes)))

        since = node._adoptions
        now = revise(node.store, node.path, changed, opened=node.metadata)
        if isinstance(now, GroupMeta) and node.metadata.consolidated is None:
            # A group that reads its members from the store goes on to do so, as use_consolidated=False demands.
            now = now.with_consolidated(None)
        if not node._adopt(now, since):
            # Another thread has changed what this handle shows, and nothing says who was first.
            node.refresh()
        node._outdate_above()
