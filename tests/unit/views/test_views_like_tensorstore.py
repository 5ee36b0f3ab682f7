"""What is written once and done by both libraries gives the same: values, or errors of the same class and content.

Errors are compared by their class, and by the names and values in their texts; those about arguments that do not fit
(TypeError) by their class alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from blizzarr import views
from unit.spec.oracle import refusal_of

tensorstore = pytest.importorskip("tensorstore")

TEXTS = Path(__file__).parent / "texts"


def outcome(text: str, library: ModuleType) -> tuple[str, object]:
    """What a text gives, or the class and content of the error. `_` is a transform of 3 x 4 elements."""
    short = {"ID": library.IndexDomain, "IT": library.IndexTransform, "OM": library.OutputIndexMap, "inf": 2**62 - 1}
    view = library.IndexTransform(input_shape=[3, 4])
    try:
        return "gives", repr(eval(text, {"ts": library, "np": np, "_": view, **short}))
    except (TypeError, IndexError, ValueError) as error:
        kind = next(kind.__name__ for kind in (TypeError, IndexError, ValueError) if isinstance(error, kind))
        return kind, "" if kind == "TypeError" else refusal_of(error)


def texts(*names: str) -> list[str]:
    """The lines of some files beside this one."""
    return [line for name in names for line in (TEXTS / f"{name}.txt").read_text().splitlines()]


@pytest.mark.parametrize("text", texts("dims", "domains", "transforms", "indexing", "expressions"))
def test_the_same_text_gives_the_same(text: str) -> None:
    """Constructors, properties, operations and errors of all classes."""
    assert outcome(text, views) == outcome(text, tensorstore)


@pytest.mark.parametrize("document", texts("documents"))
def test_domains_as_json(document: str) -> None:
    """Documents of domains, also with the names that transforms have for the same."""
    text = f"ID(json={document})"
    assert outcome(text, views) == outcome(text, tensorstore)
    text = re.sub(
        r'"(rank|inclusive_min|inclusive_max|exclusive_max|shape|labels)"', r'"input_\1"', f"IT(json={document})"
    )
    assert outcome(text, views) == outcome(text, tensorstore)


@pytest.mark.parametrize("output", texts("outputs"))
def test_output_maps_as_json(output: str) -> None:
    """Documents of transforms of a domain with 2 x 2 elements."""
    text = f'IT(json={{"input_shape": [2, 2], "output": {output}}})'
    assert outcome(text, views) == outcome(text, tensorstore)


@pytest.mark.parametrize(
    "name",
    ["Dim", "IndexDomain", "IndexTransform", "OutputIndexMap", "OutputIndexMaps", "DimExpression", "DimSelection"],
)
def test_classes_have_all_public_names(name: str) -> None:
    """What TensorStore's class offers, ours does."""
    offered = {member for member in dir(getattr(tensorstore, name)) if not member.startswith("_")}
    assert offered <= set(dir(getattr(views, name)))
