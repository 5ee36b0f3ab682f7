"""Extensions in documents of the draft, objects that name what they need by a URI; and attributes.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#extensions
"""

from __future__ import annotations

from typing import Any, Final

from blizzarr.formats.document import check_depth
from blizzarr.problems import MISSING, Problems, unknown_members

_NOT_HERE: Final = "none is known here; ask whoever wrote the hierarchy"


def extension_point(value: dict[str, Any], path: str, problems: Problems, point: str) -> None:
    """Add a problem for an unknown extension in place of a part of the core specification.

    `point` names that part, like "chunk grid". An object that names no extension is another problem.
    """
    before = len(problems.items)
    uri = value.get("extension", MISSING)
    if type(uri) is not str:
        problems.add(f"{path}.extension", f"the URI of a {point}", uri)
    if "type" not in value:
        problems.add(f"{path}.type", f"the type of a {point}", MISSING)
    if len(problems.items) == before:
        problems.unknown(f"{path}.extension", point, uri, _NOT_HERE)


def check_extensions(value: Any, problems: Problems) -> None:
    """Check the list of extensions of a hierarchy or an array; add a problem for each that must be understood."""
    if type(value) is not list:
        problems.add("extensions", "a list of extensions", value)
        return
    for index, item in enumerate(value):
        where = f"extensions[{index}]"
        if type(item) is not dict:
            problems.add(where, "an extension: an object with extension and must_understand", item)
            continue
        before = len(problems.items)
        uri, understand = item.get("extension", MISSING), item.get("must_understand", MISSING)
        if type(uri) is not str:
            problems.add(f"{where}.extension", "the URI of an extension", uri)
        if type(understand) is not bool:
            problems.add(f"{where}.must_understand", "true or false", understand)
        unknown_members(item, ("extension", "must_understand", "configuration"), problems, where)
        if understand is True and len(problems.items) == before:
            problems.unknown(f"{where}.extension", "required extension", uri, _NOT_HERE)


def decode_attributes(document: dict[str, Any], problems: Problems) -> dict[str, Any]:
    """Decode the attributes of an array or a group."""
    value = document.get("attributes", MISSING)
    if type(value) is not dict:
        problems.add("attributes", "an object", value)
        return {}
    check_depth(value, "attributes", problems)
    return dict(value)
