"""Codecs as zarr-python shows them: a class for each name, with `to_dict` and `from_dict`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, ClassVar, Final, Self

from blizzarr.codecs import Codec as EngineCodec
from blizzarr.zarr.abc.codec import Codec

CLASSES: Final[dict[str, type[Codec]]] = {}
"""The classes by the names of their codecs."""


class Named(Codec):
    """The base class of dataclasses whose fields are the options of a codec."""

    codec_name: ClassVar[str]

    def __init_subclass__(cls, name: str = "", **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if name:
            cls.codec_name = name
            CLASSES[name] = cls

    def to_dict(self) -> dict[str, Any]:
        options = {option.name: getattr(self, option.name) for option in fields(self) if option.init}  # type: ignore[arg-type]
        configuration = {name: _as_json(value) for name, value in options.items() if value is not None}
        return {"name": self.codec_name, "configuration": configuration} if options else {"name": self.codec_name}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        if data.get("name") not in (cls.codec_name, "endian"):
            raise ValueError(f"expected the codec {cls.codec_name!r}, found {data.get('name')!r}")
        return cls(**(data.get("configuration") or {}))


class NamedCodec(Codec):
    """A codec that zarr-python has no class for."""

    def __init__(self, name: str, configuration: Mapping[str, Any]) -> None:
        self.codec_name = name
        self.configuration = dict(configuration)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.codec_name, "configuration": self.configuration}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.codec_name)

    def __repr__(self) -> str:
        return f"NamedCodec({self.codec_name!r}, {self.configuration})"


def codec_from_dict(data: Mapping[str, Any] | str | Codec) -> Any:
    """Return the codec for an object of a metadata document.

    >>> codec_from_dict({"name": "crc32c"})
    Crc32cCodec()
    """
    if isinstance(data, Codec):
        return data
    given: Mapping[str, Any] = {"name": data} if isinstance(data, str) else data
    kind = CLASSES.get(given["name"])
    if kind is None:
        return NamedCodec(given["name"], given.get("configuration") or {})
    return kind.from_dict(dict(given))


def codecs_from_list(codecs: Iterable[Any]) -> tuple[Any, ...]:
    """Return the codecs for objects of a metadata document."""
    return tuple(map(codec_from_dict, codecs))


def codec_of_engine(codec: EngineCodec) -> Any:
    """Return the codec that zarr-python would show for one of blizzarr."""
    return codec_from_dict(codec.to_json())


def _as_json(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return tuple(item.to_dict() if isinstance(item, Codec) else item for item in value)
    return value
