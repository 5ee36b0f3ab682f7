"""Every public function and method, called for a hierarchy: what is raised is one of our errors, and no bug of ours."""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

import blizzarr
from blizzarr import Array, Group
from blizzarr import tensorstore as ts
from blizzarr.cli import main
from blizzarr.errors import BlizzarrError, InternalError
from blizzarr.formats import FORMATS
from blizzarr.stores import MappingStore

__all__ = ["ARRAY", "GROUP", "MODULE", "call_everything", "call_of_shell", "call_tensorstore", "laid_out", "ours"]

SMALL = 1 << 12
"""Arrays of no more elements are read and copied as a whole."""
CHUNK_BYTES = 1 << 22
MEMBERS = 8

Calls = Mapping[str, Callable[[Any], object]]


def _first(array: Array) -> tuple[int, ...]:
    return (0,) * array.ndim


def _shorter(array: Array) -> tuple[int, ...]:
    return tuple(length // 2 for length in array.shape)


def _write(array: Array, key: Any) -> None:
    """Write what was read; fill values may be objects that the codec of the array refuses from users."""
    with suppress(TypeError) if array.dtype.hasobject else nullcontext():
        array[key] = array[key]


def _picture(array: Any) -> object:
    if isinstance(array, Array) and array.dtype.kind in "biufcmM" and array.ndim:
        return blizzarr.show(array, size=64)
    return None


MODULE: dict[str, Callable[[MappingStore], object]] = {
    "open": lambda store: [repr(blizzarr.open(store, mode=mode)) for mode in ("r", "r+")],
    "open_array": lambda store: blizzarr.open_array(store, mode="r"),
    "open_group": lambda store: blizzarr.open_group(store, mode="r", use_consolidated=False),
    "open_consolidated": lambda store: blizzarr.open_consolidated(store, mode="r"),
    "tree": lambda store: str(blizzarr.tree(store)),
    "check": lambda store: [str(blizzarr.check(store, fast=fast)) for fast in (True, False)],
    "upgrade": lambda store: [str(blizzarr.upgrade(store, to=form, dry_run=True)) for form in FORMATS],
    "diff": lambda store: str(blizzarr.diff(store, MappingStore({"zarr.json": _EMPTY}))),
    "consolidate_metadata": blizzarr.consolidate_metadata,
    "show": lambda store: _picture(blizzarr.open(store, mode="r")),
}
"""Calls for a whole store. What they change is a copy."""
MODULE_OF_SMALL: dict[str, Callable[[MappingStore], object]] = {
    "copy": lambda store: [blizzarr.copy(store, {}, **options) for options in ({}, {"zarr_format": 3})],
    "load": blizzarr.load,
    "diff": lambda store: str(blizzarr.diff(store, store)),
    "check": lambda store: str(blizzarr.check(store, repair=True, quarantine={})),
    "upgrade": lambda store: blizzarr.upgrade(store, to="v3"),
}
_EMPTY = b'{"zarr_format":3,"node_type":"group"}'

GROUP: dict[str, Callable[[Group], object]] = {
    "array_keys": lambda group: list(group.array_keys()),
    "array_values": lambda group: list(group.array_values()),
    "arrays": lambda group: list(group.arrays()),
    "attrs": lambda group: [repr(group.attrs), dict(group.attrs), group.attrs.update(x=1)],
    "cached": lambda group: repr(group.cached(blizzarr.CachePool(1 << 16))),
    "create_array": lambda group: group.create_array("made", shape=3, dtype="i4"),
    "create_group": lambda group: group.create_group("made/group"),
    "get": lambda group: group.get("absent"),
    "group_keys": lambda group: list(group.group_keys()),
    "group_values": lambda group: list(group.group_values()),
    "groups": lambda group: list(group.groups()),
    "info": lambda group: [str(group.info), repr(group.info)],
    "items": lambda group: list(group.items()),
    "keys": lambda group: [*group.keys(), *group, len(group), "absent" in group],
    "members": lambda group: [repr(node) for _, node in group.members(max_depth=None)],
    "name": lambda group: [group.name, group.path, group.basename, group.read_only, repr(group), group._repr_html_()],
    "nmembers": lambda group: group.nmembers(max_depth=None),
    "refresh": lambda group: group.refresh(),
    "require_array": lambda group: group.require_array("made", shape=3, dtype="i4"),
    "require_groups": lambda group: group.require_groups("made/group", "other"),
    "tree": lambda group: [str(group.tree()), repr(group.tree(level=1))],
    "unreadable": lambda group: [str(error) for error in group.unreadable(max_depth=None).values()],
    "update_attributes": lambda group: group.update_attributes({"y": [1, None]}),
    "values": lambda group: list(group.values()),
    "walk": lambda group: list(group.walk()),
    "pickle": lambda group: pickle.dumps(group.metadata),
}
ARRAY: dict[str, Callable[[Array], object]] = {
    "attrs": lambda array: [repr(array.attrs), dict(array.attrs), array.attrs.update(x=1)],
    "cached": lambda array: repr(array.cached(blizzarr.CachePool(1 << 16))),
    "chunks": lambda array: [array.chunks, array.shards, array.cdata_shape, array.nchunks, array.order],
    "codecs": lambda array: [repr(array.filters), repr(array.serializer), repr(array.compressors)],
    "dtype": lambda array: [array.dtype, array.itemsize, array.nbytes, array.size, array.ndim, array.shape],
    "fill_value": lambda array: [repr(array.fill_value), str(array.fill_value)],
    "info": lambda array: [str(array.info), repr(array.info)],
    "metadata": lambda array: [repr(array.metadata), pickle.dumps(array.metadata), array.storage_transformers],
    "name": lambda array: [array.name, array.path, array.basename, array.read_only, array.dimension_names],
    "repr": lambda array: [repr(array), str(array), array._repr_html_(), array.__dask_tokenize__()],
    "lazy": lambda array: repr(array.lazy),
    "refresh": lambda array: array.refresh(),
    "update_attributes": lambda array: array.update_attributes({"y": [1, None]}),
    "like": lambda array: [blizzarr.empty_like(array), blizzarr.zeros_like(array), blizzarr.ones_like(array)],
}
"""Calls that touch no chunks."""
ELEMENTS: dict[str, Callable[[Array], object]] = {
    "read": lambda array: [repr(array[...]), str(np.asarray(array)), array[...].tolist()],
    "get_basic_selection": lambda array: array.get_basic_selection(_first(array)),
    "oindex": lambda array: array.oindex[_first(array)],
    "vindex": lambda array: array.vindex[_first(array)],
    "blocks": lambda array: array.blocks[_first(array)],
    "lazy": lambda array: array.lazy[...].read(),
    "info_complete": lambda array: str(array.info_complete()),
    "nbytes_stored": lambda array: [array.nbytes_stored(), array.nchunks_initialized],
    "show": _picture,
    "write": lambda array: _write(array, _first(array)),
    "set": lambda array: _write(array, ...),
    "append": lambda array: array.append(array[:1]) if array.ndim else None,
    "resize": lambda array: [array.resize(_shorter(array)), array.resize(array.shape)],
    "copy": lambda array: blizzarr.copy(array, {}),
    "diff": lambda array: str(blizzarr.diff(array, blizzarr.copy(array, {}))),
    "dask": lambda array: pickle.dumps(array.metadata),
}
"""Calls for arrays with few elements, and not none."""


def ours(what: str, call: Callable[[], object]) -> Any:
    """Return the result of a call, or None if it raises an error of ours; any other exception is a finding."""
    try:
        return call()
    except InternalError as error:
        raise AssertionError(f"{what}: {error}") from error
    except BlizzarrError as error:
        str(error), error.line, repr(error)
        return None
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error


def call_everything(content: Mapping[str, bytes]) -> None:
    """Call all of it; each call that may change something gets a hierarchy of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nodes = _nodes(content)
        is_small = all(_is_small(node) for node in nodes.values() if isinstance(node, Array))
        for calls in (MODULE, MODULE_OF_SMALL if is_small else {}):
            for name, of_store in calls.items():
                ours(name, lambda of_store=of_store: of_store(MappingStore(dict(content))))  # type: ignore[misc]
        for path, node in nodes.items():
            if isinstance(node, Group):
                _call(GROUP, node, path, content)
            else:
                _call(ARRAY, node, path, content)
                if _is_small(node) and 0 not in node.shape:
                    _call(ELEMENTS, node, path, content)


def _call(calls: Calls, node: Array | Group, path: str, content: Mapping[str, bytes]) -> None:
    for name, call in calls.items():
        again = type(node)(MappingStore(dict(content)), node.path, node.metadata)  # type: ignore[arg-type]  # each its own
        ours(f"{type(node).__name__}.{name} of /{path}", lambda call=call, again=again: call(again))  # type: ignore[misc]


def _nodes(content: Mapping[str, bytes]) -> dict[str, Array | Group]:
    """Return the nodes that can be read, as far as they are few."""
    store = MappingStore(dict(content))
    root = ours("open", lambda: blizzarr.open(store, mode="r+"))
    found: dict[str, Array | Group] = {} if root is None else {"": root}
    if isinstance(root, Group):
        members = ours("members", lambda: root.members(max_depth=None)) or ()
        found.update(members[:MEMBERS])
    return found


def _is_small(array: Array) -> bool:
    meta = array.metadata
    chunk = prod(meta.write_shape) * max(1, array.itemsize)
    return array.size <= SMALL and array.size * array.itemsize <= CHUNK_BYTES and chunk <= CHUNK_BYTES


def laid_out(content: Mapping[str, bytes], place: Path) -> bool:
    """Store a hierarchy in a directory; return whether all of its keys can be names of files."""
    for key, value in content.items():
        file = place.joinpath(*key.split("/"))
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(value)
        except (OSError, ValueError):
            return False
    return True


def call_of_shell(place: Path) -> dict[str, str]:
    """Call the commands that only read; return what each printed. A traceback is a finding, as in `ours`."""
    printed = {}
    for words in (
        ["info", str(place)],
        ["tree", str(place)],
        ["ls", str(place)],
        ["ls", "--long", str(place)],
        ["check", "--fast", str(place)],
        ["diff", str(place), str(place)],
        ["upgrade", "--dry-run", str(place)],
        ["cat", str(place)],
    ):
        out, errors = io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape"), io.StringIO()
        with redirect_stdout(out), redirect_stderr(errors), _warnings_kept():
            try:
                main(words)
            except SystemExit:
                pass
            except Exception as error:
                raise AssertionError(f"{' '.join(words)}: {type(error).__name__}: {error}") from error
        out.flush()
        printed[words[0]] = out.buffer.getvalue().decode("utf-8", "replace") + errors.getvalue()  # type: ignore[attr-defined]
    return printed


@contextmanager
def _warnings_kept() -> Iterator[None]:
    """The shell has its own way to show warnings, which must not outlive it here."""
    shown = warnings.showwarning
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            warnings.showwarning = shown


def call_tensorstore(place: Path) -> None:
    """Open each array by each driver of TensorStore's interface, and ask for all that is known of it."""
    for driver in ("zarr3", "zarr", "n5", "neuroglancer_precomputed", "auto"):
        for name in ("", "bad", "good"):
            where: Any = {"kvstore": {"driver": "file", "path": f"{place / name}/"}}
            spec = where if driver == "auto" else {"driver": driver, **where}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                view = ours(f"ts.open {driver}", lambda spec=spec: _opened(spec))  # type: ignore[misc]
            if view is None:
                continue
            for what, call in {
                "repr": lambda view: repr(view),
                "spec": lambda view: [view.spec().to_json(), repr(view.spec(minimal_spec=True))],
                "schema": lambda view: [repr(view.schema), view.chunk_layout.to_json(), view.codec],
                "facts": lambda view: [view.dtype, view.domain, view.fill_value, view.dimension_units, view.url],
                "read": lambda view: view.read().result() if view.size <= SMALL else None,
                "statistics": lambda view: view.storage_statistics(query_fully_stored=True).result(),
                "resolve": lambda view: view.resolve().result(),
            }.items():
                ours(f"{driver}: {what}", lambda call=call, view=view: call(view))  # type: ignore[misc]


def _opened(spec: Any) -> Any:
    return ts.open(spec, context=ts.Context()).result()
