"""The metadata of OME-Zarr: 0.4 is for Zarr v2, 0.5 for v3.

In 0.4, the attributes of a group have each part by its name, with a version inside. In 0.5 all parts are below one
attribute, ``ome``, which has the version; and arrays have the names of the axes as names of their dimensions. Older and
newer versions have no counterpart in the other format.

https://ngff.openmicroscopy.org/0.4/ and https://ngff.openmicroscopy.org/0.5/
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from blizzarr.formats.format import Node
from blizzarr.formats.masked_value import MASKED
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import join

_OLD: Final = "0.4"
_NEW: Final = "0.5"
_NAMESPACE: Final = "ome"
_PARTS: Final = ("multiscales", "omero", "plate", "well", "labels", "image-label", "bioformats2raw.layout", "series")
_VERSIONED: Final = ("multiscales", "omero", "plate", "well", "image-label")
"""The parts that name their version in 0.4."""
_VERSIONED_STILL: Final = ("plate", "image-label")
"""The parts that name it in 0.5, too."""


@dataclass(frozen=True, slots=True)
class OmeChange:
    """The changes that the metadata of OME-Zarr demand of a node in another format."""

    notes: tuple[str, ...]
    attributes: dict[str, Any] | None = None
    """The attributes of a group; `None` if they stay."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of `create_array` for a copy of an array."""

    def of(self, node: Node) -> Node:
        """Return the node with this change."""
        if isinstance(node, ArrayMeta):
            return replace(node, dimension_names=self.options.get("dimension_names", node.dimension_names))
        return node if self.attributes is None else node.with_attributes(self.attributes)


def ome_changes(nodes: Mapping[str, Node], form: str) -> dict[str, OmeChange]:
    """Return what changes about the nodes of a hierarchy, by path, when they get the format of this name.

    >>> image = {"multiscales": [{"version": "0.4", "axes": [{"name": "x"}], "datasets": [{"path": "0"}]}]}
    >>> ome_changes({"": GroupMeta(image, format="v2")}, "v3")[""].attributes["ome"]
    {'version': '0.5', 'multiscales': [{'axes': [{'name': 'x'}], 'datasets': [{'path': '0'}]}]}
    """
    if form == "v3":
        return _to_new(nodes)
    return _to_old(nodes) if form == "v2" else {}


def _to_old(nodes: Mapping[str, Node]) -> dict[str, OmeChange]:
    owns = {path: own for path, node in nodes.items() if (own := _namespace(node)) is not None}
    versions = _around({path: {str(own["version"])} for path, own in owns.items() if "version" in own})
    changes = {}
    for path, own in owns.items():
        parts_there = [name for name in _PARTS if name in own]
        # ome-zarr-py leaves the version out where it lists labels.
        version = _nearest(path, versions) if parts_there or "version" in own else None
        if version is None:
            continue
        node = nodes[path]
        if version != _NEW or not node.attributes.keys().isdisjoint(parts_there):
            note = f"the metadata of OME-Zarr {version} stay as they are: only those of {_NEW} can become {_OLD}"
            changes[path] = OmeChange((note,))
            continue
        rest = {name: value for name, value in own.items() if name not in (*parts_there, "version")}
        attributes = {name: value for name, value in node.attributes.items() if name != _NAMESPACE}
        attributes |= {name: _versioned(own[name], _OLD) if name in _VERSIONED else own[name] for name in parts_there}
        if rest:
            attributes[_NAMESPACE] = rest
        changes[path] = OmeChange((f"the metadata of OME-Zarr {_NEW} become those of {_OLD}",), attributes)
    for path, axes in axis_names(nodes).items():
        array = nodes[path]
        assert isinstance(array, ArrayMeta)
        if array.format != "v3":
            continue
        # A copy gets the nested chunk keys that 0.4 wants.
        options: dict[str, Any] = {"chunk_key_encoding": {"name": "v2", "separator": "/"}}
        notes = []
        if array.dimension_names == axes and MASKED not in array.attributes:
            # With names, xarray would mask the fill value, and several readers of OME-Zarr do not take null for it.
            options["dimension_names"] = None
            notes.append("only the axes in OME-Zarr tell the names of the dimensions, so that the fill value can stay")
        changes[path] = OmeChange(tuple(notes), options=options)
    return changes


def one_version(nodes: Mapping[str, Node]) -> dict[str, dict[str, Any]]:
    """Return the attributes of groups of 0.4 and 0.5, by path, in one way of writing."""
    changes = _to_new(nodes)
    new = {
        path: replace(changes[path].of(node), format="v3") if path in changes else node for path, node in nodes.items()
    }
    return {path: change.attributes for path, change in _to_old(new).items() if change.attributes is not None}


def with_new_ome(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """Return the nodes of v3 with metadata of 0.4, where readers do not look for them, with those of 0.5 instead.

    >>> image = {"multiscales": [{"version": "0.4", "axes": [{"name": "x"}], "datasets": [{"path": "0"}]}]}
    >>> with_new_ome({"": GroupMeta(image)})[""].attributes["ome"]["version"]
    '0.5'
    """
    # The same is translated as in v2.
    old: dict[str, Node] = {path: replace(node, format="v2") for path, node in nodes.items() if node.format == "v3"}
    made = {path: change.of(nodes[path]) for path, change in _to_new(old).items()}
    return {path: node for path, node in made.items() if node != nodes[path]}


def axis_names(nodes: Mapping[str, Node]) -> dict[str, tuple[str, ...]]:
    """Return the names of the axes of the arrays in images of 0.4 and 0.5, by the paths of the arrays."""
    names: dict[str, tuple[str, ...]] = {}
    for path, node in nodes.items():
        if not isinstance(node, GroupMeta):
            continue
        own = _namespace(node)
        for image in _images(node.attributes if own is None else own):
            if (_version_of(image) if own is None else own.get("version")) not in (_OLD, _NEW):
                continue
            axes = _axes(image) or ()
            for array_path in _places(path, image):
                array = nodes.get(array_path)
                if axes and isinstance(array, ArrayMeta) and len(array.shape) == len(axes):
                    names.setdefault(array_path, axes)
    return names


def levels(group: GroupMeta) -> tuple[str, ...]:
    """Return the paths of the arrays of the first image in a group, from the group on, finest first; none without one.

    >>> levels(GroupMeta({"ome": {"version": "0.5", "multiscales": [{"datasets": [{"path": "s0"}, {"path": "s1"}]}]}}))
    ('s0', 's1')
    """
    own = _namespace(group)
    images = _images(group.attributes if own is None else own)
    return tuple(place for place in _places("", images[0]) if not place.startswith(("..", "/"))) if images else ()


def _namespace(node: Node) -> dict[str, Any] | None:
    own = node.attributes.get(_NAMESPACE) if isinstance(node, GroupMeta) and node.format == "v3" else None
    return own if type(own) is dict else None


def _to_new(nodes: Mapping[str, Node]) -> dict[str, OmeChange]:
    versions = _versions(nodes)
    changes = {}
    for path, node in nodes.items():
        parts_there = _parts_of(path, node, nodes)
        version = _nearest(path, versions) if parts_there else None
        if version is None:
            continue
        own = node.attributes.get(_NAMESPACE, {})
        if version != _OLD or type(own) is not dict or not own.keys().isdisjoint((*parts_there, "version")):
            note = f"the metadata of OME-Zarr {version} stay as they are: only those of {_OLD} can become {_NEW}"
            changes[path] = OmeChange((note,))
            continue
        attributes = {name: value for name, value in node.attributes.items() if name not in (*parts_there, _NAMESPACE)}
        parts = {name: node.attributes[name] for name in parts_there}
        for name in _VERSIONED:
            if name in parts:
                parts[name] = _versioned(parts[name], _NEW if name in _VERSIONED_STILL else None)
        attributes[_NAMESPACE] = {"version": _NEW, **parts, **own}
        note = f"the metadata of OME-Zarr {_OLD} become those of {_NEW}, below the attribute {_NAMESPACE}"
        changes[path] = OmeChange((note,), attributes)
    for path, axes in axis_names(nodes).items():
        array = nodes[path]
        assert isinstance(array, ArrayMeta)
        if array.format == "v3" or array.dimension_names == axes:
            continue
        listed = ", ".join(axes)
        if array.dimension_names is None:
            note = f"the dimensions get the names of the axes in OME-Zarr: {listed}"
            changes[path] = OmeChange((note,), options={"dimension_names": axes})
        else:
            changes[path] = OmeChange((f"the names of the dimensions are not those of the axes in OME-Zarr: {listed}",))
    return changes


def _parts_of(path: str, node: Node, nodes: Mapping[str, Node]) -> list[str]:
    """Return the names of the attributes of a group in v2 that are metadata of OME-Zarr."""
    if not isinstance(node, GroupMeta) or node.format == "v3":
        return []
    attributes = node.attributes
    last = path.rpartition("/")[2]
    is_part = {
        "multiscales": bool(_images(attributes)),
        "omero": bool(_images(attributes)),
        "image-label": bool(_images(attributes)),
        "plate": type(attributes.get("plate")) is dict and "wells" in attributes["plate"],
        "well": type(attributes.get("well")) is dict and "images" in attributes["well"],
        "bioformats2raw.layout": True,
        # Only the place tells these from other lists.
        "labels": _are_texts(attributes.get("labels"))
        and (last == "labels" or _leads_to_image(path, attributes, nodes)),
        "series": _are_texts(attributes.get("series")) and last == "OME",
    }
    return [name for name in _PARTS if name in attributes and is_part[name]]


def _leads_to_image(path: str, attributes: Mapping[str, Any], nodes: Mapping[str, Node]) -> bool:
    places = [join(path, name) for name in attributes["labels"]]
    return any(place_of_label in nodes and _images(nodes[place_of_label].attributes) for place_of_label in places)


def _are_texts(value: Any) -> bool:
    return type(value) is list and all(type(item) is str for item in value)


def _images(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the images that `multiscales` describes; none if it is of another convention."""
    images = attributes.get("multiscales")
    if type(images) is not list:
        return []
    described = [image for image in images if type(image) is dict and type(image.get("datasets")) is list]
    return described if len(described) == len(images) else []


def _version_of(image: Mapping[str, Any]) -> str:
    """Return the version of an image that is described as before 0.5; the axes of 0.4 are the first with names."""
    named = _axes(image) is not None
    version = image.get("version", _OLD if named else f"before {_OLD}")
    return f"{_OLD} without names of axes" if version == _OLD and not named else str(version)


def _axes(image: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the names of the axes of an image; `None` if one has none."""
    axes = image.get("axes")
    if type(axes) is not list or not axes:
        return None
    names = [axis.get("name") if type(axis) is dict else None for axis in axes]
    return tuple(map(str, names)) if _are_texts(names) else None


def _places(path: str, image: Mapping[str, Any]) -> Iterator[str]:
    for dataset in image["datasets"]:
        relative = dataset.get("path") if type(dataset) is dict else None
        if type(relative) is str:
            yield posixpath.normpath(join(path, relative))


def _versioned(part: Any, version: str | None) -> Any:
    """Return a part, or each in a list of them, with this version, or without one."""
    if type(part) is list:
        return [_versioned(item, version) for item in part]
    if type(part) is not dict:
        return part
    rest = {name: value for name, value in part.items() if name != "version"}
    return rest if version is None else {"version": version, **rest}


def _versions(nodes: Mapping[str, Node]) -> dict[str, set[str]]:
    """Return the versions of the groups in v2 that name one, and around them."""
    named: dict[str, set[str]] = {}
    for path, node in nodes.items():
        if not isinstance(node, GroupMeta) or node.format == "v3":
            continue
        versions = {_version_of(image) for image in _images(node.attributes)}
        parts = [node.attributes.get(name) for name in ("plate", "well")]
        versions = versions or {
            part["version"] for part in parts if type(part) is dict and type(part.get("version")) is str
        }
        if versions:
            named[path] = versions
    return _around(named)


def _around(named: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the versions of groups and, for groups above that have none, those of all groups below."""
    below: dict[str, set[str]] = {}
    for path, versions in named.items():
        while path:
            path = path.rpartition("/")[0]
            below.setdefault(path, set()).update(versions)
    return {**below, **named}


def _nearest(path: str, versions: Mapping[str, set[str]]) -> str | None:
    """Return the version of a group, or else that of the nearest group above; `None` if there is none."""
    while path and path not in versions:
        path = path.rpartition("/")[0]
    version = versions.get(path)
    return None if version is None else " and ".join(sorted(version))
