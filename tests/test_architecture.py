"""The house is as ARCHITECTURE.md says: arrows go one way, and the public names are those that are meant to be."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import blizzarr

PACKAGE = Path(blizzarr.__file__).parent
ARCHITECTURE = (PACKAGE.parents[1] / "ARCHITECTURE.md").read_text()

# Each floor may import from the floors before it, and from its own.
FLOORS: list[set[str]] = [
    {"errors", "_native", "interrupts", "printable", "renamed"},
    {"durability"},
    {
        "problems",
        "config",
        "json_members",
        "json_values",
        "keywords",
        "size_text",
        "bounded_cache",
        "lazy_imports",
        "open_table",
        "suppliers",
        "fork",
        "equality",
        "futures",
    },
    {"dtypes", "indexing", "stores", "caching", "transactions", "distributing"},
    {"codecs", "transformers", "views"},
    {"model"},
    {"formats", "transfer"},
    {"hierarchy"},
    {
        "node",
        "array",
        "attributes",
        "creation",
        "group",
        "group_members",
        "group_tree",
        "copying",
        "upgrading",
        "recording",
        "comparing",
    },
    {"checking", "spec"},
    {"display"},
    {"api"},
    {"tensorstore", "dask", "xarray", "zarr_pipeline"},
    {"for_zarr", "neuroglancer"},
    {"__main__", "cli", "testing", "zarr"},
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}

# Against the arrows, within functions or in annotations. ARCHITECTURE.md says why.
LATE = {
    ("array", "attributes"),
    ("array", "display"),
    ("creation", "copying"),
    ("group", "display"),
    ("group_members", "group"),
}

# Packages whose modules need each other when their functions run; at import, no module does.
KNOTS = {"array", "codecs", "dtypes", "futures", "spec", "stores", "tensorstore", "zarr"}


@cache
def nodes(module: str) -> tuple[ast.AST, ...]:
    """All nodes of a module of this package."""
    return tuple(ast.walk(ast.parse((PACKAGE / module).read_text())))


@pytest.fixture(scope="module", autouse=True)
def _trees_are_dropped() -> Iterator[None]:
    """Leave the trees to no later search for garbage."""
    yield
    nodes.cache_clear()


def at_once(module: str) -> Iterator[ast.AST]:
    """The nodes of a module that are run when it is imported."""
    left: list[ast.AST] = [nodes(module)[0]]
    while left:
        node = left.pop()
        is_for_types = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        if not isinstance(node, ast.FunctionDef) and not is_for_types:
            yield node
            left.extend(ast.iter_child_nodes(node))


def imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The rooms of this package that these nodes import."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "blizzarr":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("blizzarr."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("blizzarr."))


MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("module", [module for module in MODULES if module != "__init__.py"])
def test_arrows_go_one_way(module: str) -> None:
    """A module imports only from its own floor and those below."""
    room = module.split("/")[0].removesuffix(".py")
    for other in imports(nodes(module)):
        if other != room and (room, other) not in LATE:
            assert other in FLOOR, f"{module} imports {other}, which has no floor"
            assert FLOOR[other] <= FLOOR[room], f"{module} imports {other} from a floor above"


def test_arrows_make_no_circle() -> None:
    """Rooms of one floor do not import each other in a circle, but for what is imported late."""
    arrows: dict[str, set[str]] = {}
    late = set()
    for module in MODULES:
        room = module.split("/")[0].removesuffix(".py")
        every = set(imports(nodes(module))) - {room}
        arrows.setdefault(room, set()).update(other for other in every if (room, other) not in LATE)
        late |= {(room, other) for other in every if (room, other) in LATE}
        first = {(room, other) for other in imports(at_once(module))}
        assert not first & LATE, f"{module} imports at once what it should import late"
    assert late == LATE
    tuple(TopologicalSorter(arrows).static_order())


def test_neuroglancer_is_a_package_like_others() -> None:
    """Volumes are known to the rest of the package by the rows of two tables only, as entry points would make them."""
    rows = {"formats/table.py": 1, "spec/driver_table.py": 2}
    for module in MODULES:
        if not module.startswith("neuroglancer/"):
            source = (PACKAGE / module).read_text()
            assert source.count("blizzarr.neuroglancer") == rows.get(module, 0), module


# Besides packages: modules that users import, under zarr-python's names or their own.
WITH_NAMES = {"caching.py", "for_zarr.py", "tensorstore/drivers.py"} | {
    f"zarr/{name}.py"
    for name in (
        *("buffer", "config", "dtype", "errors", "functions", "metadata", "registry", "types"),
        *("abc/buffer", "abc/codec", "abc/metadata", "abc/store", "api/asynchronous", "api/synchronous"),
        *("codecs/numcodecs", "codecs/registered"),
    )
}


def test_only_what_users_import_lists_its_names() -> None:
    """`__all__` is for users: modules that none of them imports do without, and gather only what others need."""
    listing = {module for module in MODULES if re.search(r"^ *__all__\b", (PACKAGE / module).read_text(), re.MULTILINE)}
    assert {module for module in listing if not module.endswith("__init__.py")} <= WITH_NAMES
    silent = [module for module in MODULES if module.endswith("__init__.py") and module not in listing]
    text = "\n".join(path.read_text() for top in (PACKAGE, PACKAGE.parents[1] / "tests") for path in top.rglob("*.py"))
    for module in silent:
        package = "blizzarr." + module.removesuffix("/__init__.py").replace("/", ".")
        wanted = " ".join(re.findall(rf"from {re.escape(package)} import (\([^)]*\)|.*)", text))
        wanted += " ".join(re.findall(rf"\b{package.rpartition('.')[2]}\.\w+", text))
        source = (PACKAGE / module).read_text()
        for node in ast.parse(source).body:
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith(f"{package}."):
                for alias in node.names:
                    assert source.count(alias.name) > 1 or re.search(rf"\b{alias.name}\b", wanted), (
                        f"{module} gathers {alias.name} for nobody"
                    )


def test_exceptions_have_reasons() -> None:
    """Each import against the arrows is listed in ARCHITECTURE.md, with what it is for."""
    listed = re.findall(r"^\* `(\w+)` → `(\w+)`: \S.+", ARCHITECTURE, re.MULTILINE)
    assert sorted(listed) == sorted(LATE)


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_pages_name_are_there(page: str) -> None:
    root = PACKAGE.parents[1]
    tops = (PACKAGE, root / "tests", root / "rust/fuzz", root / "website")
    files = [path.as_posix() for top in tops for path in top.rglob("*.py")]
    named = set(re.findall(r"`([\w/]+\.py)`", (root / page).read_text()))
    assert not [name for name in named if not any(path.endswith(f"/{name}") for path in files)]


def module_arrows(late: bool) -> dict[str, set[str]]:
    """The modules of its own package that each module imports, at once or also late; not those of `__init__`."""
    names = {f"blizzarr.{path.removesuffix('.py').replace('/', '.')}": path for path in MODULES}
    arrows: dict[str, set[str]] = {}
    for name, path in names.items():
        room = ".".join(name.split(".")[:2])
        others = set()
        for node in nodes(path) if late else at_once(path):
            if isinstance(node, ast.ImportFrom) and node.module:
                others |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        arrows[name] = {other for other in others & names.keys() - {name} if other.startswith(f"{room}.")}
    return arrows


def test_packages_have_no_circle() -> None:
    """No modules of a package import each other in a circle at once, and within functions only in listed packages."""
    tuple(TopologicalSorter(module_arrows(late=False)).static_order())
    calm = {name: others for name, others in module_arrows(late=True).items() if name.split(".")[1] not in KNOTS}
    tuple(TopologicalSorter(calm).static_order())


PLACE = re.compile(r"blizzarr(\.\w+)+:\w+")


def places() -> Iterator[tuple[str, str]]:
    """The strings ``"module:name"`` of lazy tables, each with the module that it is in."""
    for module in MODULES:
        for node in nodes(module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and PLACE.fullmatch(node.value):
                yield module, node.value


def test_lazy_tables_are_right() -> None:
    """What a string names is there, and an arrow may go there."""
    found = list(places())
    assert len(found) > 40
    for module, place in found:
        name, _, attribute = place.partition(":")
        assert hasattr(import_module(name), attribute), f"{module}: there is no {place}"
        room, other = module.split("/")[0].removesuffix(".py"), name.split(".")[1]
        if other != "neuroglancer":  # which the tables name as entry points name other packages
            assert room == other or FLOOR[other] <= FLOOR[room], f"{module} names {place}, on a floor above"


def test_unsafe_is_where_it_may_be() -> None:
    """A lint denies `unsafe`, but for the modules that ARCHITECTURE.md lists."""
    allowed = set()
    for crate, prefix in (("core", ""), ("py", "py/")):
        sources = PACKAGE.parents[1] / "rust" / crate / "src"
        assert "#![deny(unsafe_code)]" in (sources / "lib.rs").read_text()
        for path in sources.rglob("*.rs"):
            count = path.read_text().count("allow(unsafe_code)")
            if count:
                assert count == path.read_text().count("\n#![allow(unsafe_code)]\n") == 1, path
                allowed.add(prefix + path.relative_to(sources).as_posix().removesuffix(".rs").removesuffix("/mod"))
    assert "#![forbid(unsafe_code)]" in (PACKAGE.parents[1] / "rust/object/src/lib.rs").read_text()
    listed = re.search(r"^`unsafe` is denied.*?\n\n", ARCHITECTURE, re.DOTALL | re.MULTILINE)
    assert listed
    assert set(re.findall(r"`([\w/]+)`", listed[0])) - {"unsafe"} == allowed


def test_only_formats_know_versions() -> None:
    """No test of a format's name or number outside of `formats`, and of zarr-python's interface, which has some."""
    for module in MODULES:
        if module.startswith(("formats/", "zarr/")):
            continue
        for node in nodes(module):
            if isinstance(node, ast.Compare) and any(
                isinstance(side, ast.Constant) and side.value is not None
                for comparator in node.comparators
                for side in (comparator.elts if isinstance(comparator, ast.Tuple) else (comparator,))
            ):
                text = ast.unparse(node)
                assert "zarr_format" not in text, f"{module}: {text}"
                assert ".format " not in text, f"{module}: {text}"


# Modules that use private names of other libraries, which have no public ones for this.
OF_OTHERS = {
    *("dask/writing.py", "stores/impossible_keys.py", "stores/zarr_python.py", "stores/zarr_python_store.py"),
    *("xarray/writing.py", "zarr/storage/store_path.py"),
}


def private_names(nodes: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    """The names with an underscore that a module defines, and those that it uses of other objects than its own."""
    defines, uses = set(), set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defines.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defines.add(node.id)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__slots__":
            defines |= {part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)}
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            is_own = ast.unparse(node.value) in ("self", "cls", "super()")
            (defines if is_own and isinstance(node.ctx, ast.Store) else set() if is_own else uses).add(node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("blizzarr."):
            uses |= {alias.name for alias in node.names}
    return tuple({name for name in names if re.match("_[^_]", name)} for names in (defines, uses))  # type: ignore[return-value]


def test_private_names_are_used_where_they_are_defined() -> None:
    """What another module needs has a public name, or is moved there."""
    names = {module: private_names(nodes(module)) for module in MODULES}
    everywhere = set().union(*(defines for defines, _ in names.values()))
    for module, (defines, uses) in names.items():
        if module not in OF_OTHERS:
            assert not uses & everywhere - defines, module


def test_public_names() -> None:
    """`__all__` is sorted, exists, and is what users were promised."""
    promised = """
        Array CachePool Group __version__ array check codecs config consolidate_metadata copy create create_array
        create_group diff dtypes durable empty empty_like errors full full_like group load ones ones_like open
        open_array open_consolidated open_group register_chunk_grid register_chunk_key_encoding register_codec
        register_data_type register_storage_transformer register_store save save_array save_group show stores
        tree upgrade zeros zeros_like
    """
    assert blizzarr.__all__ == promised.split()
    for name in blizzarr.__all__:
        assert hasattr(blizzarr, name)


def test_files_hold_one_idea() -> None:
    """No source file is called utils, and none has grown past 500 lines."""
    root = PACKAGE.parents[1]
    sources = [*PACKAGE.rglob("*.py"), *(root / "rust").rglob("*.rs"), *(root / "tests").rglob("*.py")]
    for path in sources:
        assert path.stem not in {"util", "utils", "helpers", "misc", "common"}, path
        assert len(path.read_text().splitlines()) <= 500, f"{path} is two ideas"


def test_names_of_tests_differ() -> None:
    """pytest imports tests by the name of their file alone: a second one of a name would not be run."""
    names = [path.name for path in (PACKAGE.parents[1] / "tests").rglob("test_*.py")]
    assert sorted(set(names)) == sorted(names)
