"""The catalogue: every registered codec is there, or known by name."""

from __future__ import annotations

import ast
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr.codecs import CATALOGUE, Codec, CodecChain, Stage, catalogue
from blizzarr.codecs.catalogue import EXPORTED
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.problems import Problems
from blizzarr.suppliers import supplier
from support.codec_options import OPTIONS
from support.one_chunk import decoded, encoded

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
    assert (name in CATALOGUE) != ("not in the registry" not in supplier("codec", name))


@pytest.mark.parametrize(("name", "codec"), CATALOGUE.items())
def test_rows(name: str, codec: type[Codec]) -> None:
    """Each codec is a dataclass whose fields are the options of documents, under its own name."""
    assert codec.name == ("bytes" if name == "endian" else name)
    assert is_dataclass(codec)
    assert {option.name for option in codec.options} <= {field.name for field in fields(codec)}


def test_each_codec_has_options_to_test() -> None:
    """The tests below cover every codec of the catalogue."""
    assert OPTIONS.keys() == CATALOGUE.keys()


def problems_of(name: str, options: dict[str, Any]) -> list[str]:
    """The places of the problems that a document with these options has."""
    problems = Problems()
    CATALOGUE[name].read_options(options, "codecs[0]", problems)
    return [problem.path for problem in problems.items]


# The options of these are codecs, which have tests of their own.
@pytest.mark.parametrize(
    "name", [name for name in OPTIONS if name not in ("conditional", "n5_default", "sharding_indexed")]
)
def test_each_option_is_checked(name: str) -> None:
    """An option that is missing, null, of another type or unknown is the only problem, with its place."""
    options, place = OPTIONS[name], "codecs[0].configuration."
    assert problems_of(name, options) == []
    assert problems_of(name, {**options, "speling": 1}) == [place + "speling"]
    for option in CATALOGUE[name].options:
        without = {key: value for key, value in options.items() if key != option.name}
        may_be_null = option.nullable or (issubclass(CATALOGUE[name], NumcodecsCodec) and not option.required)
        assert problems_of(name, without) == [place + option.name] * option.required
        assert problems_of(name, {**options, option.name: None}) == [place + option.name] * (not may_be_null)
        assert problems_of(name, {**options, option.name: {"": 1}}) == [place + option.name]


@pytest.mark.parametrize("name", [name for name in OPTIONS if CATALOGUE[name].stage is Stage.COMPRESSOR])
def test_compressors_through_the_engine(name: str) -> None:
    """What is encoded is decoded, and the document comes back with the options that it had."""
    data = (np.arange(3000) // 7).astype("int32").reshape(50, 60)
    codec = {"name": name, "configuration": OPTIONS[name]}
    chain = CodecChain.from_list(["bytes", codec], "int32", data.shape)
    assert np.array_equal(decoded(chain, encoded(chain, data), "int32", data.shape), data)
    configuration = chain.compressors[0].to_json().get("configuration", {})
    assert {option: configuration[option] for option in OPTIONS[name]} == OPTIONS[name]


def test_type_checkers_see_what_is_exported() -> None:
    """The imports for type checkers are those of the table."""
    tree = ast.parse(Path(catalogue.__file__).read_text())
    imports = next(node for node in tree.body if isinstance(node, ast.If)).body
    seen = {alias.name for node in imports if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == {place.partition(":")[2] for place in EXPORTED}


def test_names_that_nobody_registered() -> None:
    """The prefix of a name tells whose it is; others are said to be unknown."""
    assert "numcodecs" in supplier("codec", "numcodecs.bz2")
    assert "zarrs" in supplier("codec", "zarrs.newer")
    assert "not in the registry" in supplier("codec", "squash")
