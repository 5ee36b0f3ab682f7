"""URLs, parsed, and the escaping of paths in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from blizzarr.errors import SpecError, UnsupportedDriverError
from blizzarr.json_values import quote
from blizzarr.stores.credentials import credentials_in, raise_from, without_secrets

_PATH = re.compile(r"[\w./~ -]+")
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


class Url(NamedTuple):
    """The parts of ``scheme://authority/path?query#fragment``; None for a query or fragment that is not there."""

    scheme: str
    has_slashes: bool
    authority: str
    path: str
    query: str | None
    fragment: str | None

    def check_slashes(self, wanted: bool) -> None:
        """Raise unless the URL has ``//`` where that is wanted: where a store is not on top of another."""
        if wanted is not self.has_slashes:
            hint = hint_of_path(self.path) if wanted and self.scheme == "file" else ""
            missing = f"{self.scheme}://" if wanted else f"{self.scheme}:"
            raise SpecError(f"Scheme {quote(missing)} not present in url{hint}")

    def refuse_query(self) -> None:
        """Raise if there is a query or a fragment, which have no meaning for a store."""
        if self.query is not None:
            raise SpecError("Query string not supported")
        self.refuse_fragment()

    def refuse_fragment(self) -> None:
        """Raise if there is a fragment, which has no meaning for a store."""
        if self.fragment is not None:
            raise SpecError("Fragment identifier not supported")


def hint_of_path(text: str) -> str:
    """Return the hint for a path that was given as a URL.

    >>> hint_of_path("/data/a b")
    '; for a path, use "file:///data/a%20b" or {"driver": "file", "path": "/data/a b"}'
    >>> hint_of_path("data")
    '; for a path, use {"driver": "file", "path": "data"}, or "file://" and the absolute path'
    """
    if not _PATH.fullmatch(text):
        return ""
    json = f'{{"driver": "file", "path": {quote(text)}}}'
    if text.startswith("/"):
        return f"; for a path, use {quote('file://' + encoded(text))} or {json}"
    return f'; for a path, use {json}, or "file://" and the absolute path'


def split_url(text: str) -> Url:
    """Split a URL into parts, without decoding.

    >>> split_url("gs://bucket/a/b?c#d")
    Url(scheme='gs', has_slashes=True, authority='bucket', path='/a/b', query='c', fragment='d')
    >>> split_url("zip:a/b")
    Url(scheme='zip', has_slashes=False, authority='', path='a/b', query=None, fragment=None)
    """
    scheme, _, rest = text.partition(":")
    rest, hash_mark, fragment = rest.partition("#")
    rest, mark, query = rest.partition("?")
    has_slashes = rest.startswith("//")
    authority, path = "", rest
    if has_slashes:
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
    return Url(scheme, has_slashes, authority, path, query if mark else None, fragment if hash_mark else None)


def decoded(text: str) -> str:
    """Decode ``%20`` and the like.

    >>> decoded("a%20b")
    'a b'
    """
    if bad := _PERCENT.search(text):
        raise SpecError(f"Invalid percent-encoding at position {bad.start()}: {quote(text)}")
    if "%" not in text:
        return text
    from urllib.parse import unquote

    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError as error:
        raise SpecError(f"Invalid UTF-8 percent-encoding sequence: {quote(text)}") from error


def encoded(text: str) -> str:
    """Encode a path for a URL."""
    from urllib.parse import quote as percent_quote

    return percent_quote(text, safe="/:@!$&'()*+,;=-._~", errors="surrogateescape")


def with_parts(text: str, apply: Callable[[str, Any], Any]) -> Any:
    """Return what `apply` makes of each part of a URL and what it made of the parts before, None at first.

    A password in the URL is not shown in errors.
    """
    if not text:
        raise SpecError("URL must be non-empty")
    made = None
    try:
        for part in text.split("|"):
            made = apply(part, made)
    except SpecError as error:
        reason, known = f"Parsing spec from url: {quote(text)}: {error.reason}", credentials_in(text)
        kind = UnsupportedDriverError if isinstance(error, UnsupportedDriverError) else SpecError
        raise_from(error, kind(without_secrets(reason, known) if known else reason), known)
    return made
