"""Keeping credentials out of errors and representations, which end up in logs.

URLs may hold them, in front of the host or as a signature behind the path, and so may the options of file systems. Some
of fsspec's keep the whole URL as the path, and name it in their errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

__all__ = ["credentials_in", "shown_cause", "without_secrets"]

_SECRET: Final = re.compile(r"(?<=://)[^/?#\s]*@|(?<=\?)[^\s#]+")
"""In URLs: what is before the host, and what is after the path."""
_USER: Final = re.compile(r"(?:^|(?<=://))[^/?#\s:]*:(?!//)[^/?#\s]*@")
"""A name and a password before a host, also without a scheme: some file systems take them for a part of the path."""
_OPTION: Final = re.compile(r"key|secret|token|pass|pwd|auth|cred|sas|sign|cookie|header|account|user", re.IGNORECASE)
"""In the names of options whose values are not shown."""
_LEAST: Final = 4
"""The length from which on credentials are recognised in a text: shorter ones are parts of words."""


def without_secrets(text: str, known: tuple[str, ...] = ()) -> str:
    """Return a text without what may be credentials in the URLs in it, and without these that are `known`.

    Examples
    --------
    >>> without_secrets("GET https://me:s@cret@example.org/a?signature=b failed")
    'GET https://example.org/a?... failed'
    >>> without_secrets("access denied to abcdef", ("abcdef",))
    'access denied to ...'
    """
    text = _SECRET.sub(lambda found: "" if found[0].endswith("@") else "...", text)
    for secret in known:
        text = text.replace(secret, "...")
    return text


def credentials_in(url: str, options: object = None) -> tuple[str, ...]:
    """Return what may be credentials in a URL, or in a path that was made of one, and in the options of a file system.

    Examples
    --------
    >>> credentials_in("zip://x::s3://me:secret@bucket/a.zip"), credentials_in("me:secret@bucket/a.zip")
    (('me:secret@', 'secret'), ('me:secret@', 'secret'))
    >>> credentials_in("", {"anon": False, "token": "abcdef", "client": {"headers": {"X": "ghijkl"}}, "region": "eu"})
    ('abcdef', 'ghijkl')
    """
    found = set(_texts(options, False))
    for user in _USER.findall(url):
        found |= {user, user.partition(":")[2].removesuffix("@")}
    # The longest first: others may be a part of it.
    return tuple(sorted((text for text in found if len(text) >= _LEAST), key=lambda text: (-len(text), text)))


def _texts(value: Any, hidden: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _texts(member, hidden or _OPTION.search(str(name)) is not None)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _texts(member, hidden)
    elif hidden and isinstance(value, str):
        yield value


def shown_cause(error: BaseException, known: tuple[str, ...] = ()) -> BaseException | None:
    """Return an exception as the cause of another one, or None if it would show credentials, as causes are shown, too.

    Examples
    --------
    >>> shown_cause(OSError("GET https://example.org/a failed")), shown_cause(OSError("GET https://me:s@example.org/a"))
    (OSError('GET https://example.org/a failed'), None)
    """
    chain: BaseException | None = error
    seen: set[int] = set()
    while chain is not None and id(chain) not in seen:
        seen.add(id(chain))
        for text in (str(chain), repr(chain), *getattr(chain, "__notes__", ())):
            if without_secrets(text, known) != text:
                return None
        chain = chain.__cause__ or chain.__context__
    return error
