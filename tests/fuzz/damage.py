"""Documents and archives with their structure kept and what stands in it changed.

Bytes changed at random hardly get past a parser. So a document is parsed, some of its values are replaced by what a
check might have forgotten, moved, doubled or removed, and it is written again; only then its text may be damaged.
"""

from __future__ import annotations

import copy
import json
import re
import struct
from typing import Any, NamedTuple

from fuzz.bases import bases, zipped
from fuzz.choices import Choices
from support.mutated import look, places

__all__ = ["Case", "damaged"]

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 1.5, 64.0, -0.0, 1e30, 1e308, float("nan"), float("inf"), 255, 256, 1000,
    2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**200, 10**400, -(10**400),
    -(2**63), -(2**63) - 1, 5e-324, 2e16, -1.7e308, "", "/", ".", "..", "\0", "\ud800", "é", "\x1b[31m", "\u202e",
    "x" * 300, "64", "0", [], {}, [None], [[]], [0], [1], [-1], [2**40, 2**40], [1] * 33, [1] * 65, {"name": "bytes"},
    {"name": None}, {"must_understand": False}, {"must_understand": True}, {"id": None}, {"id": "zlib"},
    "default", "v2", "regular",
]  # fmt: skip
_WORDS = """
    name configuration shape chunks chunk_grid chunk_shape chunk_key_encoding separator data_type dtype codecs
    compressor filters order fill_value zarr_format node_type attributes dimension_names dimension_separator
    metadata consolidated_metadata kind inline must_understand storage_transformers index_codecs index_location
    level cname shuffle typesize blocksize clevel id endian little big start end C F start_level extensions
    metadata_key_suffix extension zarr_consolidated_format array group 3 2 4 bytes gzip zstd blosc crc32c
    transpose sharding_indexed vlen-utf8 vlen-bytes numcodecs.delta numcodecs.lzma zlib bz2 lzma lz4 delta
    fixedscaleoffset quantize packbits categorize astype base64 bitround crc32 adler32 fletcher32 json2 msgpack2
    pickle vlen-array pcodec zfpy n5_wrapper jpeg bool int8 int16 int32 int64 uint8 uint64 float16 float32
    float64 complex64 complex128 string variable_length_bytes fixed_length_utf32 null_terminated_bytes r8 r0
    r99999999992 numpy.datetime64 numpy.timedelta64 struct structured int4 bfloat16 |b1 <i4 >f8 <U3 |S5 |V7 |O
    <M8[s] <m8[ns] <U1073741824 |V0 |V2000000000 |S2000000000 <c16 |u1 <i3 z NaN Infinity -Infinity 0x7fc00000
    0b1 AQI= NaT lz4hc snappy bitshuffle noshuffle https://purl.org/zarr/spec/protocol/core/3.0
    https://purl.org/zarr/spec/codec/gzip/1.0 /root ../x a//b
"""
WORDS = _WORDS.split()
DEEP = (100, 129, 1000, 100_000)


class Case(NamedTuple):
    """A hierarchy to be read."""

    name: str
    """What it was made of."""
    content: dict[str, bytes] | bytes
    """Keys and values, or the bytes of a zip file."""
    changed: frozenset[str] = frozenset()
    """The keys that are not what they were, if it is known."""


def damaged(choices: Choices) -> Case:
    """A hierarchy, of which some documents, and now and then a chunk or a key, are not what they were."""
    name = choices.pick(list(bases()))
    if choices.one_in(6):
        return Case(f"zip of {name}", _archive(choices, zipped(name)))
    store = dict(bases()[name])
    documents = [key for key, value in store.items() if value[:1] in (b"{", b"[")]
    chunks = [key for key in store if key not in documents]
    for _ in range(1 + choices.below(3)):
        if chunks and choices.one_in(6):
            key = choices.pick(chunks)
            store[key] = _text(choices, store.get(key, b""))
        elif choices.one_in(12):
            # Under another name, which may be that of another kind of document.
            names = (
                "zarr.json",
                ".zarray",
                ".zgroup",
                ".zattrs",
                ".zmetadata",
                "meta",
                "attrs",
                "a/zarr.json",
                "c",
                "0.0",
            )
            key = choices.pick(names)
            store[key] = store[choices.pick(list(store))]
        elif choices.one_in(16):
            store.pop(choices.pick(list(store)), None)
        elif documents:
            key = choices.pick(documents)
            store[key] = _document(
                choices, store.get(key, b"{}"), [store[other] for other in documents if other in store]
            )
    changed = {key for key, value in store.items() if value != bases()[name].get(key)}
    return Case(name, store, frozenset(changed))


def _document(choices: Choices, raw: bytes, others: list[bytes]) -> bytes:
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        return _text(choices, raw)
    for _ in range(1 + choices.below(4)):
        document = _changed(choices, document, others)
    if choices.one_in(24):
        depth = choices.pick(DEEP)
        document = {**document, "attributes": "DEEP"} if isinstance(document, dict) else "DEEP"
        return json.dumps(document).replace('"DEEP"', "[" * depth + "]" * depth).encode()
    raw = json.dumps(document, ensure_ascii=choices.one_in(2)).encode(errors="surrogatepass")
    return _text(choices, raw) if choices.one_in(8) else raw


def _value(choices: Choices, others: list[bytes]) -> Any:
    kind = choices.below(4)
    if kind == 0:
        return copy.deepcopy(choices.pick(ODD))
    if kind == 1:
        return choices.pick(WORDS)
    if kind == 2 and others:
        # What stands somewhere else.
        try:
            other = json.loads(choices.pick(others))
            found = list(places(other))
            return look(other, choices.pick(found)) if found else other
        except (ValueError, RecursionError):
            return None
    word = choices.pick(WORDS)
    configuration = {choices.pick(WORDS): copy.deepcopy(choices.pick(ODD)) for _ in range(choices.below(3))}
    return {choices.pick(("name", "id", "codec")): word, "configuration": configuration, **configuration}


def _changed(choices: Choices, document: Any, others: list[bytes]) -> Any:
    found = list(places(document))
    if not found or choices.one_in(40):
        return copy.deepcopy(choices.pick(ODD))
    *way, name = choices.pick(found)
    holder = look(document, tuple(way))
    change = choices.below(6)
    if change == 0:
        del holder[name]
    elif change == 1 and isinstance(holder, list):
        # Very many of them, now and then.
        times = choices.pick((1, 1, 2, 17, 65, 1000))
        holder[name:name] = [copy.deepcopy(value) for value in [_value(choices, others)] * times]
    elif change == 2 and isinstance(holder, dict):
        holder[choices.pick(WORDS)] = holder.pop(name)
    elif change == 3 and isinstance(holder, dict):
        holder[choices.pick(WORDS)] = _value(choices, others)
    elif change == 4 and isinstance(holder[name], int):
        holder[name] += choices.pick((1, -1, 2, 255, 2**31, -(2**31)))
    else:
        holder[name] = _value(choices, others)
    return document


def _text(choices: Choices, raw: bytes) -> bytes:
    """Bytes changed as bytes."""
    at = choices.below(len(raw) + 1)
    more = choices.pick(
        (b"", b"\0", b"\xff", b"\xef\xbb\xbf", b'"', b"{", b"]", b",", b'"a":1,', b"NaN", b"1e999", b"\\ud800")
    )
    change = choices.below(4)
    if change == 0:
        return raw[:at]
    if change == 1:
        return more + raw
    if change == 2:
        return raw[:at] + more + raw[at:]
    return raw[:at] + bytes([choices.byte()]) + raw[at + 1 :]


#: Where local headers and those of the central directory have their numbers: offset and format.
LOCAL = ((4, "<H"), (6, "<H"), (8, "<H"), (14, "<I"), (18, "<I"), (22, "<I"), (26, "<H"), (28, "<H"), (30, "<B"))
CENTRAL = (
    (6, "<H"), (8, "<H"), (10, "<H"), (16, "<I"), (20, "<I"), (24, "<I"), (28, "<H"), (30, "<H"), (32, "<H"),
    (38, "<I"), (42, "<I"), (46, "<B"),
)  # fmt: skip
END = ((4, "<H"), (8, "<H"), (10, "<H"), (12, "<I"), (16, "<I"), (20, "<H"))
NUMBERS = (0, 1, 8, 14, 0xFFFF, 0x7FFF, 0xFFFFFFFF, 0x7FFFFFFF, 64 << 20, 100, 1000)


def _archive(choices: Choices, raw: bytes) -> bytes:
    archive = bytearray(raw)
    for _ in range(1 + choices.below(4)):
        magic, fields = choices.pick(((b"PK\x01\x02", CENTRAL), (b"PK\x03\x04", LOCAL), (b"PK\x05\x06", END)))
        starts = [found.start() for found in re.finditer(re.escape(magic), archive)]
        if not starts:
            break
        offset, form = choices.pick(fields)
        at, size = choices.pick(starts) + offset, struct.calcsize(form)
        if at + size > len(archive):
            continue
        (old,) = struct.unpack_from(form, archive, at)
        new = choices.pick((*NUMBERS, old + 1, old - 1, old * 2, ord("/"), ord("."), ord("\\")))
        struct.pack_into(form, archive, at, new % (1 << 8 * size))
    if choices.one_in(5):
        at = choices.below(len(archive) + 1)
        return (
            bytes(archive[:at])
            + choices.pick((b"", b"", b"PK\x05\x06", b"\0" * 30))
            + bytes(archive[at + choices.below(40) :])
        )
    return bytes(archive)
