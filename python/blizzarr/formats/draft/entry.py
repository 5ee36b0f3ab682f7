"""The entry point of a hierarchy of the draft: ``zarr.json``.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#entry-point-metadata

It has the version of the hierarchy, and the encoding and key suffix of the other documents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from blizzarr.formats.document import dump, load
from blizzarr.formats.draft.extension import check_extensions, extension_point
from blizzarr.formats.draft.keys import DEFAULT_SUFFIX, ENTRY, DraftKeys, Spelling
from blizzarr.problems import MISSING, Problems, unknown_members

_CORE: Final = "https://purl.org/zarr/spec/core/3.0"
_PROTOCOL: Final = "https://purl.org/zarr/spec/protocol/core/3.0"
_VERSION: Final = re.compile(r"https?://purl\.org/zarr/spec/(?:protocol/)?core/(\d{1,9})\.(\d{1,9})", re.ASCII)
_SUFFIX: Final = re.compile(r"[A-Za-z0-9._-]*", re.ASCII)
_MEMBERS: Final = {
    Spelling.DOCUMENT: ("zarr_format", "metadata_encoding", "extensions"),
    Spelling.ZARR_PYTHON: ("zarr_format", "metadata_encoding", "metadata_key_suffix", "extensions"),
}


def is_entry(document: Mapping[str, Any]) -> bool:
    """Return whether a ``zarr.json`` is the entry point of a hierarchy of the draft, where the format is a URI."""
    version = document.get("zarr_format")
    return type(version) is str and "://" in version


def read(raw: bytes) -> DraftKeys | None:
    """Decode an entry point, which tells spelling and suffix; `None` for a ``zarr.json`` of another format.

    Raise `MetadataError` if it does not conform; the error has all problems. An `UnknownExtensionError` if it needs an
    unknown extension.
    """
    problems = Problems()
    document = load(raw, problems)
    problems.raise_any(key=ENTRY)
    assert document is not None
    if not is_entry(document):
        return None
    newer = _check_version(document["zarr_format"], problems)
    encoding = document.get("metadata_encoding", MISSING)
    if type(encoding) is str or "metadata_key_suffix" in document:
        spelling, path = Spelling.ZARR_PYTHON, "metadata_key_suffix"
        if encoding not in (_CORE, _PROTOCOL):
            problems.add("metadata_encoding", f'"{_PROTOCOL}"', encoding)
        suffix = document.get("metadata_key_suffix", MISSING)
    else:
        spelling, path = Spelling.DOCUMENT, "metadata_encoding.metadata_key_suffix"
        suffix = _encoded(encoding, problems)
    if suffix_problem(suffix):
        problems.add(path, 'letters, digits, "-", "_" and ".", like ".json"', suffix)
    check_extensions(document.get("extensions", MISSING), problems)
    if not newer:
        unknown_members(document, _MEMBERS[spelling], problems)
    problems.raise_any(key=ENTRY, document=document)
    return DraftKeys(spelling, suffix)


def _check_version(uri: str, problems: Problems) -> bool:
    """Return whether this is a later version, whose new members are ignored; add a problem for other major versions."""
    match = _VERSION.fullmatch(uri)
    if match is None or int(match[1]) != 3:
        problems.add("zarr_format", f"the URI of a version 3 of the core specification, like {_CORE}", uri)
        return True
    return int(match[2]) > 0


def _encoded(encoding: Any, problems: Problems) -> Any:
    """Decode the suffix in a `metadata_encoding` object."""
    if type(encoding) is not dict:
        expected = 'an object like {"type": "json", "metadata_key_suffix": ".json"}'
        problems.add("metadata_encoding", expected, encoding)
        return DEFAULT_SUFFIX
    if "extension" in encoding:
        extension_point(encoding, "metadata_encoding", problems, "metadata encoding")
    elif encoding.get("type") != "json":
        problems.add("metadata_encoding.type", '"json", or an extension', encoding.get("type", MISSING))
    else:
        unknown_members(encoding, ("type", "metadata_key_suffix"), problems, "metadata_encoding")
    return encoding.get("metadata_key_suffix", MISSING)


def suffix_problem(suffix: Any) -> bool:
    """Return whether a suffix is invalid at the end of a key."""
    return type(suffix) is not str or _SUFFIX.fullmatch(suffix) is None


def write(keys: DraftKeys) -> bytes:
    """Encode an entry point."""
    document: dict[str, Any]
    if keys.spelling is Spelling.DOCUMENT:
        encoding = {"type": "json", "metadata_key_suffix": keys.suffix}
        document = {"zarr_format": _CORE, "metadata_encoding": encoding}
    else:
        document = {"zarr_format": _PROTOCOL, "metadata_encoding": _PROTOCOL, "metadata_key_suffix": keys.suffix}
    return dump({**document, "extensions": []}, ENTRY)
