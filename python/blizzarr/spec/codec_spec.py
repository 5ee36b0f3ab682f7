"""`CodecSpec`: the codec of a driver, some of whose options may be left open."""

from __future__ import annotations

from typing import Any, Protocol, Self

from blizzarr.errors import SpecError
from blizzarr.json_values import dump, plain, quote
from blizzarr.spec.driver_table import DRIVERS
from blizzarr.spec.members import Members, as_text
from blizzarr.spec.pretty import pretty


class DriverCodec(Protocol):
    """The codec of one driver, as a value."""

    @classmethod
    def take(cls, members: Members) -> Self:
        """Parse the members of a codec but ``driver``."""
        ...

    def merged(self, other: Self) -> Self:
        """Return the codec with the constraints of both."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the JSON of all members but ``driver``."""
        ...


class CodecSpec:
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
        self._value: Any = kind.take(members)
        members.end()

    @classmethod
    def _of(cls, driver: str, value: DriverCodec) -> Self:
        """The codec of a driver."""
        found = cls.__new__(cls)
        found._driver, found._value = driver, value
        return found

    def _merged(self, other: CodecSpec | None) -> CodecSpec:
        """Return the codec with the constraints of both.

        Examples
        --------
        >>> CodecSpec({"driver": "zarr3"})._merged(CodecSpec({"driver": "zarr3", "codecs": ["crc32c"]})).to_json()
        {'codecs': [{'name': 'crc32c'}], 'driver': 'zarr3'}
        """
        if other is None:
            return self
        try:
            if self._driver != other._driver:
                raise SpecError("")
            return CodecSpec._of(self._driver, self._value.merged(other._value))
        except SpecError as error:
            reason = f": {error.reason}" if error.reason else ""
            both = f"{dump(self.to_json())} with {dump(other.to_json())}"
            raise SpecError(f"Cannot merge codec spec {both}{reason}") from error

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """The codec as JSON."""
        return dict(sorted({"driver": self._driver, **self._value.to_json()}.items()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CodecSpec):
            return NotImplemented
        return (self._driver, self._value) == (other._driver, other._value)

    def __hash__(self) -> int:
        return hash(self._driver)

    def __repr__(self) -> str:
        return pretty(self.to_json(), "CodecSpec(", ")")

    def __reduce__(self) -> tuple[Any, ...]:
        return CodecSpec, (self.to_json(),)


def _driver(value: Any) -> tuple[str, type[DriverCodec]]:
    """Return the name of the driver, and the class of its codec."""
    name = as_text(value)
    driver = DRIVERS.find(name)
    if driver is None or driver.codec_class is None:
        raise SpecError(f"{quote(name)} is not registered")
    return driver.name, driver.codec_class
