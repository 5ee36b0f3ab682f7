"""Each error tells its cause and its cure; `website/hooks.py` makes a page of them."""

import inspect

import pytest

from blizzarr import errors

CLASSES = [getattr(errors, name) for name in errors.__all__ if name not in ("BlizzarrError", "Problem")]


@pytest.mark.parametrize("error", CLASSES, ids=[error.__name__ for error in CLASSES])
def test_each_error_says_what_to_do(error: type[errors.BlizzarrError]) -> None:
    """The docstring begins with the cause, and a paragraph of it says what to do."""
    cause, *others = inspect.getdoc(error).split("\n\n")  # type: ignore[union-attr]
    assert cause.endswith(".")
    assert sum(text.startswith("What to do: ") for text in others) == 1
