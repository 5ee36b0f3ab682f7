"""The catalogue: every registered codec is there, or known by name."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import pytest

from blizzarr.codecs import CATALOGUE, Codec
from blizzarr.codecs.catalogue import supplier

REGISTERED = [
    "bitround",
    "blosc",
    "bytes",
    "cast_value",
    "conditional",
    "crc32c",
    "gzip",
    "n5_default",
    "packbits",
    "reshape",
    "scale_offset",
    "sharding_indexed",
    "transpose",
    "vlen-bytes",
    "vlen-utf8",
    "zfp",
    "zstd",
]


@pytest.mark.parametrize("name", REGISTERED)
def test_registered_names_are_known(name: str) -> None:
    """row 53: a registered codec is supported, or the error says what it is and who reads it."""
    assert (name in CATALOGUE) != ("not in the registry" not in supplier(name))


@pytest.mark.parametrize(("name", "codec"), CATALOGUE.items())
def test_rows(name: str, codec: type[Codec]) -> None:
    """Each codec is a dataclass whose fields are the options of documents, under its own name."""
    assert codec.name == ("bytes" if name == "endian" else name)
    assert is_dataclass(codec)
    assert {option.name for option in codec.options} <= {field.name for field in fields(codec)}


def test_names_that_nobody_registered() -> None:
    """The prefix of a name tells whose it is; others are said to be unknown."""
    assert "numcodecs" in supplier("numcodecs.bz2")
    assert "zarrs" in supplier("zarrs.gdeflate")
    assert "not in the registry" in supplier("squash")
