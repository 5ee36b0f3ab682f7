"""What somebody who comes from elsewhere writes first: the error says how it is written here."""

from __future__ import annotations

import inspect
import pickle
import re
from typing import Any

import numpy as np
import pytest

from tensorstore_face import ours, theirs
from unit.spec.oracle import refusal_of

_ARRAY = {"driver": "array", "array": [1, 2, 3], "dtype": "int8"}


@pytest.mark.parametrize(
    "name", ["open", "overlay", "stack", "concat", "virtual_chunked", "Schema", "ChunkLayout", "Spec.update"]
)
def test_signatures_show_the_keywords_of_theirs(name: str) -> None:
    """By name: what help() and completion show."""
    mine, other = (eval(f"ts.{name}", {"ts": library}) for library in (ours, theirs))
    text = (other.__init__ if inspect.isclass(other) else other).__doc__
    head = max((line for line in text.splitlines() if "rank: Optional" in line), key=len)
    wanted = set(re.findall(r"(\w+): (?=Optional\[|asyncio)", head))
    shown = inspect.signature(mine).parameters
    assert wanted <= set(shown), wanted - set(shown)
    assert not [row for row in shown.values() if row.kind is row.VAR_KEYWORD]
    assert all(shown[each].default is None for each in wanted)


_SHOWN = (
    *("Batch", "CodecSpec", "Context", "Context.Spec", "Dim", "IndexDomain", "IndexTransform", "KvStore.KeyRange"),
    *("KvStore.open", "KvStore.read", "KvStore.write", "KvStore.list", "KvStore.spec", "OpenMode", "OutputIndexMap"),
    *("TensorStore.StorageStatistics", "TensorStore.read", "TensorStore.resize", "TensorStore.resolve"),
    *("TensorStore.spec", "TensorStore.storage_statistics", "TensorStore.write", "Transaction", "Unit"),
    *("array", "cast", "downsample"),
)


@pytest.mark.parametrize("name", _SHOWN)
def test_signatures_show_what_theirs_take(name: str) -> None:
    """Under whatever overload, with defaults that can be read; and there is a text about it."""
    mine, other = (eval(f"ts.{name}", {"ts": library}) for library in (ours, theirs))
    heads = [
        line
        for line in (other.__init__ if inspect.isclass(other) else other).__doc__.splitlines()
        if re.match(rf"(\d+\. )?({name.split('.')[-1]}|__init__)\(", line)
    ]
    wanted = {found for head in heads for found in re.findall(r"[(,] ?(?:\*, )?(\w+): ", head)} - {"self"}
    shown = inspect.signature(mine).parameters
    assert wanted <= set(shown), wanted - set(shown)
    assert not [row for row in shown.values() if row.kind is row.VAR_KEYWORD or "object at" in repr(row.default)]
    assert inspect.getdoc(mine)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("ts.open(spec, creat=True)", "open(): unexpected keyword arguments: creat; did you mean 'create'?"),
        ("ts.open(spec, trnsaction=None, contxt=1)", "did you mean 'context'?"),
        ("ts.open(spec, chunks=[1])", "for 'chunks', use chunk_layout=ts.ChunkLayout(chunk_shape=...)"),
        ("ts.open(spec, shards=[1])", "write_chunk_shape=..., read_chunk_shape=...)"),
        ("ts.open(spec, mode='r')", "for 'mode', use open=True, create=True"),
        (
            "ts.Spec(spec, creat=True)",
            "update(): unexpected keyword arguments: creat; did you mean 'create'?",
        ),
        ("ts.Spec(spec, create=True)", "Spec() takes JSON alone, create=True and the like are for Spec.update() and "),
        ("ts.open(spec).result().spec(creat=1)", "spec(): unexpected keyword arguments: creat; did you mean 'create'?"),
        ("ts.open(spec).result().spec(rank=1)", "spec(): unexpected keyword arguments: rank; there are minimal_spec, "),
        ("ts.Context(sepc={})", "Context(): unexpected keyword arguments: sepc; did you mean 'spec'?"),
        ("ts.Dim(siz=3)", "Dim(): unexpected keyword arguments: siz; did you mean 'size'?"),
        ("ts.OutputIndexMap(ofset=1)", "OutputIndexMap(): unexpected keyword arguments: ofset; did you mean 'offset'?"),
        ("ts.IndexDomain(shap=[1])", "IndexDomain(): unexpected keyword arguments: shap; did you mean 'shape'?"),
        ("ts.IndexTransform(input_shap=[1])", "input_shap; did you mean 'input_shape'?"),
        ("ts.OpenMode(creat=True)", "OpenMode(): unexpected keyword arguments: creat; did you mean 'create'?"),
        ("ts.DimExpression()", "constructor"),
        ("ts.Schema(shap=[1])", "Schema(): unexpected keyword arguments: shap; did you mean 'shape'?"),
        ("ts.Spec(spec).update(dtyp='int8')", "update(): unexpected keyword arguments: dtyp; did you mean 'dtype'?"),
        ("ts.ChunkLayout(chunk_shap=[1])", "ChunkLayout(): unexpected keyword arguments: chunk_shap"),
        ("ts.ChunkLayout.Grid(xyz=[1])", "there are json, rank, shape, "),
        ("ts.stack([], layer=1)", "At least one layer"),
        ("ts.stack([ts.array([1])], dtpe=1)", "stack(): unexpected keyword arguments: dtpe; did you mean 'dtype'?"),
        ("ts.virtual_chunked(print, dtpe=1)", "virtual_chunked(): unexpected keyword arguments: dtpe"),
        ("ts.open(spec, chunk_layout={})", "Invalid chunk_layout: expected ChunkLayout, found dict"),
        ("ts.open(spec, codec='zstd')", "Invalid codec: expected CodecSpec, found str"),
        ("ts.open(spec, context={})", "Invalid context: expected Context, found dict"),
        ("ts.Schema(shape=5)", "Invalid shape: 'int' object is not iterable"),
        ("ts.stack([np.zeros(3)])", "expected a TensorStore or a Spec, found ndarray"),
        ("ts.downsample(ts.array([1]), 2, 'mean')", "Invalid downsample_factors: expected one integer"),
        ("ts.downsample(ts.array([1]), [2], 1)", "Invalid method: expected text, found 1"),
        ("ts.IndexDomain([3, 4])", "expected dimensions (Dim), found 3; a shape is given as shape=[...]"),
        ("ts.Context()[0]", "expected the key of a resource, as text, found 0"),
        ("ts.open(spec)[0]", "a Future cannot be indexed: call .result() or await it first"),
        ("iter(ts.open(spec))", "not iterable"),
    ],
)
def test_what_is_said_wrongly(call: str, text: str) -> None:
    """The same class as theirs, and how it is said."""
    for library in (theirs, ours):
        with pytest.raises((TypeError, ValueError)) as caught:
            eval(call, {"ts": library, "np": np, "spec": _ARRAY})
    assert isinstance(caught.value, ValueError if text.startswith("At least") else TypeError)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("x/u", '; for a path, use {"driver": "file", "path": "x/u"}, or "file://" and the absolute path'),
        ("/a b/x", '; for a path, use "file:///a%20b/x" or {"driver": "file", "path": "/a b/x"}'),
        ("file:x", '; for a path, use {"driver": "file", "path": "x"}, or "file://" and the absolute path'),
        ({"driver": "zarr3", "kvstore": "/x"}, '; for a path, use "file:///x" or {"driver": "file", "path": "/x"}'),
        ({"driver": "zarr3", "kvstore": "fil:///x"}, '; did you mean "file"? There are "memory", "file", '),
        ({"driver": "zarr3", "kvstore": {"driver": "fil"}}, '; did you mean "file"? There are "memory", "file", '),
        ({"driver": "zar", "kvstore": "memory://"}, '; did you mean "zarr"? There are "zarr3", "zarr", "n5", '),
        ({"driver": "Zarr3", "kvstore": "memory://"}, '; did you mean "zarr3"? There are '),
        ({"driver": "tiles", "kvstore": "memory://"}, '; there are "zarr3", "zarr", "n5", '),
        ("file:///x|zar3", '; did you mean "zarr3"? There are "zip", "ocdbt", "zarr3", '),
        ("fil:///x", '; did you mean "file"? There are "memory", "file", '),
    ],
)
def test_places_and_drivers_that_are_none(spec: Any, hint: str) -> None:
    """What TensorStore names, and what may have been meant."""
    said = []
    for library in (theirs, ours):
        with pytest.raises(ValueError, match=r"scheme|Scheme|registered") as caught:
            library.open(spec).result()
        said.append(refusal_of(caught.value))
    assert hint in str(caught.value)
    assert said[1] == said[0]


@pytest.mark.parametrize("name", ["shape", "domain", "read", "write"])
def test_what_is_asked_of_a_future(name: str) -> None:
    """It is a future still: its result has that."""
    future: Any = ours.open(_ARRAY)
    with pytest.raises(AttributeError, match=rf"'Future' object has no attribute '{name}': call .result\(\) or await"):
        getattr(future, name)
    assert not hasattr(future, "__array__")
    with pytest.raises(TypeError):
        pickle.dumps(future)
