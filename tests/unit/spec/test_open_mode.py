"""Open modes: what contradicts itself, and how one changes another, as in TensorStore."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import pytest
import tensorstore as ts

from blizzarr.errors import SpecError
from blizzarr.spec.open_mode import OpenMode, changed_mode, check_mode, modes_on

NAMES = ("open", "create", "delete_existing", "assume_metadata", "assume_cached_metadata")
MODES = [dict.fromkeys(names, True) for size in range(len(NAMES) + 1) for names in itertools.combinations(NAMES, size)]


def test_shown_and_equal() -> None:
    """Each of the 32 modes is shown as TensorStore shows it, equals itself only, and survives copies and pickles."""
    for on in MODES:
        mode = OpenMode(**on)
        assert repr(mode) == repr(ts.OpenMode(**on))
        assert [mode == OpenMode(**other) for other in MODES].count(True) == 1
        assert copy.copy(mode) == mode == pickle.loads(pickle.dumps(mode))
    mode.open = False
    assert "open" not in modes_on(mode)
    with pytest.raises(TypeError):
        hash(mode)
    with pytest.raises(TypeError):
        OpenMode(True)  # type: ignore[misc]


@pytest.mark.parametrize("on", MODES, ids=lambda on: "+".join(on) or "none")
def test_contradictions(on: dict[str, bool]) -> None:
    """K-9 K-10 K-11 K-12 K-13: a mode that contradicts itself is refused in TensorStore's words, any other is not."""
    spec = {"driver": "zarr3", "kvstore": "memory://"}
    mode = changed_mode(OpenMode(open=True), OpenMode(**on))
    try:
        ts.open(spec, dtype=ts.int8, shape=[1], **on).result()
        refused = ""
    except ValueError as error:
        refused = str(error) if "open mode" in str(error) else ""
    if refused:
        with pytest.raises(SpecError) as ours:
            check_mode(mode)
        assert f'Error opening "zarr3" driver: {ours.value} [' in refused
    else:
        check_mode(mode)


def test_changes() -> None:
    """A mode on top of each other mode gives what TensorStore gives."""
    for before, change in itertools.product(MODES, MODES):
        json: dict[str, Any] = {"driver": "zarr3", "kvstore": "memory://", **before}
        theirs = ts.Spec(json)
        ours = OpenMode(**dict.fromkeys(theirs_on(theirs), True))
        theirs.update(open_mode=ts.OpenMode(**change))
        assert modes_on(changed_mode(ours, OpenMode(**change))) == theirs_on(theirs), (before, change)


def theirs_on(spec: ts.Spec) -> list[str]:
    """What is on in a spec of TensorStore."""
    return [name for name in NAMES if getattr(spec.open_mode, name)]
