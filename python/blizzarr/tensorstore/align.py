"""Matching the dimensions of a source with those of the view that it is written to.

By label if both have labels; dimensions without one from the last on. Where lengths are equal, origins do not matter;
a dimension of length 1 is repeated, and so is every dimension that the source lacks.
"""

from __future__ import annotations

from blizzarr.errors import SpecError
from blizzarr.views.form import Form, Map

__all__ = ["align"]


def align(source: Form, target: Form) -> Form:
    """The transform from the domain of the target to that of the source.

    Raises
    ------
    SpecError
        When a length does not fit.

    Examples
    --------
    >>> from blizzarr.views import IndexDomain
    >>> align(IndexDomain(shape=[1, 4])._form, IndexDomain(shape=[2, 3, 4])._form).maps
    (0, (2, 0, 1))
    """
    matches = _matches(source, target)
    maps: list[Map] = []
    problems = []
    for dim, match in enumerate(matches):
        size = source.upper[dim] - source.lower[dim]
        if match is None:
            if size != 1:
                problems.append(f"unmatched source dimension {dim} {_shown(source, dim)} does not have a size of 1")
            maps.append(source.lower[dim])
        elif size == target.upper[match] - target.lower[match]:
            maps.append((match, source.lower[dim] - target.lower[match], 1))
        else:
            if size != 1:
                problems.append(
                    f"source dimension {dim} {_shown(source, dim)} mismatch with target dimension {match} "
                    f"{_shown(target, match)}"
                )
            maps.append(source.lower[dim])
    if problems:
        raise SpecError(f"Error aligning dimensions: {', '.join(problems)}")
    return target.domain._replace(maps=tuple(maps))


def _matches(source: Form, target: Form) -> list[int | None]:
    if not any(source.labels) or not any(target.labels):
        skipped = target.rank - source.rank
        return [dim + skipped if dim + skipped >= 0 else None for dim in range(source.rank)]
    free = [dim for dim, label in enumerate(target.labels) if not label]
    matches: list[int | None] = []
    for label in reversed(source.labels):
        if label:
            matches.append(target.labels.index(label) if label in target.labels else None)
        else:
            matches.append(free.pop() if free else None)
    return matches[::-1]


def _shown(form: Form, dim: int) -> str:
    label = form.labels[dim]
    # Bounds as they are now, implicit or not.
    return (f'"{label}": ' if label else "") + str(form.interval(dim)).replace("*", "")
