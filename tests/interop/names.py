"""The table of who reads which name, in ``docs/formats.md``: `python -m tests.interop.names`.

For each data type, codec, chunk grid and chunk key encoding, blizzarr writes a small array, which each peer reads, and
then writes to another place, where blizzarr reads it. A name counts as read or written if the elements are the same to
the bit as those that blizzarr reads. The results are kept in ``names.json``, for
machines that lack a peer; `tests/interop/test_names_of_others.py` compares the page with them.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))

import blizzarr  # noqa: E402
from blizzarr.codecs import CATALOGUE  # noqa: E402
from blizzarr.model.chunk_grid import RegularBoundedGrid  # noqa: E402
from interop.elements import pack  # noqa: E402
from interop.peers import PEERS, Peer  # noqa: E402
from support.codec_options import OPTIONS  # noqa: E402

RESULTS = Path(__file__).with_name("names.json")
PAGE = ROOT / "docs" / "formats.md"
HEAD, FOOT = "<!-- names: made by python -m tests.interop.names -->", "<!-- end of names -->"
READERS: Final = {
    "zarr-python newest": "zarr-python",
    "tensorstore": "TensorStore",
    "zarrista": "zarrs (zarrista)",
    "zarrita": "zarrita.js",
}
"""The peers of the columns, and what heads these."""
SHAPE: Final = (6, 4)
_NARROW = ("e3m4", "e4m3", "e4m3b11fnuz", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")
_PARTS = ("bfloat16", "float16", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", *(f"float8_{n}" for n in _NARROW))
_TIME = {"unit": "s", "scale_factor": 1}
DATA_TYPES: Final[tuple[Any, ...]] = (
    *("bool", "int2", "int4", "int8", "int16", "int32", "int64"),
    *("uint2", "uint4", "uint8", "uint16", "uint32", "uint64"),
    *(part for part in _PARTS if part != "float16"),
    *("float16", "float32", "float64", "complex64", "complex128", "complex_float32", "complex_float64"),
    *(f"complex_{part}" for part in _PARTS),
    "r24",
    *("string", "bytes"),
    {"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}},
    {"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}},
    {"name": "numpy.datetime64", "configuration": _TIME},
    {"name": "numpy.timedelta64", "configuration": _TIME},
    {"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int16"}]}},
    {"name": "zarrs.optional", "configuration": {"name": "uint8", "configuration": {}}},
)
CODECS: Final = sorted(
    name for name in OPTIONS if name != "endian" and name in CATALOGUE and not name.startswith("numcodecs.")
)
KEYS: Final[dict[str, Any]] = {
    "default": "default",
    "v2": "v2",
    "fanout": "fanout",
    "suffix": {"name": "suffix", "configuration": {"suffix": ".bin", "base_encoding": {"name": "default"}}},
    "zarrs.default_suffix": {"name": "zarrs.default_suffix", "configuration": {"suffix": ".bin"}},
}
GRIDS: Final[dict[str, Any]] = {
    "regular": (3, 4),
    "rectilinear": [[1, 3, 2], [2, 2]],
    "zarrs.regular_bounded": RegularBoundedGrid((4, 3)),
}
_ELEMENTS: Final[dict[str, Any]] = {
    **dict.fromkeys(("categorize", "vlen-array", "vlen-utf8", "zarrs.vlen", "zarrs.vlen_v2"), "string"),
    **dict.fromkeys(("numcodecs.packbits", "packbits"), "bool"),
    **dict.fromkeys((f"numcodecs.{name}" for name in ("astype", "fixedscaleoffset", "quantize")), "float64"),
    "numcodecs.delta": "int32",
    "vlen-bytes": "bytes",
    "zarrs.optional": DATA_TYPES[-1],
}
"""The data types that codecs need, but for float32."""
_SIMPLER: Final[dict[str, dict[str, Any]]] = {
    "cast_value": {"data_type": "int16"},
    "categorize": {"labels": ["a", "bc"]},
    # zarrita ignores the option astype.
    "numcodecs.delta": {"dtype": "<i4"},
    "numcodecs.fixedscaleoffset": {"offset": 0, "scale": 10, "dtype": "<f8", "astype": "|u1"},
    "reshape": {"shape": [[0, 1]]},
}
"""Options that more peers know than those of `OPTIONS`, or that fit the array."""


def arrays() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The kind and the name of each row, and the arguments of its array."""
    for dtype in DATA_TYPES:
        yield "Data types", dtype if isinstance(dtype, str) else dtype["name"], {"dtype": dtype, "compressors": None}
    for name in CODECS:
        yield "Codecs", name, with_codec(name)
    for name, chunks in GRIDS.items():
        yield "Chunk grids", name, {"dtype": "uint16", "chunks": chunks, "compressors": None}
    for name, keys in KEYS.items():
        yield "Chunk key encodings", name, {"dtype": "uint16", "chunk_key_encoding": keys, "compressors": None}


def with_codec(name: str) -> dict[str, Any]:
    """The arguments of an array with a codec."""
    given: dict[str, Any] = {"dtype": _ELEMENTS.get(name, "float32"), "compressors": None}
    stage = CATALOGUE[name].stage
    if name == "zarrs.squeeze":
        given["chunks"] = (3, 1)
    if name == "sharding_indexed":
        given |= {"chunks": (3, 2), "shards": SHAPE}
    elif name in ("n5_default", "packbits"):
        given["serializer"] = name
    else:
        options = _SIMPLER.get(name) or dict(OPTIONS[name])
        given[("filters", "serializer", "compressors")[stage]] = {"name": name, "configuration": options}
    return given


def data_of(array: blizzarr.Array) -> Any:
    """Some elements of the array's data type."""
    kind = array.metadata.dtype
    if kind.name in ("string", "bytes"):
        texts = np.array([["a", "bc", "", "a"]] * SHAPE[0], object)
        return texts if kind.name == "string" else np.vectorize(str.encode, otypes=[object])(texts)
    numbers = np.arange(SHAPE[0] * SHAPE[1]).reshape(SHAPE) % 2
    if kind.name == "zarrs.optional":
        return np.ma.array(numbers, mask=numbers == 0)
    if kind.numpy.kind in "MmSUV" and not kind.fields and kind.name.startswith(("r", "numpy", "fixed", "null")):
        size = kind.itemsize
        return np.frombuffer((b"\1" + bytes(size - 1)) * numbers.size, kind.numpy).reshape(SHAPE)
    return numbers.astype(kind.numpy) if kind.name == "struct" else numbers


def results(place: Path) -> dict[str, dict[str, dict[str, str]]]:
    """For each kind and name, what each peer does with it; the peers that are not here are left out."""
    readers = [(peer, READERS[peer.name]) for peer in PEERS if peer.name in READERS]
    found: dict[str, dict[str, dict[str, str]]] = {}
    for number, (kind, name, given) in enumerate(arrays()):
        row = found.setdefault(kind, {}).setdefault(name, {})
        path = f"a{number}"
        array = blizzarr.create_array(place / path, shape=SHAPE, **{"chunks": (3, 4), **given})
        array[...] = data_of(array)
        for peer, column in readers:
            row[column] = "no"
            if reads(peer, place, path, array):
                row[column] = "yes" if writes(peer, place, path, array) else "reads"
    return found


def reads(peer: Peer, place: Path, path: str, array: blizzarr.Array) -> bool:
    """Whether a peer reads the elements of an array."""
    try:
        if peer.name == "zarrista":
            return _is_same_in_zarrista(place, path, array[...])
        answer = peer.call("read", {"root": str(place), "path": path})
    except Exception:
        # What a peer raises for what it does not know is its own affair.
        return False
    return bool(answer["values"] == pack(array[...]))


def writes(peer: Peer, place: Path, path: str, array: blizzarr.Array) -> bool:
    """Whether blizzarr reads what a peer writes in place of an array that it has read."""
    other = f"{path}-{peer.name}"
    (place / other).mkdir()
    shutil.copy(place / path / "zarr.json", place / other)
    try:
        peer.call("rewrite", {"root": str(place), "source": path, "path": other})
    except Exception:
        return False
    assert [found for found in (place / other).rglob("*") if found.is_file()] != [place / other / "zarr.json"]
    return pack(blizzarr.open_array(place / other)[...]) == pack(array[...])


def _is_same_in_zarrista(place: Path, path: str, ours: Any) -> bool:
    """Whether zarrista reads these elements; it has tensors of its own for data types that NumPy lacks."""
    import zarrista
    from zarrista.store import FilesystemStore

    tensor = zarrista.Array.open(FilesystemStore(str(place)), f"/{path}")[...]
    if hasattr(tensor, "mask"):
        mask = np.frombuffer(tensor.mask.buffer(), "?").reshape(ours.shape)
        values = np.frombuffer(tensor.data.buffer(), ours["value"].dtype).reshape(ours.shape)
        return bool((mask == ours["is_valid"]).all() and (values[mask] == ours["value"][mask]).all())
    if ours.dtype == object:
        return list(map(_bytes, tensor.to_numpy().ravel().tolist())) == list(map(_bytes, ours.ravel().tolist()))
    return bytes(tensor.buffer()) == ours.tobytes()


def _bytes(element: Any) -> bytes:
    return element.encode() if isinstance(element, str) else bytes(element)


def table(found: dict[str, dict[str, dict[str, str]]]) -> str:
    """The results as tables, one for each kind; names with the same results are in one row."""
    columns = list(READERS.values())
    lines: list[str] = []
    for kind, rows in found.items():
        lines += [f"| {kind} | blizzarr | {' | '.join(columns)} |", "|---" * (len(columns) + 2) + "|"]
        alike: dict[tuple[str, ...], list[str]] = {}
        for name, row in rows.items():
            alike.setdefault(tuple(row.get(column, "?") for column in columns), []).append(f"`{name}`")
        for marks, names in sorted(alike.items(), key=lambda item: -item[0].count("yes")):
            lines.append(f"| {', '.join(names)} | yes | {' | '.join(marks)} |")
        lines.append("")
    return "\n".join(lines)


def page(found: dict[str, dict[str, dict[str, str]]]) -> str:
    """The page with the tables of these results."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(HEAD)
    return f"{before}{HEAD}\n\n{table(found)}\n{FOOT}{rest.partition(FOOT)[2]}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        made = results(Path(temporary))
    RESULTS.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(made), encoding="utf-8")
