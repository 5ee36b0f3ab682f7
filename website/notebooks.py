"""The gallery: pages of docs/gallery are executed as notebooks, and shown with what came out.

The notebooks are kept as Markdown, whose blocks of Python `tests/test_docs.py` runs, too.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

# What stands for the temporary folder in which a notebook runs.
FOLDER = "/home/you"


@dataclass(frozen=True)
class Executed:
    """A notebook with its results: as a page, and as the file to download."""

    page: str
    pictures: dict[str, bytes]
    """By their names relative to the page, in their order."""
    file: str


def execute(source: Path) -> Executed:
    """Run a page in an empty folder. A cell that fails is an error, which shows the cell.

    - `source`: the page.
    """
    notebook = jupytext.read(source)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            # For machines that have much else to do.
            startup_timeout=300,
            timeout=300,
            extra_arguments=["--log-level=ERROR"],
        ).execute()
        notebook = nbformat.reads(nbformat.writes(notebook).replace(folder, FOLDER), as_version=4)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    exporter = MarkdownExporter()
    page, resources = exporter.from_notebook_node(notebook, {"output_files_dir": f"{source.stem}_files"})
    note = f"\n[Download this notebook]({source.stem}.ipynb), with its results.\n"
    title, _, rest = page.partition("\n")
    return Executed(f"{title}\n{note}{rest}", dict(resources["outputs"]), nbformat.writes(notebook))


def with_pictures(index: str, notebooks: dict[str, Executed]) -> str:
    """Return the page of the gallery with the first picture of each notebook below its heading.

    - `index`: the page, whose headings are links to the notebooks.
    - `notebooks`: by the names of their pages.
    """

    def pictured(heading: re.Match[str]) -> str:
        picture = next(iter(notebooks[heading[2]].pictures))
        return f"{heading[0]}\n\n[![{heading[1]}]({picture})]({heading[2]})"

    return re.sub(r"^## \[(.*)\]\((.*)\)$", pictured, index, flags=re.MULTILINE)
