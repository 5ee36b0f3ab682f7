"""Kinds of damages: each changes one stored object, and says what a check must say about it.

Every kind is a function of what is stored and of a source of chance; it takes an object that nothing was done to yet,
and gives what it did, or None where there is no object left for it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import numcodecs

from soak.planting.damage import PAGE, Damage, Kind
from soak.planting.documents import consolidated, document, no_document, twice, two_formats, unknown_codec
from soak.planting.stores import CHUNK, INNER, LAYOUTS, Layout, Object, Planted
from support import shards
from support.streams import gzip_member

__all__ = ["DAMAGES", "LEGAL"]

COUNT = INNER * INNER
"""Inner chunks of a shard."""
_DECODING = frozenset({"chunk", "checksum"})
_SHARD = frozenset({"shard-index", "inner-chunk"})


def _take(planted: Planted, random: Random, fits: Callable[[Layout], bool]) -> Object | None:
    """An object of a layout that fits; each layout as often as it has objects left."""
    names = [name for name, layout in LAYOUTS.items() if fits(layout) and planted.objects[name]]
    if not names:
        return None
    name = random.choices(names, [len(planted.objects[name]) for name in names])[0]
    return planted.objects[name].pop()


def _about(what: str, item: Object, kinds: Iterable[str], **more: Any) -> Damage:
    return Damage(what, item.root, frozenset({item.key}), frozenset(kinds), spoiled=item, **more)


def _plain(layout: Layout) -> bool:
    return not layout.shards


# Chunks


def cut(planted: Planted, random: Random) -> Damage | None:
    """The end is missing."""
    item = _take(planted, random, _plain)
    if item is None:
        return None
    value = item.file.read_bytes()
    item.file.write_bytes(value[: random.randrange(len(value))])
    return _about("cut", item, _DECODING)


def empty(planted: Planted, random: Random) -> Damage | None:
    """Nothing is in it: what some file systems leave after a power cut."""
    item = _take(planted, random, lambda layout: True)
    if item is None:
        return None
    item.file.write_bytes(b"")
    return _about("empty", item, _SHARD if item.layout.shards else _DECODING)


def trailing(planted: Planted, random: Random) -> Damage | None:
    """Bytes behind the end."""
    item = _take(planted, random, _plain)
    if item is None:
        return None
    item.file.write_bytes(item.file.read_bytes() + random.randbytes(random.randint(1, 40)))
    return _about("trailing bytes", item, _DECODING)


def page(planted: Planted, random: Random) -> Damage | None:
    """What a server says when it has no time."""
    item = _take(planted, random, lambda layout: True)
    if item is None:
        return None
    item.file.write_bytes(PAGE)
    return _about("page", item, _SHARD if item.layout.shards else _DECODING)


def flip_checked(planted: Planted, random: Random) -> Damage | None:
    """One bit, where a checksum covers it."""
    item = _take(planted, random, lambda layout: layout.covered or layout.tail > 0)
    if item is None:
        return None
    value = bytearray(item.file.read_bytes())
    first = 0 if item.layout.covered else len(value) - item.layout.tail
    value[random.randrange(first, len(value))] ^= 1 << random.randrange(8)
    item.file.write_bytes(value)
    return _about("flipped bit", item, _DECODING)


def flip_anywhere(planted: Planted, random: Random) -> Damage | None:
    """One bit anywhere, which may make other values of it."""
    item = _take(planted, random, lambda layout: not layout.covered)
    if item is None:
        return None
    value = bytearray(item.file.read_bytes())
    value[random.randrange(len(value))] ^= 1 << random.randrange(8)
    item.file.write_bytes(value)
    return _about("flipped bit without a checksum", item, _DECODING | _SHARD | {"shared"}, certain=False)


def no_file(planted: Planted, random: Random) -> Damage | None:
    """A directory or a FIFO in its place."""
    item = _take(planted, random, lambda layout: True)
    if item is None:
        return None
    item.file.unlink()
    (os.mkfifo if random.random() < 0.5 else os.mkdir)(item.file)
    key = item.file.relative_to(item.root).as_posix()
    return Damage("no file", item.root, frozenset({key, item.key}), frozenset({"no-file"}), spoiled=item)


# Shards


def _shard(planted: Planted, random: Random, fits: Callable[[Layout], bool] = lambda layout: True) -> Object | None:
    return _take(planted, random, lambda layout: bool(layout.shards) and fits(layout))


def _entries(item: Object) -> tuple[bytes, shards.Entries]:
    return shards.split(item.file.read_bytes(), COUNT, at_start=item.layout.shards == "start")


def _store(item: Object, body: bytes, entries: shards.Entries) -> None:
    item.file.write_bytes(shards.join(body, entries, at_start=item.layout.shards == "start"))


def _named(item: Object, entry: int) -> dict[str, Any]:
    place = divmod(entry, INNER)
    return {"chunk": (*item.position, *place), "inner": (place,)}


def shard_cut(planted: Planted, random: Random) -> Damage | None:
    """The end of a shard is missing."""
    item = _shard(planted, random)
    if item is None:
        return None
    value = item.file.read_bytes()
    item.file.write_bytes(value[: random.randrange(len(value))])
    return _about("cut shard", item, _SHARD)


def index_flip(planted: Planted, random: Random) -> Damage | None:
    """One bit of an index."""
    item = _shard(planted, random)
    if item is None:
        return None
    value = bytearray(item.file.read_bytes())
    size = 16 * COUNT + 4
    at = random.randrange(size)
    value[at if item.layout.shards == "start" else len(value) - size + at] ^= 1 << random.randrange(8)
    item.file.write_bytes(value)
    return _about("flipped bit of an index", item, {"shard-index"})


def entry_lies(planted: Planted, random: Random) -> Damage | None:
    """An entry that cannot be, under a checksum that is right."""
    item = _shard(planted, random)
    if item is None:
        return None
    body, entries = _entries(item)
    entry = random.randrange(COUNT)
    offset, length = entries[entry]
    lie = random.choice(["beyond", "long", "overflow", "half missing", "half missing too", "nothing"])
    entries[entry] = {
        "beyond": (offset + 10**6, length),
        "long": (offset, length + 10**6),
        "overflow": (2**63 - 1, length),
        "half missing": (shards.MAX, length),
        "half missing too": (offset, shards.MAX),
        "nothing": (offset, 0),
    }[lie]
    _store(item, body, entries)
    return _about(f"entry: {lie}", item, {"shard-index"}, **_named(item, entry))


def entry_overlaps(planted: Planted, random: Random) -> Damage | None:
    """An entry that begins within the inner chunk of another one."""
    item = _shard(planted, random)
    if item is None:
        return None
    body, entries = _entries(item)
    entry = random.randrange(1, COUNT)
    before, length = entries[entry - 1]
    entries[entry] = before + random.randrange(1, length), min(length, entries[entry][1])
    _store(item, body, entries)
    inner = tuple(divmod(number, INNER) for number in (entry - 1, entry))
    return _about("overlapping entry", item, _SHARD, inner=inner)


def inner_flip(planted: Planted, random: Random) -> Damage | None:
    """One bit of an inner chunk that has a checksum."""
    item = _shard(planted, random, lambda layout: layout.inner_crc)
    if item is None:
        return None
    _, entries = _entries(item)
    entry = random.randrange(COUNT)
    offset, length = entries[entry]
    value = bytearray(item.file.read_bytes())
    value[offset + random.randrange(length)] ^= 1 << random.randrange(8)
    item.file.write_bytes(value)
    return _about("flipped bit of an inner chunk", item, {"inner-chunk"}, **_named(item, entry))


# Keys


def outside(planted: Planted, random: Random) -> Damage | None:
    """A chunk beyond the shape of its array."""
    item = _beside(planted, random)
    if item is None:
        return None
    row, column = item.position
    return _copied("outside", planted, item, _name(item, (str(row), str(column + 10_000))), "outside")


def zeros(planted: Planted, random: Random) -> Damage | None:
    """A number with a zero in front."""
    item = _beside(planted, random)
    if item is None:
        return None
    return _copied("zeros", planted, item, _name(item, (f"0{item.position[0]}", str(item.position[1]))), "chunk-key")


def other_encoding(planted: Planted, random: Random) -> Damage | None:
    """A chunk under the name that it has in another format."""
    item = _beside(planted, random)
    if item is None:
        return None
    row, column = item.position
    dotted = item.key.rpartition("/")[2].count(".") == 1 and not item.key.rpartition("/")[2].startswith("c")
    name = f"c/{row}/{column}" if dotted else f"{row}.{column}"
    return _copied("other encoding", planted, item, name, "chunk-encoding")


def _beside(planted: Planted, random: Random) -> Object | None:
    """An object that another one is put beside; it stays as it is, and so stays available."""
    names = [name for name in LAYOUTS if name not in ("hashed", "v1", "draft") and planted.objects[name]]
    return random.choice(planted.objects[random.choice(names)]) if names else None


def _name(item: Object, indices: tuple[str, str]) -> str:
    """The name of a chunk with these indices, as its array has them."""
    name = item.key.removeprefix(f"{item.array}/")
    head = "c" + name[1] if name.startswith("c") else ""
    separator = "/" if "/" in name else "."
    return head + separator.join(indices)


def _copied(what: str, planted: Planted, item: Object, name: str, kind: str) -> Damage | None:
    key = f"{item.array}/{name}"
    target = item.root / key
    if target.exists():
        return None
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(item.file, target)
    return Damage(what, item.root, frozenset({key}), frozenset({kind}))


def leftover(planted: Planted, random: Random) -> Damage | None:
    """What a writer had not finished when it died."""
    item = _beside(planted, random)
    if item is None:
        return None
    key = _temporary(item, random)
    (item.root / key).write_bytes(random.randbytes(20))
    return Damage("leftover", item.root, frozenset({key}), frozenset({"leftover"}))


def _temporary(item: Object, random: Random) -> str:
    return f"{item.key.rpartition('/')[0]}/.blizzarr-{random.randrange(10**12)}"


def notes(planted: Planted, random: Random) -> Damage | None:
    """A file that somebody put there."""
    item = _beside(planted, random)
    if item is None:
        return None
    key = f"{item.array}/notes-{random.randrange(10**9)}.txt"
    (item.root / key).write_text("lunch at noon")
    return Damage("notes", item.root, frozenset({key}), frozenset({"foreign"}))


# What is allowed


def missing(planted: Planted, random: Random) -> Damage | None:
    """A chunk that is not stored reads as fill value."""
    item = _take(planted, random, lambda layout: True)
    if item is None:
        return None
    item.file.unlink()
    return _about("missing", item, ())


def two_frames(planted: Planted, random: Random) -> Damage | None:
    """Two zstd frames, or two gzip members, one behind the other."""
    name = random.choice(("zstd", "gzip"))
    if not planted.objects[name]:
        return None
    item = planted.objects[name].pop()
    codec = numcodecs.Zstd(1) if name == "zstd" else numcodecs.GZip(1)
    decoded = bytes(codec.decode(item.file.read_bytes()))
    assert len(decoded) == CHUNK * CHUNK * 4
    half = random.randrange(1, len(decoded))
    encode = codec.encode if name == "zstd" else gzip_member
    item.file.write_bytes(bytes(encode(decoded[:half])) + bytes(encode(decoded[half:])))
    return Damage("two frames", item.root, frozenset(), frozenset())


def gap(planted: Planted, random: Random) -> Damage | None:
    """Bytes in a shard that no entry names."""
    item = _shard(planted, random, lambda layout: layout.shards == "end")
    if item is None:
        return None
    body, entries = _entries(item)
    _store(item, body + random.randbytes(100), entries)
    return Damage("gap", item.root, frozenset(), frozenset())


def unfinished(planted: Planted, random: Random) -> Damage | None:
    """What a writer is about to finish: it holds a lock on it."""
    item = _beside(planted, random)
    if item is None:
        return None
    file = item.root / _temporary(item, random)
    descriptor = os.open(file, os.O_CREAT | os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    planted.alive.append(descriptor)
    return Damage("unfinished", item.root, frozenset(), frozenset())


def shared(planted: Planted, random: Random) -> Damage | None:
    """Two entries that name the same bytes: a note, no damage."""
    item = _shard(planted, random)
    if item is None:
        return None
    body, entries = _entries(item)
    one, other = random.sample(range(COUNT), 2)
    entries[one] = entries[other]
    _store(item, body, entries)
    return _about("shared", item, {"shared"}, inner=(divmod(one, INNER),))


DAMAGES: dict[Kind, int] = {
    cut: 12,
    empty: 6,
    trailing: 8,
    page: 4,
    flip_checked: 14,
    no_file: 4,
    shard_cut: 5,
    index_flip: 6,
    entry_lies: 8,
    entry_overlaps: 4,
    inner_flip: 10,
    outside: 4,
    zeros: 3,
    other_encoding: 3,
    leftover: 3,
    notes: 2,
    document: 3,
    unknown_codec: 1,
    no_document: 2,
    twice: 1,
    two_formats: 2,
    consolidated: 4,
}
"""What must be found, and how often it is planted compared with others."""

LEGAL: dict[Kind, int] = {missing: 4, two_frames: 2, gap: 2, shared: 2, unfinished: 1, flip_anywhere: 4}
"""What is allowed, or cannot always be found."""
