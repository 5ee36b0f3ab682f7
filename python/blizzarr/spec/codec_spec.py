"""`CodecSpec`: the codec of a driver, some of whose options may be left open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from blizzarr.errors import SpecError
from blizzarr.json_members import Members, Option, as_text
from blizzarr.json_values import dump, plain, quote
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.driver_table import DRIVERS
from blizzarr.spec.pretty import Pretty


class DriverCodec:
    """The codec of one driver, as a value: the members that are given, parsed."""

    members: ClassVar[Mapping[str, Option]]

    def __init__(self, **given: Any) -> None:
        self.given = given

    @classmethod
    def take(cls, members: Members) -> Self:
        """Parse the members of a codec but ``driver``."""
        present = [name for name in cls.members if name in members.left]
        return cls(**{name: members.take(name, cls.members[name].parse, None) for name in present})

    def merged(self, other: Self) -> Self:
        merged = self.given | other.given
        for name, value in self.given.items():
            if name in other.given:
                merged[name] = self.merged_member(name, value, other.given[name])
        return type(self)(**merged)

    def merged_member(self, name: str, mine: Any, theirs: Any) -> Any:
        """Return the constraint with both values of a member."""
        if mine != theirs:
            raise SpecError(f"{quote(name)} does not match")
        return mine

    def to_json(self) -> dict[str, Any]:
        """Return the JSON of all members but ``driver``."""
        return {name: self.members[name].to_json(value) for name, value in self.given.items()}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.given == other.given


class CodecSpec(Pretty):
    """A codec, or constraints on one.

    Examples
    --------
    >>> CodecSpec({"driver": "zarr3", "codecs": ["bytes", {"name": "gzip", "configuration": {"level": 5}}]})
    CodecSpec({
      'codecs': [
        {'name': 'bytes'},
        {'configuration': {'level': 5}, 'name': 'gzip'},
      ],
      'driver': 'zarr3',
    })
    """

    __slots__ = ("_driver", "_value")

    def __init__(self, json: Any) -> None:
        members = Members(plain(json))
        self._driver, kind = members.take("driver", _driver)
        self._value = kind.take(members)
        members.end()

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """The codec as JSON."""
        return dict(sorted({"driver": self._driver, **self._value.to_json()}.items()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CodecSpec):
            return NotImplemented
        return (self._driver, self._value) == (other._driver, other._value)

    def __hash__(self) -> int:
        return hash(self._driver)


def _driver(value: Any) -> tuple[str, type[DriverCodec]]:
    """Return the name of the driver, and the class of its codec."""
    name = as_text(value)
    driver = DRIVERS.find(name)
    if driver is None or driver.codec_class is None:
        raise SpecError(f"{quote(name)} is not registered")
    return driver.name, driver.codec_class


def driver_codec(driver: str, value: DriverCodec) -> CodecSpec:
    made = CodecSpec.__new__(CodecSpec)
    made._driver, made._value = driver, value
    return made


def parts_of(codec: CodecSpec) -> tuple[str, Any]:
    """Return the name of the driver, and its codec as a value."""
    return codec._driver, codec._value


def merged_codec(codec: CodecSpec, other: CodecSpec | None) -> CodecSpec:
    if other is None:
        return codec
    with prefixed(lambda: f"Cannot merge codec spec {dump(codec.to_json())} with {dump(other.to_json())}"):
        if codec._driver != other._driver:
            raise SpecError("the drivers differ")
        return driver_codec(codec._driver, codec._value.merged(other._value))
