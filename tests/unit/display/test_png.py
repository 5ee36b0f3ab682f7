"""PNG files: what is written decodes to the same pixels."""

from __future__ import annotations

import numpy as np
import pytest

from blizzarr.display.png import encode
from support.png import decode


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (5, 7, 3), (4, 2, 4), (300, 1, 3)])
def test_pixels_come_back(shape: tuple[int, ...]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    np.testing.assert_array_equal(decode(encode(pixels)), pixels)


def test_rows_that_repeat_cost_next_to_nothing() -> None:
    """The filter that takes the difference to the row above is worth it."""
    row = np.random.default_rng(0).integers(0, 256, (1, 500, 3), dtype=np.uint8)
    assert len(encode(np.repeat(row, 400, axis=0))) < 4000


@pytest.mark.parametrize(
    "pixels", [np.zeros((2, 2), np.uint16), np.zeros((2, 2, 2), np.uint8), np.zeros((0, 2), np.uint8)]
)
def test_what_is_no_picture_is_refused(pixels: np.ndarray) -> None:
    with pytest.raises(ValueError, match="expected uint8 pixels, grey, RGB or RGBA, found"):
        encode(pixels)
