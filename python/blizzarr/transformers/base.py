"""What all storage transformers have in common.

A storage transformer stands between an array and its store and changes under which keys, and as which bytes, chunks
are stored; whoever asks through it gets the original keys and bytes back. Here it is a name and options, as a value;
`wrap` makes the store that does the work.

https://zarr-specs.readthedocs.io/en/latest/v3/core/#storage-transformers
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, ClassVar, Self

from blizzarr.problems import MISSING as NOTHING
from blizzarr.problems import Problems, members
from blizzarr.stores import Store
from blizzarr.transformers.array_keys import ArrayKeys

__all__ = ["StorageTransformer", "wrap"]


class StorageTransformer(ABC):
    """The base of all storage transformers; subclasses are frozen dataclasses whose fields are the options.

    A transformer keeps nothing of its own that is needed to find the data again: everything is in the options or goes
    on to the next store, so that arrays can be opened elsewhere.
    """

    __slots__ = ()

    name: ClassVar[str]
    """What documents of Zarr v3 call it."""
    extension: ClassVar[str]
    """The URI by which documents of the draft call it."""
    type: ClassVar[str]
    """The variant that documents of the draft name beside the URI."""
    spellings: ClassVar[tuple[str, ...]] = ()
    """Other names and URIs that mean the same; read, never written."""
    once: ClassVar[bool] = False
    """Whether an array has it at most once, as it could not tell its keys from those that another of it has made."""

    def __post_init__(self) -> None:
        problems = Problems()
        self._examine(self.configuration(), type(self).__name__, problems, None)
        problems.raise_any()

    def __eq__(self, other: object) -> bool:
        # Of those without options, which need not be dataclasses: all of a class are the same.
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @abstractmethod
    def wrap(self, store: Store, keys: ArrayKeys) -> Store:
        """A store of the array's original keys and values over one of what is stored.

        It is called from several threads at once, like every store. Keys that are not of the array's chunks pass
        through unchanged. Derive it from `RenamingStore` when only keys change, from `EncodingStore` when only
        values do, and else from `blizzarr.stores.StoreWrapper`.
        """

    @classmethod
    def examine(cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None) -> None:
        """Add all that is wrong with these options for an array of so many dimensions; None: not known.

        Here only that an option without a default is missing; override it to look at values. Options that are no field
        of the class are refused before.
        """
        for option in cls._fields():
            if option.name not in configuration and option.name not in cls.defaults():
                problems.add(f"{path}.configuration.{option.name}", "a value", NOTHING)

    @classmethod
    def from_configuration(
        cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None
    ) -> Self | None:
        """The transformer with the options of a document; None when a problem was added, below `path`."""
        before = len(problems.items) + len(problems.limits)
        cls._examine(configuration, path, problems, rank)
        if len(problems.items) + len(problems.limits) > before:
            return None
        return cls(**{name: tuple(value) if type(value) is list else value for name, value in configuration.items()})

    def configuration(self) -> dict[str, Any]:
        """The options, as documents have them."""
        return {option.name: _plain(getattr(self, option.name)) for option in self._fields()}

    def check(self, rank: int, path: str, problems: Problems) -> None:
        """Add all that is wrong with the options for an array of so many dimensions."""
        self._examine(self.configuration(), path, problems, rank)

    def to_json(self) -> dict[str, Any]:
        """The transformer as documents of Zarr v3 list it."""
        return _with_options({"name": self.name}, self.configuration())

    def to_draft(self) -> dict[str, Any]:
        """The transformer as documents of the draft list it."""
        return _with_options({"extension": self.extension, "type": self.type}, self.configuration())

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The options that users may leave out, as documents have them."""
        values = {option.name: option.default for option in cls._fields() if option.default is not MISSING}
        return {name: _plain(value) for name, value in values.items()}

    @classmethod
    def _examine(cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None) -> None:
        members(configuration, path, problems, [option.name for option in cls._fields()])
        cls.examine(configuration, path, problems, rank)

    @classmethod
    def _fields(cls) -> tuple[Field[Any], ...]:
        # A transformer without options need not be a dataclass.
        return fields(cls) if is_dataclass(cls) else ()


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _with_options(item: dict[str, Any], configuration: dict[str, Any]) -> dict[str, Any]:
    return {**item, "configuration": configuration} if configuration else item


def wrap(store: Store, transformers: Sequence[StorageTransformer], keys: ArrayKeys) -> Store:
    """The store as an array with these transformers sees it; the first one is nearest to the array.

    Examples
    --------
    >>> from blizzarr.stores import MemoryStore
    >>> from blizzarr.transformers import HashedTransformer, ShardingTransformer
    >>> memory = MemoryStore()
    >>> keys = ArrayKeys("data/foo/", head="c", separator="/", scalar="c", rank=1)
    >>> store = wrap(memory, [ShardingTransformer((2,)), HashedTransformer()], keys)
    >>> store.set("data/foo/c5", b"chunk")
    >>> list(store.list()), list(memory.list())
    (['data/foo/c5'], ['data/foo/c7/de/c2'])
    """
    for transformer in reversed(transformers):
        store = transformer.wrap(store, keys)
    return store
