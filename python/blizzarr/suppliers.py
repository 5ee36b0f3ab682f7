"""Names in documents that this library does not know: what each is, and which package supplies or reads it.

The names of the registry (https://github.com/zarr-developers/zarr-extensions) are checked against this table by
`tests/unit/codecs/test_catalogue.py`; others are written by known programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_ZARRS: Final = "an experimental {point} of zarrs, which the packages zarrista (Python) and zarrs (Rust) read"
_NOT_HERE: Final = (
    "not in the registry of Zarr extensions, nor in an installed package; ask whoever wrote it, check the spelling, "
    "or, if it is yours, register it first: blizzarr.register_{point}"
)

SUPPLIERS: Final[Mapping[str, Mapping[str, str]]] = {
    "codec": {
        "n5": "blocks of N5, which are in no registry; blizzarr.copy stores their elements anew",
        "numcodecs": "codecs that their users registered with numcodecs; only v2 documents can name them",
        "numcodecs.": "no codec of numcodecs that is known here; if there is one of this name, zarr-python reads it",
        "imagecodecs_": "a codec of the package imagecodecs: pip install imagecodecs-zarr; "
        "for v2 documents, and numcodecs.imagecodecs_ in v3, pip install 'blizzarr[images]' is enough",
        **dict.fromkeys(("jpeg", "jpegxl"), "a codec that is proposed for the registry; imagecodecs_jpeg is read here"),
        "virtual_tiff.": "a codec of the package virtual-tiff: pip install virtual-tiff",
        "zarrs.": _ZARRS.format(point="codec"),
        "https://codec.zarrs.dev/": _ZARRS.format(point="codec"),
    },
    "data type": {
        "swapped": "fields of both byte orders in one struct; a copy of the array has one",
        "subarray": "a field of several elements, which only v1, v2 and the draft have",
        "object": "any objects of Python, which only v2 has (zarr_format=2), and the draft as zarr-python spelled it; "
        "for texts and bytes there are string and bytes",
        "zarrs.": _ZARRS.format(point="data type"),
    },
    "chunk grid": {"zarrs.": _ZARRS.format(point="chunk grid")},
    "chunk key encoding": {
        "default_with_suffix": "keys with an ending, which are named suffix or zarrs.default_suffix",
        "zarrs.": _ZARRS.format(point="chunk key encoding"),
    },
}
"""What is known of a name, by the kind of extension; a name that ends with ``.``, ``_`` or ``/`` begins others."""


def supplier(point: str, name: str) -> str:
    """Return a text about a name that is not known: what it is, and which package supplies or reads it.

    >>> supplier("chunk key encoding", "default_with_suffix")
    'keys with an ending, which are named suffix or zarrs.default_suffix'
    >>> supplier("codec", "zarrs.unheard_of")
    'an experimental codec of zarrs, which the packages zarrista (Python) and zarrs (Rust) read'
    """
    known = SUPPLIERS[point]
    if name in known:
        return known[name]
    for begin, text in known.items():
        if begin[-1] in "._/" and name.startswith(begin):
            return text
    return _NOT_HERE.format(point=point.replace(" ", "_"))
