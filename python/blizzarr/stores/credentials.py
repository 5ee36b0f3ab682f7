"""Keeping credentials out of errors and representations, which end up in logs.

URLs may hold them, in front of the host or as a signature behind the path, and so may the options of file systems. Some
of fsspec's keep the whole URL as the path, and name it in their errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

_SECRET: Final = re.compile(r"(?<=://)[^/?#\s]*@|(?:(?<=\?)|(?<=%3[Ff]))\S+")
"""In URLs: what is before the host, and what is after the path, also where that was taken for a part of the path."""
_USER: Final = re.compile(r"(?:^|(?<=://))[^/?#\s:]*:(?!//)[^/?#\s]*@")
"""A name and a password before a host, also without a scheme: some file systems take them for a part of the path."""
_OPTION: Final = re.compile(r"key|secret|token|pass|pwd|auth|cred|sas|sign|cookie|header|account|user", re.IGNORECASE)
"""In the names of options whose values are not shown."""
_LEAST: Final = 4
"""The length from which on credentials are recognised in a text: shorter ones are parts of words."""


def without_secrets(text: str, known: tuple[str, ...] = ()) -> str:
    """Return a text without what may be credentials in the URLs in it, and without these that are `known`.

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

    >>> credentials_in("zip://x::s3://me:secret@bucket/a.zip"), credentials_in("me:secret@bucket/a.zip")
    (('me:secret@', 'secret'), ('me:secret@', 'secret'))
    >>> credentials_in("", {"anon": False, "token": "abcdef", "client": {"headers": {"X": "ghijkl"}}, "region": "eu"})
    ('abcdef', 'ghijkl')
    """
    texts = set(_texts(options, False))
    for user in _USER.findall(url):
        texts |= {user, user.partition(":")[2].removesuffix("@")}
    # The longest first: others may be a part of it.
    return tuple(sorted((text for text in texts if len(text) >= _LEAST), key=lambda text: (-len(text), text)))


def _texts(value: Any, hidden: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _texts(member, hidden or _OPTION.search(str(name)) is not None)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _texts(member, hidden)
    elif hidden and isinstance(value, str):
        yield value


def raise_from(error: BaseException, raised: BaseException, known: tuple[str, ...] = ()) -> NoReturn:
    """Raise an exception that is caused by another one, which is left out if it would show credentials.

    Whoever reports errors may show what was being handled, too, even of an exception that is raised ``from None``.
    """
    try:
        raise raised from error
    except BaseException:
        hide_causes(raised, known)
        raise
    finally:
        # The exception remembers this frame, which need not remember the exception: nobody would free the two, and what
        # the other frames hold (a zip file that is open, elements), before Python next looks for cycles.
        del error, raised


def hide_causes(raised: BaseException, known: tuple[str, ...] = ()) -> None:
    """Remove what an exception was caused by, and raised during, if that would show credentials."""
    if raised.__cause__ is not None and _shows(raised.__cause__, known):
        raised.__cause__ = None
    if raised.__context__ is not None and _shows(raised.__context__, known):
        raised.__context__ = None


def _shows(error: BaseException, known: tuple[str, ...]) -> bool:
    """Return whether an exception, or one behind it, shows credentials."""
    behind: list[BaseException | None] = [error]
    visited: set[int] = set()
    while behind:
        one = behind.pop()
        if one is None or id(one) in visited:
            continue
        visited.add(id(one))
        for text in (str(one), repr(one), *getattr(one, "__notes__", ())):
            if without_secrets(text, known) != text:
                return True
        behind += (one.__cause__, one.__context__)
    return False
