"""Options of users' codecs in modules whose annotations are types, not text: without `from __future__`."""

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

import blizzarr
from blizzarr.codecs import BytesBytesCodec
from blizzarr.errors import MetadataError

if TYPE_CHECKING:
    from decimal import Decimal

pytestmark = pytest.mark.usefixtures("same_table_afterwards")


@dataclass(frozen=True)
class Same(BytesBytesCodec):
    """What changes nothing, with an option that may be null."""

    name: ClassVar[str] = "test.same"

    level: int | None = None

    def encode(self, decoded: bytes) -> bytes:
        return decoded

    def decode(self, encoded: bytes, max_size: int) -> bytes:
        return encoded


def test_an_option_may_be_null() -> None:
    """A union with `None` takes null, an integer, and nothing else."""
    blizzarr.register_codec(Same)
    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=[1, 2], compressors=Same())
    document = json.loads(store["zarr.json"])
    for level in (None, 3, "3"):
        document["codecs"][-1]["configuration"] = {"level": level}
        store["zarr.json"] = json.dumps(document).encode()
        if level == "3":
            with pytest.raises(MetadataError, match="an integer"):
                blizzarr.open(store)
        else:
            assert blizzarr.open(store)[:].tolist() == [1, 2]


def test_a_plain_class_with_options_is_refused() -> None:
    """Its options would be ignored."""

    class Plain(BytesBytesCodec):
        name = "test.plain"
        level: int = 3

    with pytest.raises(TypeError, match=r"with the options level to be a dataclass.*put @dataclass\(frozen=True\)"):
        blizzarr.register_codec(Plain)


@pytest.mark.skipif(sys.version_info < (3, 14), reason="before Python 3.14, annotations are evaluated at once")
def test_a_type_for_type_checkers_only() -> None:
    """An option whose type cannot be imported takes any value, like others that JSON does not have."""

    @dataclass(frozen=True)
    class Scaled(Same):
        name: ClassVar[str] = "test.scaled"
        scale: Decimal = "0.1"

    blizzarr.register_codec(Scaled)
    assert blizzarr.create_array({}, data=[1, 2], compressors=Scaled())[:].tolist() == [1, 2]
