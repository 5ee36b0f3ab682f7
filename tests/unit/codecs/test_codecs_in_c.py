"""Codecs of users in C, as pointers in capsules."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from shutil import which
from typing import Any, ClassVar

import numpy as np
import pytest

import blizzarr
from blizzarr import _native
from blizzarr.codecs import BytesBytesCodec
from blizzarr.errors import CodecError

DATA = np.arange(60, dtype="int16").reshape(6, 10)

pytestmark = pytest.mark.usefixtures("same_table_afterwards")

SOURCE = """
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* Each byte combined with a key, and one byte in front that must be right. */
static size_t bound(const void *context, size_t decoded) { return decoded + 1; }
static ptrdiff_t encode(const void *context, const uint8_t *source, size_t length, uint8_t *target, size_t room) {
    if (room < length + 1) return -2;
    target[0] = 42;
    for (size_t i = 0; i < length; i++) target[i + 1] = source[i] ^ *(const uint8_t *)context;
    return (ptrdiff_t)length + 1;
}
static ptrdiff_t decode(const void *context, const uint8_t *source, size_t length, uint8_t *target, size_t room) {
    if (!length || source[0] != 42) return -1;
    if (room < length - 1) return -2;
    for (size_t i = 1; i < length; i++) target[i - 1] = source[i] ^ *(const uint8_t *)context;
    return (ptrdiff_t)length - 1;
}
static uint8_t key = 7;
struct { size_t size; const void *context; size_t (*bound)(const void *, size_t);
         ptrdiff_t (*encode)(const void *, const uint8_t *, size_t, uint8_t *, size_t);
         ptrdiff_t (*decode)(const void *, const uint8_t *, size_t, uint8_t *, size_t);
} table = {sizeof table, &key, bound, encode, decode};
"""


def capsule(pointer: Any, name: bytes | None = b"blizzarr.codec.v1") -> Any:
    """A capsule that points to a table."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    NAMES.append(name)  # which the capsule only points to
    return new(ctypes.addressof(pointer), name, None)


NAMES: list[bytes | None] = []


@pytest.mark.skipif(which("cc") is None, reason="needs a compiler")
def test_a_codec_in_c(tmp_path: Path) -> None:
    """The functions in a capsule encode and decode, in whole chunks and behind another codec."""
    (tmp_path / "codec.c").write_text(SOURCE)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", "codec.so", "codec.c"], cwd=tmp_path, check=True)
    table = (ctypes.c_size_t * 5).in_dll(ctypes.CDLL(str(tmp_path / "codec.so")), "table")

    class Xor(BytesBytesCodec):
        name = "test.xor"

        def capsule(self) -> Any:
            return capsule(table)

    blizzarr.register_codec(Xor)
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=DATA, chunks=(3, 5), compressors="test.xor")
    stored = np.frombuffer(bytes(store["c/0/0"]), "u1")
    assert stored[0] == 42
    assert bytes(stored[1:] ^ 7) == DATA[:3, :5].tobytes()
    np.testing.assert_array_equal(array[:], DATA)
    packed = blizzarr.create_array({}, data=DATA, compressors=["test.xor", "gzip", "test.xor"])
    np.testing.assert_array_equal(packed[:], DATA)
    store["c/0/0"] = b"\0" + bytes(store["c/0/0"])[1:]
    with pytest.raises(CodecError, match=r"test\.xor: the function refuses the data"):
        array[:]
    store["c/0/0"] = b"\x2a123"
    with pytest.raises(CodecError, match="expected 30 bytes, found 3"):
        array[:]


MOST = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t)
CODE = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t
)


class Table(ctypes.Structure):
    """The struct of a codec."""

    _fields_: ClassVar = [
        ("size", ctypes.c_size_t),
        ("context", ctypes.c_void_p),
        ("bound", MOST),
        ("encode", CODE),
        ("decode", CODE),
    ]


def copied(context: Any, source: int, length: int, target: int, room: int) -> int:
    ctypes.memmove(target, source, length)
    return length


def chain_of(*members: Any, name: bytes | None = b"blizzarr.codec.v1", size: int = ctypes.sizeof(Table)) -> Any:
    table = Table(size, None, *members)
    KEPT.append((table, members))
    return _native.Chain((4,), 1, b"\0", False, [("bytes", 0), ("capsule", "test.c", capsule(table, name))])


KEPT: list[Any] = []


def test_wrong_capsules_are_refused() -> None:
    """A capsule of another name or version, with a table of another size or without a function, is none of ours."""
    good = (MOST(lambda context, decoded: decoded), CODE(copied), CODE(copied))
    assert chain_of(*good).encode(b"abcd") == b"abcd"
    for name, found in ((b"blizzarr.codec.v2", "v2"), (b"numpy", "numpy"), (None, "without a name")):
        with pytest.raises(ValueError, match=f"expected a capsule with the name.*{found}"):
            chain_of(*good, name=name)
    with pytest.raises(ValueError, match="expected a table of 40 bytes, found 48"):
        chain_of(*good, size=48)
    with pytest.raises(ValueError, match="expected the functions"):
        chain_of(good[0], CODE(), good[2])
    with pytest.raises(TypeError, match="expected a PyCapsule"):
        _native.Chain((4,), 1, b"\0", False, [("bytes", 0), ("capsule", "test.c", object())])


@pytest.mark.parametrize(("result", "found"), [(9, "at most 4 bytes from the function, found 9"), (-7, "number -7")])
def test_results_of_functions_are_checked(result: int, found: str) -> None:
    """A length beyond the memory that was given, or another negative number, is an error."""
    wrong = CODE(lambda *_: result)
    chain = chain_of(MOST(lambda context, decoded: decoded), wrong, wrong)
    with pytest.raises(CodecError, match=found):
        chain.encode(b"abcd")
    with pytest.raises(CodecError, match="found 9" if result > 0 else found):
        chain.decode(b"abcd")
    too_small = CODE(lambda *_: -2)
    chain = chain_of(MOST(lambda context, decoded: 2), too_small, too_small)
    with pytest.raises(CodecError, match="at most 2 bytes"):
        chain.encode(b"abcd")
    with pytest.raises(CodecError, match="more than the 4 bytes"):
        chain.decode(b"abcd")
