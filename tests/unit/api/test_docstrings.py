"""`help()` says what public functions raise, and what codecs are: docstrings are checked against the code."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from textwrap import dedent
from typing import Any

import pytest

import blizzarr
from blizzarr import codecs, stores
from blizzarr.array.lazy import LazyArray
from blizzarr.array.selector import Selector
from blizzarr.attributes import Attributes

CLASSES = [
    blizzarr.Array,
    LazyArray,
    Selector,
    blizzarr.Group,
    Attributes,
    blizzarr.CachePool,
    type(blizzarr.config),
    *(thing for name in stores.__all__ if inspect.isclass(thing := getattr(stores, name))),
    *(thing for name in codecs.__all__ if inspect.isclass(thing := getattr(codecs, name))),
]
INDEXING = ("__getitem__", "__setitem__", "__delitem__")
ANYWHERE = {"unknown_keywords", "NotImplementedError"}
"""Errors about keywords that a function does not have, and about methods that a subclass has to write."""


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions of the package, and the public methods and properties of its classes, by name."""
    for name in blizzarr.__all__:
        if inspect.isfunction(thing := getattr(blizzarr, name)):
            yield name, inspect.unwrap(thing)
    for name in stores.__all__:
        if inspect.isfunction(thing := getattr(stores, name)):
            yield name, thing
    for cls in CLASSES:
        for base in cls.__mro__:
            if not base.__module__.startswith("blizzarr"):
                continue
            for name, thing in vars(base).items():
                member = thing.fget if isinstance(thing, property) else getattr(thing, "__func__", thing)
                if inspect.isfunction(member) and (not name.startswith("_") or name in INDEXING):
                    yield f"{base.__name__}.{name}", member


FUNCTIONS = dict(functions())


def own_nodes(function: Callable[..., Any]) -> Iterator[ast.AST]:
    """The syntax of a function's body, without that of functions and classes in it."""
    waiting: list[ast.AST] = list(ast.parse(dedent(inspect.getsource(function))).body[0].body)  # type: ignore[attr-defined]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def raised(function: Callable[..., Any]) -> set[str]:
    """The names that the body raises: of errors, or of functions that make them; not what it raises again."""
    found = set()
    for node in own_nodes(function):
        if isinstance(node, ast.Raise) and node.exc is not None:
            named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            found.add(ast.unparse(named))
    return found - ANYWHERE


def documented(name: str) -> set[str]:
    """The errors that a docstring names, or that of the class, which says once what all of its methods raise."""
    owner = name.rpartition(".")[0]
    classes = [base for cls in CLASSES for base in cls.__mro__ if owner and base.__name__ == owner]
    if any(issubclass(cls, stores.BaseStore) for cls in classes):
        classes.append(stores.Store)
    text = "\n".join(inspect.getdoc(thing) or "" for thing in (FUNCTIONS[name], *classes))
    section = re.search(r"^Raises\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", text, re.M | re.S)
    lines = [] if section is None else section[1].splitlines()
    listed = {error for line in lines if line[:1].isalpha() for error in line.split(", ")}
    return listed | set(re.findall(r"`(\w+Error)`", text))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_errors_are_documented(name: str) -> None:
    """A public function whose body raises errors documents them; errors that are made elsewhere are documented, too."""
    there = raised(FUNCTIONS[name])
    if not there:
        return
    listed = documented(name)
    assert listed, f"{name} raises {', '.join(there)}, which no docstring says"
    named = {error for error in there if error.endswith("Error")}
    assert named <= listed, f"{name} raises {', '.join(named - listed)}, which its docstring does not say"


@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("create_array", "NodeExistsError NodeTypeError MetadataError PathError ReadOnlyError TypeError ValueError"),
        ("create_group", "NodeExistsError NodeTypeError MetadataError PathError ReadOnlyError StoreError"),
        ("open", "NodeNotFoundError MetadataError NodeExistsError TypeError ValueError PathError StoreError"),
        ("copy", "MetadataError NodeExistsError ConflictError CodecError StoreError"),
        ("Array.__getitem__", "OutOfBoundsError SelectionError CodecError StoreError LimitError"),
        ("Array.__setitem__", "OutOfBoundsError ValueError ReadOnlyError CodecError StoreError"),
        ("Array.append", "ConflictError ValueError ReadOnlyError StoreError"),
        ("GroupMembers.__getitem__", "NodeNotFoundError MetadataError PathError StoreError"),
        ("Group.__delitem__", "NodeNotFoundError NodeExistsError ReadOnlyError StoreError"),
        ("Store.set", "PathError ReadOnlyError StoreError"),
        ("NativeStore.get", "StoreError"),
    ],
)
def test_errors_from_below_are_documented(name: str, errors: str) -> None:
    """What the main functions raise comes from far below: no look at their bodies would find it missing."""
    assert set(errors.split()) <= documented(name)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_public_functions_have_a_docstring(name: str) -> None:
    """One sentence at least, its own or that of the method which it overrides, that does not begin like a question."""
    owner, _, attribute = name.rpartition(".")
    classes = [cls for cls in CLASSES if owner in [base.__name__ for base in cls.__mro__]]
    text = inspect.getdoc(getattr(classes[0], attribute) if classes else FUNCTIONS[name]) or ""
    assert text, name
    assert not re.match(r"(What|Whether|Who|Whom|Those|That|Which|Where|Why|How)\b", text), f"{name}: {text[:60]}"


@pytest.mark.parametrize("name", [name for name in codecs.__all__ if name.endswith("Codec") and name != "Codec"])
def test_codecs_show_their_source_and_parameters(name: str) -> None:
    """`help(ZstdCodec)` shows the class, not the module: it names the specification, and each option."""
    text = inspect.getdoc(getattr(codecs, name)) or ""
    if name == "ObjectCodec":
        return
    assert re.search(r"https://\S+", text), name
    options = list(inspect.signature(getattr(codecs, name)).parameters)
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", text, re.M | re.S)
    lines = [] if section is None else section[1].splitlines()
    assert [line for line in lines if line[:1].isalpha()] == options
