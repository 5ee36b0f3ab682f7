"""The engine reads the usual records of a zip file's directory, and Python the others: both read the same."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest

from blizzarr import _native
from blizzarr.stores.zip import records
from blizzarr.stores.zip.end import MAX32
from blizzarr.stores.zip.records import CENTRAL, Entry, unpack_directory

NAMES = (b"a", b"c/0/0", b"zarr.json", b"", b"d/", b"x\\y", "ä".encode(), b"\xff\x80", b"n" * 300, b"nul\0")


def _record(chance: random.Random) -> bytes:
    """Return a record that is usual more often than not."""
    name = chance.choice(NAMES) if chance.random() < 0.4 else b"c/%d/%d" % (chance.randrange(99), chance.randrange(99))
    extra, comment = chance.choice([b"", b"", b"\x99\x99\x02\0ab"]), chance.choice([b"", b"", b"note"])
    numbers = [chance.randrange(MAX32) for _ in range(3)]
    if chance.random() < 0.2:
        wide = [at for at in range(3) if chance.random() < 0.5]
        extra += (
            b"\1\0" + (8 * len(wide)).to_bytes(2, "little") + bytes(chance.randrange(128) for _ in range(8 * len(wide)))
        )
        for at in wide:
            numbers[at] = MAX32
    made_by = chance.choice([0, 45, 3 << 8 | 20, 10 << 8])
    attributes = chance.choice([0, 0o100644 << 16, 0o120777 << 16, 0o040755 << 16])
    flags, method, crc = chance.choice([0, 1, 8, 0x800]), chance.choice([0, 8, 93]), chance.randrange(1 << 32)
    return (
        CENTRAL.pack(b"PK\1\2", made_by, 20, flags, method, 0, 0x21, crc, numbers[0], numbers[1], len(name), len(extra),
                     len(comment), 0, 0, attributes, numbers[2])
        + name + extra + comment
    )  # fmt: skip


def _outcome(data: bytes, start: int, count: int, shift: int) -> tuple[list[Entry], int] | str:
    def read_at(offset: int, length: int) -> bytes:
        return data[offset - start : offset - start + length]

    try:
        return unpack_directory(read_at, start, len(data), count, shift)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("block", [500, 700, 1 << 20])
def test_both_read_the_same(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """Also where records are cut or damaged at any place, and where a block ends within one."""
    monkeypatch.setattr(records, "_BLOCK", block)
    monkeypatch.setattr(records, "_LONGEST", 500)
    monkeypatch.setattr(records, "_native", counting := _Counting())
    chance = random.Random(block)
    for _ in range(400):
        count = chance.randrange(12)
        data = b"".join(_record(chance) for _ in range(count))
        if chance.random() < 0.3 and data:
            at = chance.randrange(len(data))
            data = chance.choice(
                [data[:at], data + b"x", data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]]
            )
        start, shift, said = chance.randrange(5), chance.choice([0, 7]), count + chance.choice([0, 0, 0, 1, -1])

        read = partial(_outcome, data, start, max(0, said), shift)
        counting.is_asked = True
        engine = read()
        counting.is_asked = False
        assert engine == read()
        if isinstance(engine, tuple):
            assert all(type(entry) is Entry for entry in engine[0])
    assert counting.found > 300


class _Counting:
    """The engine, which may be asked or not."""

    is_asked = True
    found = 0

    def usual_entries(self, data: bytes, at: int, *rest: Any) -> tuple[list[Any], int]:
        if not self.is_asked:
            return [], at
        entries, at = _native.usual_entries(data, at, *rest)
        self.found += len(entries)
        return entries, at
