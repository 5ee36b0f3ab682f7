"""What MkDocs does not do by itself: pages from the root, a reference made of the docstrings, executed notebooks.

The docstrings are read from the source. The notebooks import blizzarr.
"""

from __future__ import annotations

import ast
import posixpath
import re
import sys
from pathlib import Path

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "website"))

from docstrings import as_markdown  # noqa: E402
from notebooks import execute, with_pictures  # noqa: E402

# Files outside docs/ that become pages; links between them and the pages of docs/ are adapted.
FROM_ROOT = (
    *("ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "CORRECTNESS.md", "SECURITY.md"),
    *("bench/README.md", "bench/results/results.md", "bench/results/results.png", "bench/results/speed.svg"),
)
# The modules of the reference, with what each is for.
MODULES = {
    "blizzarr": "arrays, groups, and the verbs",
    "blizzarr.codecs": "codecs",
    "blizzarr.stores": "stores",
    "blizzarr.dtypes": "data types",
    "blizzarr.xarray": "xarray",
    "blizzarr.dask": "Dask",
    "blizzarr.tensorstore": "TensorStore's interface",
    "blizzarr.tensorstore.drivers": "drivers of your own",
    "blizzarr.zarr": "zarr-python's interface",
    "blizzarr.zarr_pipeline": "the pipeline for zarr-python",
    "blizzarr.testing.stores": "the contract of stores",
}
ERRORS = "reference/blizzarr.errors.md"
# What stands for the base classes that only share code.
BASES = {"NumberedError": "BlizzarrError", "StatusError": ""}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of the reference into the navigation."""
    pages: list[dict[str, str]] = [{f"{name}: {what}": f"reference/{name}.md"} for name, what in MODULES.items()]
    pages.insert(1, {"blizzarr.errors: causes and cures": ERRORS})
    for entry in config.nav or []:
        if isinstance(entry, dict) and entry.get("Reference") == "REFERENCE":
            entry["Reference"] = pages
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from the root and those of the reference, and execute the notebooks."""
    for name in FROM_ROOT:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    files.append(File.generated(config, "website.css", abs_src_path=str(ROOT / "website/website.css")))
    package = griffe.load("blizzarr", search_paths=[ROOT / "python"], resolve_aliases=True, resolve_external=False)
    for name in MODULES:
        module = package if name == "blizzarr" else package[name.removeprefix("blizzarr.")]
        files.append(File.generated(config, f"reference/{name}.md", content=reference(module)))
    files.append(File.generated(config, ERRORS, content=errors(package["errors"])))
    add_gallery(files, config)
    return files


def add_gallery(files: Files, config: MkDocsConfig) -> None:
    """Put executed notebooks, their pictures and their files in the place of the pages of docs/gallery."""
    index, *sources = sorted((ROOT / "docs/gallery").glob("*.md"), key=lambda path: (path.stem != "index", path.name))
    notebooks = {source.name: execute(source) for source in sources}
    contents: dict[str, str | bytes] = {"index.md": with_pictures(index.read_text(encoding="utf-8"), notebooks)}
    for name, notebook in notebooks.items():
        contents |= {name: notebook.page, name.removesuffix("md") + "ipynb": notebook.file} | notebook.pictures
    for name, content in contents.items():
        uri = f"gallery/{name}"
        if (page := files.get_file_from_path(uri)) is not None:
            files.remove(page)
        files.append(File.generated(config, uri, content=content))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to where their targets are on the site, or as code where they are not part of it."""
    source = page.file.src_uri
    if source == "index.md":
        page.meta["hide"] = ["navigation", "toc"]
    if source == "requirements.md":  # regular expressions of the specifications, not links
        return markdown.replace("][", "]&#91;")
    # Where the page is in the repository, seen from docs/.
    folder = posixpath.dirname(source if source in FROM_ROOT else posixpath.join("docs", source))

    def adapted(match: re.Match[str]) -> str:
        label, target, anchor = match[1], match[2], match[3] or ""
        if re.match(r"[a-z]+:|#|$", target):
            return match[0]
        place = posixpath.normpath(posixpath.join(folder, target))
        uri = place.removeprefix("docs/")
        if files.get_file_from_path(uri) is None:
            return label if label.startswith("`") else f"{label} (`{place}`)"
        return f"[{label}]({posixpath.relpath(uri, posixpath.dirname(source) or '.')}{anchor})"

    return re.sub(r"(?<!`)\[([^\]\[]*)\]\(([^)\s#]*)(#[^)\s]*)?\)", adapted, markdown)


def reference(module: griffe.Module | griffe.Alias) -> str:
    """Return the page of a module: its docstring, then what it exports."""
    names = {str(name) for name in module.exports or ()} or {
        name for name, member in module.members.items() if name[:1].isupper() and is_class_of(member, module.path)
    }
    names.discard("__version__")
    shown = names - {name for name, member in module.members.items() if is_module(member)}
    # `blizzarr.copy` is a function, and its module has the same name.
    hidden = [place for name in sorted(names - shown) if (place := imported(module.path, name))]
    lines = [f"# {module.path}", "", f"::: {module.path}", "    options:", "      show_root_heading: false"]
    lines += ["      members:", *(f"        - {name}" for name in sorted(shown, key=str.lower))] if shown else []
    lines += [f"\n::: {place}" for place in (*hidden, *imported_late(module))]
    return "\n".join([*lines, ""])


def imported(module: str, name: str) -> str | None:
    """Return the place of what a module imports by a name; nothing if that is a module."""
    path = ROOT / "python" / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    return imported(node.module, alias.name) if node.module != module else None
    return f"{module}.{name}" if not (path / name).exists() and not (path / f"{name}.py").exists() else None


def imported_late(module: griffe.Module | griffe.Alias) -> list[str]:
    """Return the places of the classes that `blizzarr.codecs` imports when they are first needed."""
    if module.path != "blizzarr.codecs":
        return []
    late = module["catalogue"].members.items()
    return sorted(str(member.target_path) for name, member in late if name.endswith("Codec") and name != "Codec")


def is_module(member: griffe.Object | griffe.Alias) -> bool:
    """Whether this is a module, also by another name."""
    target = defined(member)
    return target is not None and target.is_module


def is_class_of(member: griffe.Object | griffe.Alias, package: str) -> bool:
    """Whether this is a class that a module of the package defines."""
    target = defined(member)
    return target is not None and target.is_class and target.path.startswith(package + ".")


def defined(member: griffe.Object | griffe.Alias) -> griffe.Object | None:
    """Return what a name stands for; nothing where another package defines it."""
    try:
        return member.final_target if isinstance(member, griffe.Alias) else member
    except griffe.AliasResolutionError:
        return None


def errors(module: griffe.Module | griffe.Alias) -> str:
    """Return the page of all errors: the tree, then each class with its cause, its cure, and what it is besides."""
    lines = ["# blizzarr.errors", "", as_markdown(module.docstring.value) if module.docstring else "", ""]
    for name in sorted(str(name) for name in module.exports or ()):
        target = defined(module[name])
        if target is None or target.docstring is None or "What to do: " not in target.docstring.value:
            continue
        cause, _, rest = target.docstring.value.partition("What to do: ")
        cure, _, example = rest.partition("\n\n")
        # Classes that only share code are passed over, to the base of all errors if there is no other.
        bases = [BASES.get(str(base), str(base)) for base in getattr(target, "bases", ())]
        parents = ", ".join(f"`{base}`" for base in dict.fromkeys(bases) if base)
        lines += [f"## {name}", "", f"*Is also a* {parents}", "", f"**Cause:** {cause.strip()}", ""]
        lines += [f"**What to do:** {cure}", ""]
        if ">>>" in example:
            code = example[example.index(">>>") :]
            lines += ["```python", code, "```", ""]
    return "\n".join(lines)
