"""The base class of storage transformers.

A storage transformer stands between an array and its store and changes the keys under which, and the bytes as which,
chunks are stored; reading through it gives the original keys and bytes. Here it is a value with a name and options;
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


class StorageTransformer(ABC):
    """The base of all storage transformers; subclasses are frozen dataclasses whose fields are the options.

    A transformer has no state of its own that is needed to find the data again: everything is in the options or in the
    next store, so that arrays can be opened elsewhere.
    """

    __slots__ = ()

    name: ClassVar[str]
    """The name in documents of Zarr v3."""
    extension: ClassVar[str]
    """The URI in documents of the draft."""
    type: ClassVar[str]
    """The member ``type`` in documents of the draft."""
    spellings: ClassVar[tuple[str, ...]] = ()
    """Other names and URIs that are read, and never written."""
    once: ClassVar[bool] = False
    """True if an array may have it at most once, because it could not tell its own keys from those of another."""

    def __post_init__(self) -> None:
        problems = Problems()
        self._examine(self.configuration(), type(self).__name__, problems, None)
        problems.raise_any()

    def __eq__(self, other: object) -> bool:
        # For classes without options, which need not be dataclasses: all instances are equal.
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @abstractmethod
    def wrap(self, store: Store, keys: ArrayKeys) -> Store:
        """Return a store with the array's original keys and values, over the store `store` of what is kept.

        It is called from several threads at once, like every store. Keys other than the array's chunk keys must pass
        through unchanged. Derive its class from `RenamingStore` if only keys change, from `EncodingStore` if only
        values do, and otherwise from `blizzarr.stores.StoreWrapper`.
        """

    @classmethod
    def examine(cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None) -> None:
        """Add a problem for each invalid option of an array with `rank` dimensions (`None`: not known).

        The default implementation reports missing options that have no default; override it to check values. Options
        that are not fields of the class have been refused before.
        """
        for option in cls._fields():
            if option.name not in configuration and option.name not in cls.defaults():
                problems.add(f"{path}.configuration.{option.name}", "a value", NOTHING)

    @classmethod
    def from_configuration(
        cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None
    ) -> Self | None:
        """Return the transformer with the options of a document; `None` if a problem (below `path`) was added."""
        before = len(problems.items) + len(problems.limits)
        cls._examine(configuration, path, problems, rank)
        if len(problems.items) + len(problems.limits) > before:
            return None
        return cls(**{name: tuple(value) if type(value) is list else value for name, value in configuration.items()})

    def configuration(self) -> dict[str, Any]:
        """Return the options as JSON values."""
        return {option.name: _plain(getattr(self, option.name)) for option in self._fields()}

    def check(self, rank: int, path: str, problems: Problems) -> None:
        """Add a problem for each option that is invalid for an array with `rank` dimensions."""
        self._examine(self.configuration(), path, problems, rank)

    def to_json(self) -> dict[str, Any]:
        """Return the transformer as documents of Zarr v3 list it."""
        return _with_options({"name": self.name}, self.configuration())

    def to_draft(self) -> dict[str, Any]:
        """Return the transformer as documents of the draft list it."""
        return _with_options({"extension": self.extension, "type": self.type}, self.configuration())

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the options that users may omit, with their defaults as JSON values."""
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
    """Return the store as an array with these transformers sees it; the first transformer is nearest to the array."""
    for transformer in reversed(transformers):
        store = transformer.wrap(store, keys)
    return store
