"""Every line of the requirements is tested, or left out for a reason; the page says which."""

from __future__ import annotations

from tests.requirements.page import LEFT_OUT, LINES, PAGE, covered, ids_in, text


def test_every_line_is_covered_or_left_out() -> None:
    tests = covered()
    assert sorted(name for name in LINES if name not in tests and name not in LEFT_OUT) == []
    assert sorted(name for name in LEFT_OUT if name in tests) == []
    assert LEFT_OUT.keys() <= LINES.keys()
    assert all(LEFT_OUT.values())


def test_the_page_is_as_it_would_be_made() -> None:
    """`python -m tests.requirements` makes it."""
    assert PAGE.read_text() == text()


def test_ids() -> None:
    assert ids_in("O-2 to O-4, Z-99") == {"O-2", "O-3", "O-4"}
