"""Whether a file lies inside a directory, whatever their paths are called.

One directory may have several paths: links, mounts of a directory at a second place, and other spellings of a name
where case does not count. So device and inode are compared, and on Linux what the system says of its mounts.
"""

from __future__ import annotations

import os
import re


def is_inside(path: str, above: str) -> bool:
    """Return whether a path is that of a directory or file, or below it. Neither has to exist.

    >>> is_inside("/usr/lib/x", "/usr/lib"), is_inside("/usr/lib", "/usr/lib/x"), is_inside("/x/a", "/x/b")
    (True, False, False)
    """
    inner, outer = os.path.realpath(path), os.path.realpath(above)
    return _is_below(inner, outer) or _is_below(_unmounted(inner), _unmounted(outer)) or _is_below_inode(inner, outer)


def _is_below(path: str, above: str) -> bool:
    return f"{path.rstrip('/')}/".startswith(f"{above.rstrip('/')}/")


def _is_below_inode(path: str, above: str) -> bool:
    """Compare device and inode of what exists of `above` with those of everything above `path`."""
    known, names = above, ""
    while (found := _stat(known)) is None and os.path.dirname(known) != known:
        known, name = os.path.split(known)
        names = os.path.join(name, names)
    place = path
    while found is not None:
        here = _stat(place)
        if here is not None and os.path.samestat(here, found) and _is_below(path, os.path.join(place, names)):
            return True
        if os.path.dirname(place) == place:
            return False
        place = os.path.dirname(place)
    return False


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        # It does not exist, is below a file (a node in a zip file), or may not be looked at.
        return None


def _unmounted(path: str) -> str:
    """Return the device of a path and the path on it, which does not depend on where directories are mounted."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            mounts = [line.split(" ", 5)[2:5] for line in file]
    except OSError:
        return path
    best, at = path, ""
    for device, root, mounted in mounts:
        point = _unescaped(mounted)
        # Of several mounts at one place, the last one counts.
        if len(point) >= len(at) and _is_below(path, point):
            best, at = os.path.join(f"{device}:{_unescaped(root)}", path[len(point) :].lstrip("/")), point
    return best


def _unescaped(text: str) -> str:
    return re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), text)
