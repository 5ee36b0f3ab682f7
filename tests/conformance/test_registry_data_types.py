"""The worked examples and tables of the registry's pages of data types, read at commit 4da7b37 (July 2026).

https://github.com/zarr-developers/zarr-extensions/tree/main/data-types. The pages of bool, integers from 8 bits on,
float16 to float64, complex64, complex128 and r* only link to the specification.
"""

from __future__ import annotations

import base64
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from blizzarr.errors import MetadataError
from support.one_document import LITTLE, codec, opened, read

BIG = codec("bytes", endian="big")


def filled(data_type: Any, fill_value: Any, codecs: list[Any] | None = None) -> Any:
    """What an array reads as that has no chunk."""
    return opened({}, (1,), data_type=data_type, fill_value=fill_value, codecs=codecs or [LITTLE])[...]


FLOATS = {
    # Bits of the exponent and of the mantissa, the bias, what is no finite number, and the bits of "NaN".
    "bfloat16": (8, 7, 127, "ieee", 0x7FC0),
    "float4_e2m1fn": (2, 1, 1, "finite", None),
    "float6_e2m3fn": (2, 3, 1, "finite", None),
    "float6_e3m2fn": (3, 2, 3, "finite", None),
    "float8_e3m4": (3, 4, 3, "ieee", 0x78),
    "float8_e4m3": (4, 3, 7, "ieee", 0x7C),
    "float8_e4m3b11fnuz": (4, 3, 11, "fnuz", 0x80),
    "float8_e4m3fnuz": (4, 3, 8, "fnuz", 0x80),
    "float8_e5m2": (5, 2, 15, "ieee", 0x7E),
    "float8_e5m2fnuz": (5, 2, 16, "fnuz", 0x80),
    "float8_e8m0fnu": (8, 0, 127, "powers", 0xFF),
}


def value(name: str, bits: int) -> float:
    """The number that some bits stand for, by the page's description."""
    exponents, mantissas, bias, special, _ = FLOATS[name]
    exponent, mantissa = bits >> mantissas & (1 << exponents) - 1, bits & (1 << mantissas) - 1
    if special == "powers":
        return float("nan") if exponent == 255 else 2.0 ** (exponent - bias)
    sign = -1 if bits >> (exponents + mantissas) & 1 else 1
    if special == "ieee" and exponent == (1 << exponents) - 1:
        return float("nan") if mantissa else sign * float("inf")
    if special == "fnuz" and bits == 1 << (exponents + mantissas):
        return float("nan")
    whole = mantissa + (1 << mantissas) * (exponent > 0)
    return sign * float(whole * Fraction(2) ** (max(exponent, 1) - bias - mantissas))


@pytest.mark.parametrize("name", FLOATS)
def test_bits_of_floats(name: str) -> None:
    """Every pattern of bits, as the page describes them; bits above those of the type are ignored."""
    exponents, mantissas, _, special, _ = FLOATS[name]
    width = (special != "powers") + exponents + mantissas
    size, count = -(-width // 8), 1 << max(width, 8)
    bits = np.arange(count, dtype=f"<u{size}")
    store = {"c/0": bits.tobytes()}
    fill = 1 if special == "powers" else 0
    array = opened(store, (count,), data_type=name, fill_value=fill)
    expected = np.array([value(name, int(one) & (1 << width) - 1) for one in bits])
    with np.errstate(invalid="ignore"):  # of signalling NaN
        found = np.asarray(array[...]).astype("f8")
        turned = opened(
            {"c/0": bits.astype(f">u{size}").tobytes()}, (count,), data_type=name, fill_value=fill, codecs=[BIG]
        )[...].astype("f8")
    assert np.array_equal(found, expected, equal_nan=True)
    assert np.array_equal(np.signbit(found)[~np.isnan(found)], np.signbit(expected)[~np.isnan(found)])
    assert np.array_equal(turned, expected, equal_nan=True)


@pytest.mark.parametrize("name", FLOATS)
def test_fill_values_that_are_no_finite_number(name: str) -> None:
    _, _, _, special, nan = FLOATS[name]
    one = 1 if special == "powers" else 0
    for data_type, of in ((name, lambda fill: fill), (f"complex_{name}", lambda fill: [fill, one])):
        if nan is None:
            with pytest.raises(MetadataError, match="fill_value"):
                filled(data_type, of("NaN"))
        else:
            made = filled(data_type, of("NaN")).tobytes()
            size = 2 if name == "bfloat16" else 1
            assert int.from_bytes(made[:size], "little") == nan
        for infinity in ("Infinity", "-Infinity"):
            if special == "ieee":
                filled(data_type, of(infinity))
            else:
                with pytest.raises(MetadataError, match="fill_value"):
                    filled(data_type, of(infinity))


COMPLEX = [*(f"complex_{name}" for name in FLOATS), "complex_float16", "complex_float32", "complex_float64"]


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_are_two_components(name: str) -> None:
    """The real one first, each in the byte order of the codec."""
    part = name.removeprefix("complex_")
    for endian, order in (("little", "<"), ("big", ">")):
        codecs = [codec("bytes", endian=endian)]
        parts = [filled(part, number).tobytes() for number in (1, 2)]
        turned = parts if order == "<" else [one[::-1] for one in parts]
        fill = [1, 1] if "e8m0" in name else [0, 0]
        found = opened({"c/0": b"".join(turned)}, (1,), data_type=name, fill_value=fill, codecs=codecs)[...]
        assert found.tobytes() == b"".join(parts)


@pytest.mark.parametrize(("name", "core"), [("complex_float32", "complex64"), ("complex_float64", "complex128")])
def test_aliases(name: str, core: str) -> None:
    assert opened({}, (1,), data_type=name, fill_value=[0, 0]).dtype == np.dtype(core)


RANGES = {"int2": (-2, 1), "int4": (-8, 7), "uint2": (0, 3), "uint4": (0, 15)}


@pytest.mark.parametrize("name", RANGES)
def test_narrow_integers(name: str) -> None:
    """Their range, and bytes whose upper bits are ignored."""
    least, most = RANGES[name]
    width = int(name[-1])
    for number in range(least, most + 1):
        assert int(filled(name, number)[0]) == number
    for number in (least - 1, most + 1):
        with pytest.raises(MetadataError, match="fill_value"):
            filled(name, number)
    array = opened({"c/0": bytes(range(256))}, (256,), data_type=name, codecs=["bytes"])
    expected = [(byte % 2**width) - (2**width if least and byte % 2**width > most else 0) for byte in range(256)]
    assert [int(number) for number in array[...]] == expected


def text(length: int) -> dict[str, Any]:
    return codec("fixed_length_utf32", length_bytes=length)


def test_fixed_length_utf32() -> None:
    assert opened({}, (1,), data_type=text(48), fill_value="").dtype == np.dtype("<U12")
    store: dict[str, bytes] = {}
    opened(store, (1,), data_type=text(12), fill_value="")[0] = "Hi"
    assert bytes(store["c/0"]).hex() == "48000000" + "69000000" + "00000000"
    opened(store, (1,), data_type=text(12), fill_value="", codecs=[BIG])[0] = "Hi"
    assert bytes(store["c/0"]).hex() == "00000048" + "00000069" + "00000000"
    assert filled(text(48), "foo").tobytes() == "foo".encode("utf-32-le") + bytes(36)
    assert filled(text(4), "f").tolist() == ["f"]


@pytest.mark.parametrize(
    ("length", "fill", "codecs", "place"),
    [
        (12, "four", [LITTLE], "fill_value"),
        (12, 1, [LITTLE], "fill_value"),
        (0, "", [LITTLE], "length_bytes"),
        (6, "", [LITTLE], "length_bytes"),
        (12, "", ["bytes"], "endian"),
        (12, "", [{"name": "vlen-utf8"}], "codecs"),
        (12, "", [{"name": "vlen-bytes"}], "codecs"),
    ],
)
def test_fixed_length_utf32_refuses(length: int, fill: Any, codecs: list[Any], place: str) -> None:
    with pytest.raises(MetadataError, match=place):
        filled(text(length), fill, codecs)


UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "\u03bcs", "ns", "ps", "fs", "as", "generic"]


@pytest.mark.parametrize(("name", "kind"), [("numpy.datetime64", "M8"), ("numpy.timedelta64", "m8")])
def test_times(name: str, kind: str) -> None:
    def of(unit: Any = "us", factor: Any = 10, **more: Any) -> dict[str, Any]:
        return codec(name, unit=unit, scale_factor=factor, **more)

    assert opened({}, (1,), data_type=of(), fill_value=0).dtype == np.dtype(f"{kind}[10us]")
    for unit in UNITS:
        spelled = {"\u03bcs": "us"}.get(unit, unit)
        expected = np.dtype(kind) if unit == "generic" else np.dtype(f"{kind}[{spelled}]")
        assert opened({}, (1,), data_type=of(unit, 1), fill_value=0).dtype == expected
    least = -(2**63)
    for fill, number in (("NaT", least), (least, least), (2**63 - 1, 2**63 - 1), (1, 1)):
        assert filled(of(), fill).view("i8").tolist() == [number]
    for wrong in (of(unit="minute"), of(factor=0), of(factor=2**31), of(more=1), {"name": name}):
        with pytest.raises(MetadataError, match="data_type"):
            filled(wrong, 0)
    filled(of(factor=2**31 - 1), 0)
    for fill in (2**63, 1.5, "NaN"):
        with pytest.raises(MetadataError, match="fill_value"):
            filled(of(), fill)


@pytest.mark.parametrize(
    ("data_type", "fill", "name", "expected"),
    [
        ("string", "foo", "vlen-utf8", "foo"),
        ("bytes", [1, 2, 3], "vlen-bytes", b"\1\2\3"),
        ("bytes", "AQID", "vlen-bytes", b"\1\2\3"),
    ],
)
def test_values_of_any_length(data_type: str, fill: Any, name: str, expected: Any) -> None:
    assert filled(data_type, fill, [{"name": name}]).tolist() == [expected]


def fields(*pairs: tuple[str, Any], name: str = "struct") -> dict[str, Any]:
    return codec(name, fields=[{"name": field, "data_type": data_type} for field, data_type in pairs])


POINT = fields(("x", "float32"), ("y", "float32"))
STRUCTS = [
    # The type, a fill value, the offsets of the fields, the size, and the bytes of the fill value.
    (POINT, {"x": 0.0, "y": 0.0}, [0, 4], 8, "00" * 8),
    (POINT, {"x": 1.23, "y": 4.56}, [0, 4], 8, np.array([1.23, 4.56], "<f4").tobytes().hex()),
    (
        fields(
            ("timestamp", codec("numpy.datetime64", unit="s", scale_factor=1)),
            ("value", "float32"),
        ),
        {"timestamp": "NaT", "value": 1.0},
        [0, 8],
        12,
        "00000000000000800000803f",
    ),
    (
        fields(("point", POINT), ("value", "float64")),
        {"point": {"x": 1.0, "y": 2.0}, "value": 3.14},
        [0, 8],
        16,
        "0000803f00000040" + np.array(3.14, "<f8").tobytes().hex(),
    ),
    (
        fields(("id", "int32"), ("flags", "uint8"), ("value", "float64")),
        {"id": 1, "flags": 2, "value": 1.0},
        [0, 4, 5],
        13,
        "0100000002000000000000f03f",
    ),
    (fields(("x", {"name": "float64"})), {"x": 1.0}, [0], 8, "000000000000f03f"),
]


@pytest.mark.parametrize(("data_type", "fill", "offsets", "size", "expected"), STRUCTS)
def test_struct(data_type: Any, fill: Any, offsets: list[int], size: int, expected: str) -> None:
    made = filled(data_type, fill)
    assert made.dtype.itemsize == size
    assert [made.dtype.fields[name][1] for name in made.dtype.names] == offsets
    assert made.tobytes().hex() == expected
    store: dict[str, bytes] = {}
    array = opened(store, (1,), data_type=data_type, fill_value=fill)
    array[...] = np.frombuffer(bytes(range(1, size + 1)), made.dtype)
    assert bytes(store["c/0"]) == bytes(range(1, size + 1))


@pytest.mark.parametrize(
    ("data_type", "fill", "codecs"),
    [
        (fields(), {}, [LITTLE]),
        (fields(("x", "int8"), ("x", "int8")), {"x": 0}, [LITTLE]),
        (fields(("", "int8")), {"": 0}, [LITTLE]),
        (fields(("x", "string")), {"x": ""}, [LITTLE]),
        (POINT, {"x": 0}, [LITTLE]),
        (POINT, {"x": 0, "y": 0}, ["bytes"]),
        (POINT, {"x": 0, "y": 0}, [{"name": "vlen-utf8"}]),
    ],
)
def test_struct_refuses(data_type: Any, fill: Any, codecs: list[Any]) -> None:
    with pytest.raises(MetadataError):
        filled(data_type, fill, codecs)


def test_struct_of_bytes_needs_no_byte_order() -> None:
    assert filled(fields(("a", "uint8"), ("b", "int8")), {"a": 1, "b": -1}, ["bytes"]).tobytes() == b"\1\xff"


def test_structured_is_read() -> None:
    """Fields as pairs, a fill value as base64, and a byte order that is left out, which is little-endian."""
    old = codec("structured", fields=[["x", "float32"], ["y", "float32"]])
    assert filled(old, "AAAAAAAAAAA=").tobytes() == bytes(8)
    packed = np.array([1, 2], "<f4").tobytes()
    for codecs, raw in (([LITTLE], packed), ([BIG], np.array([1, 2], ">f4").tobytes())):
        assert filled(old, base64.b64encode(raw).decode(), codecs).tobytes() == packed
    with pytest.warns(UserWarning, match="little-endian"):
        assert read(packed.hex(), 1, data_type=old, fill_value="AAAAAAAAAAA=", codecs=["bytes"]) == [(1.0, 2.0)]
