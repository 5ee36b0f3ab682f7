"""TensorStore as the judge: views of stored arrays read and write the same elements, in files that both use."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import blizzarr.tensorstore as ours
from blizzarr import views
from support.view_chains import is_hazardous, operation

theirs = pytest.importorskip("tensorstore")


def done(act: Any) -> Any:
    """What an act gives, or the class of its error."""
    try:
        return act()
    except (IndexError, ValueError, TypeError) as error:
        return next(kind for kind in (TypeError, ValueError, IndexError) if isinstance(error, kind))


@pytest.mark.parametrize("block", range(4))
def test_views_of_stored_arrays(block: int, tmp_path: Path) -> None:
    """After some operations both read the same through the view; then one of them writes, and both read it all."""
    read = 0
    for seed in range(40 * block, 40 * (block + 1)):
        random = Random(seed)
        shape = [random.randint(1, 9) for _ in range(random.randint(1, 3))]
        chunks = [random.randint(1, 5) for _ in shape]
        spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/{seed}/"}
        metadata = {
            "shape": shape,
            "data_type": "int32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        }
        maker = random.choice([theirs, ours])
        made = maker.open({**spec, "metadata": metadata}, create=True).result()
        made[...] = np.arange(int(np.prod(shape)), dtype="int32").reshape(shape)
        pair: list[Any] = [library.open(spec).result() for library in (theirs, ours)]
        whole = list(pair)
        history = [f"shape {shape}"]
        for _ in range(4):
            bare = views.IndexTransform(views.IndexDomain(json=pair[0].domain.to_json()))
            text = operation(random, bare)
            if is_hazardous(bare, text) or pair[0].ndim > 5:
                break
            history.append(text)
            said = "\n".join(history)
            found = [
                done(lambda: eval(text, {"ts": library, "x": view}))  # noqa: B023
                for library, view in zip((theirs, ours), pair, strict=True)
            ]
            if isinstance(found[0], type) or isinstance(found[1], type):
                assert found[0] == found[1], said
                continue
            pair = found
            assert repr(pair[1].domain) == repr(pair[0].domain), said
            if pair[1].domain.size > 2000:
                break
            expected, mine = (done(lambda: view.read().result()) for view in pair)  # noqa: B023
            np.testing.assert_array_equal(mine, expected, said)
            if isinstance(expected, type):
                break
            read += 1
            # Elements that a view has twice would be written in no particular order.
            numbered = whole[0].read().result()
            if np.unique(expected).size == expected.size and numbered.max() == numbered.size - 1:
                # TensorStore 0.1.86 stores garbage where it is told to write nothing.
                writer = random.randrange(2) if expected.size else 1
                pair[writer].write(expected + 1000).result()
                after = [store.read().result() for store in whole]
                np.testing.assert_array_equal(after[0], after[1], said)
                np.testing.assert_array_equal(
                    after[0][np.isin(numbered, expected)] % 1000, numbered[np.isin(numbered, expected)]
                )
                assert int((after[0] >= 1000).sum()) == expected.size, said
                pair[1 - writer if expected.size else 1].write(expected).result()
    assert read > 60
