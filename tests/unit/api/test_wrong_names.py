"""Names that are not there, misspelled or from zarr-python, are errors that say what to use."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import renamed
from blizzarr.model import ArrayMeta, GroupMeta

FUNCTIONS = [name for name in blizzarr.__all__ if inspect.isfunction(getattr(blizzarr, name)) and name != "durable"]
FUNCTIONS = [name for name in FUNCTIONS if not name.startswith("register_")]  # they have no keywords to mistype
MEMBERS = {"save", "save_group"}
"""They take arrays under any name."""


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - MEMBERS))
def test_every_function_tells_which_keywords_it_has(name: str) -> None:
    """Also where a function only passes them on, and whatever it is given otherwise."""
    function: Callable[..., Any] = getattr(blizzarr, name)
    needed = [row for row in inspect.signature(function).parameters.values() if row.default is row.empty]
    values = {row.name: {} if row.name in ("store", "dest", "a", "b", "group") else 1 for row in needed}
    given = {name: value for name, value in values.items() if name not in ("options", "arrays")}
    with pytest.raises(TypeError, match=r"^\w+\(\): unexpected keyword arguments: qqqq; there are ") as caught:
        function(**given, qqqq=1)
    assert "unknown" not in str(caught.value)
    assert "unknown" not in str(inspect.signature(function))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: blizzarr.create_array({}, shap=3), "create_array(): unexpected keyword arguments: shap; did you mean"),
        (lambda: blizzarr.create_array({}, shape=3, dtype="i4", chunk=3), "chunk; did you mean 'chunks'?"),
        (lambda: blizzarr.open({}, mod="r"), "open(): unexpected keyword arguments: mod; did you mean 'mode'?"),
        (lambda: blizzarr.zeros(3, chunk=3), "chunk; did you mean 'chunks'?"),
        (lambda: blizzarr.zeros(3, compressor=None), "compressor; for 'compressor', use compressors="),
        (lambda: blizzarr.zeros(3, dims=["x"]), "for 'dims', use dimension_names="),
        (lambda: blizzarr.zeros(3, dimension_separator="/"), 'use chunk_key_encoding=("v2", "/")'),
        (
            lambda: blizzarr.zeros(3, mode="w"),
            "for 'mode', use overwrite=True, or open and open_array, which have modes",
        ),
        (
            lambda: blizzarr.create_array({}, shape=3, dtype="i4", config={}),
            "use blizzarr.config.set, like write_empty",
        ),
        (
            lambda: blizzarr.create_array({}, shape=3, dtype="i4", storage_options={}),
            "pass FsspecStore.from_url(url, st",
        ),
        (lambda: blizzarr.open_group({}, storage_options={}), "pass FsspecStore.from_url(url, storage_options) or"),
        (lambda: blizzarr.open({}, mode="w", storage_options={}), "pass FsspecStore.from_url(url, storage_options) or"),
        (lambda: blizzarr.group({}, synchronizer=None), "for 'synchronizer', leave it out: writers of one chunk wait"),
        (lambda: blizzarr.open_group({}, zarr_version=2), "for 'zarr_version', use zarr_format="),
        (lambda: blizzarr.zeros_like(np.ones(3), overwrit=True), "overwrit; did you mean 'overwrite'?"),
        (lambda: blizzarr.open({}, mode="w", shap=3), "shap; did you mean 'shape'?"),
        (lambda: blizzarr.open({}, mode="a", atributes={}), "atributes; did you mean 'attributes'?"),
        (lambda: blizzarr.open_array({}, mode="w", shap=3), "shap; did you mean 'shape'?"),
        (
            lambda: blizzarr.open({}, mode="w", dtype="i4"),
            "expected shape= or data= with dtype, which groups do not have",
        ),
        (lambda: blizzarr.open({}, mode="w", shape=3, overwrite=True), "overwrite= is for create_array; here the mode"),
        (lambda: blizzarr.group({}, atributes={}), "group(): unexpected keyword arguments: atributes; did you mean"),
        (lambda: blizzarr.open_group({}, consolidated=True), "consolidated; did you mean 'use_consolidated'?"),
        (lambda: blizzarr.copy(blizzarr.group(), {}, chunk=3), "copy(): unexpected keyword arguments: chunk; did you"),
        (lambda: blizzarr.copy([1], {}, name="a"), "copy(): unexpected keyword arguments: name; for 'name', use path="),
        (lambda: blizzarr.copy([1], {}, resum=True), "resum; did you mean 'resume'?"),
        (lambda: blizzarr.open({}, chunk=3), "open(): unexpected keyword arguments: chunk; did you mean 'chunks'?"),
        (lambda: blizzarr.open_array({}, chunk=3), "open_array(): unexpected keyword arguments: chunk; did you mean"),
        (lambda: blizzarr.group().create_group("a", atributes={}), "create_group(): unexpected keyword arguments"),
        (lambda: blizzarr.group().create_array("a", shap=3), "shap; did you mean 'shape'?"),
        (lambda: blizzarr.group().create_array("a", shape=3, dtype="i4", overwrit=1), "did you mean 'overwrite'?"),
        (lambda: blizzarr.group().require_array("a", shape=3, chunk=3), "chunk; did you mean 'chunks'?"),
    ],
)
def test_misspelled_keywords(call: Callable[[], object], expected: str) -> None:
    """The text says what was probably meant, and no name that only we know."""
    with pytest.raises(TypeError) as caught:
        call()
    assert expected in str(caught.value)
    assert "describe" not in str(caught.value)
    assert "make_" not in str(caught.value)


def test_a_path_in_the_place_of_the_mode() -> None:
    """It is second in h5py and others."""
    with pytest.raises(ValueError, match=r"found 'brain/t1'; a path in the store is path='brain/t1'$"):
        blizzarr.open({}, "brain/t1")
    with pytest.raises(ValueError, match=r"found 'rb'$"):
        blizzarr.open({}, "rb")


def test_names_of_the_module() -> None:
    """``import blizzarr as zarr``: what has another name here is told."""
    module: Any = blizzarr
    for name, advice in renamed.MODULE.items():
        with pytest.raises(AttributeError) as caught:
            getattr(module, name)
        assert str(caught.value) == f"module 'blizzarr' has no attribute {name!r}; {advice}"
    guesses = {"LocalStore", "delete", "info", "ls", "move", "read", "remove", "rename", "rm", "to_zarr", "validate"}
    assert guesses <= renamed.MODULE.keys()
    with pytest.raises(AttributeError, match=r"^module 'blizzarr' has no attribute 'creat_array'$") as caught:
        module.creat_array  # noqa: B018
    # From these Python makes its own suggestion.
    assert (caught.value.name, caught.value.obj) == ("creat_array", blizzarr)
    assert not hasattr(module, "storage")
    for name in ("dask", "tensorstore", "xarray"):
        with pytest.raises(AttributeError, match=rf"import it first, with import blizzarr\.{name}$"):
            raise renamed.no_attribute(None, "module 'blizzarr'", name, renamed.MODULE)


def test_names_of_arrays_and_groups() -> None:
    """Attributes of zarr-python's classes."""
    root: Any = blizzarr.group()
    with pytest.raises(AttributeError, match=r"^'Group' object has no attribute 'create_dataset'; use create_array$"):
        root.create_dataset("a", shape=3)
    with pytest.raises(AttributeError, match=r"^'Group' object has no attribute 'creat_array'; if it is"):
        root.creat_array("a", shape=3)
    for name, advice in renamed.GROUP.items():
        with pytest.raises(AttributeError) as caught:
            getattr(root, name)
        assert str(caught.value) == f"'Group' object has no attribute {name!r}; {advice}"
    named = {"clear", "consolidate", "copy", "delete", "pop", "remove", "rename", "update"}
    assert named <= renamed.GROUP.keys(), "what mappings have, or is a verb, is no member"
    z: Any = blizzarr.zeros(3)
    with pytest.raises(AttributeError, match=r"^'Array' object has no attribute 'compressor'; use compressors$"):
        z.compressor  # noqa: B018
    with pytest.raises(AttributeError, match=r"'values'; read elements with array\[\.\.\.\]$"):
        z.values  # noqa: B018


@pytest.mark.parametrize(
    ("module", "name", "advice"),
    [
        (
            "errors",
            "ContainsArrayError",
            "use NodeExistsError, or NodeTypeError where a node of the other kind was opened",
        ),
        ("errors", "BaseZarrError", "use BlizzarrError"),
        ("codecs", "BloscShuffle", "use 'noshuffle', 'shuffle' or 'bitshuffle'"),
        ("codecs", "VLenUTF8Codec", "use VlenUtf8Codec"),
        ("codecs.numcodecs", "Delta", renamed.CODECS["Delta"]),
    ],
)
def test_names_of_other_modules(module: str, name: str, advice: str) -> None:
    """``zarr.errors``, ``zarr.codecs`` and ``zarr.storage`` have names of their own."""
    found = importlib.import_module(f"blizzarr.{module}")
    with pytest.raises(AttributeError) as caught:
        getattr(found, name)
    assert str(caught.value) == f"module 'blizzarr.{module}' has no attribute {name!r}; {advice}"
    with pytest.raises(AttributeError, match=r"has no attribute 'Qqqq'$"):
        found.Qqqq  # noqa: B018


def test_names_of_metadata() -> None:
    """Programs ask the metadata for the format, and groups for what is consolidated."""
    root: Any = blizzarr.group()
    with pytest.raises(
        AttributeError, match=r"^'GroupMeta' object has no attribute 'consolidated_metadata'; use conso"
    ):
        root.metadata.consolidated_metadata  # noqa: B018
    with pytest.raises(AttributeError, match=r"^'ArrayMeta' object has no attribute 'zarr_format'; use format$"):
        root.zeros("a", shape=3).metadata.zarr_format  # noqa: B018
    with pytest.raises(AttributeError, match=r"'to_dict'; read the document from the store: json.loads"):
        root["a"].metadata.to_dict()


def test_settings_of_zarr_python() -> None:
    """Its settings have other names, and are read by methods."""
    config: Any = blizzarr.config
    with pytest.raises(
        AttributeError, match=r"^'Config' object has no attribute 'get'; settings are attributes, like "
    ):
        config.get("array.order")
    for name, advice in renamed.SETTINGS.items():
        with pytest.raises(ValueError, match="there is no setting") as caught:
            config.set({name: 1})
        assert str(caught.value) == f"there is no setting {name!r}; {advice}"


def test_advice_is_about_what_is_not_there() -> None:
    """No name that exists is in the tables, so no table outlives its reason."""
    assert [name for name in renamed.MODULE if name in vars(blizzarr)] == []
    assert [name for name in renamed.GROUP if name in dir(blizzarr.Group)] == []
    assert [name for name in renamed.ARRAY if name in dir(blizzarr.Array)] == []
    assert [name for name in renamed.METADATA if name in dir(ArrayMeta) and name in dir(GroupMeta)] == []
    assert [name for name in renamed.CONFIG if name in dir(blizzarr.config)] == []
    for module, names in (
        (blizzarr.errors, renamed.ERRORS),
        (blizzarr.codecs, renamed.CODECS),
        (blizzarr.stores, renamed.STORES),
    ):
        assert [name for name in names if name in dir(module)] == []
    assert set(renamed.STORE_KEYWORDS).isdisjoint(inspect.signature(blizzarr.create_array).parameters)
    assert set(renamed.ARRAY_KEYWORDS).isdisjoint(inspect.signature(blizzarr.create_array).parameters)
    for name in ("CachePool", "copy", "create_array", "create_group", "open_array", "stores", "codecs", "dtypes"):
        assert hasattr(blizzarr, name)


def test_arguments_without_a_name(tmp_path: Path) -> None:
    """The text says what needs a name; the mode needs none, as in h5py and older releases of zarr-python."""
    blizzarr.create_group(tmp_path / "g")
    blizzarr.consolidate_metadata(tmp_path / "g")
    for opened in (blizzarr.open, blizzarr.open_group, blizzarr.open_consolidated):
        assert opened(tmp_path / "g", "r").read_only
    with pytest.raises(TypeError, match=r"open_group\(\): expected at most 2 positional arguments, found 3; .* path="):
        blizzarr.open_group(tmp_path, "r", "g")  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"create_array\(\): expected at most 1 .*, found 2; .* data="):
        blizzarr.create_group({}).create_array("x", np.eye(2))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"create_array\(\): expected at most 1 .* shape=, dtype=, .*data="):
        blizzarr.create_array(tmp_path, np.eye(2))  # type: ignore[call-arg]
