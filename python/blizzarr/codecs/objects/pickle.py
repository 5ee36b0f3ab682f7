"""``pickle`` (array -> bytes): any objects of Python, for whoever trusts the one who stored them.

https://numcodecs.readthedocs.io/en/stable/other/pickles.html

To load a pickle is to run the code in it. So this is refused unless the user says otherwise; a document cannot.

>>> PickleCodec().table(None)
Traceback (most recent call last):
blizzarr.errors.UnknownExtensionError: the elements are pickles, and to load a pickle is to run the code of whoever \
stored it; if you trust them, allow it: blizzarr.config.set(allowed_codecs=("pickle",))
>>> from blizzarr.config import config
>>> with config.set(allowed_codecs=("pickle",)):
...     table = PickleCodec().table(None)
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from blizzarr.codecs.codec import Option, integer
from blizzarr.codecs.objects.codec import Refusal
from blizzarr.codecs.objects.python_table import PythonObjectCodec, PythonTable
from blizzarr.config import config
from blizzarr.errors import CodecError, UnknownExtensionError


@dataclass(frozen=True, slots=True)
class PickleCodec(PythonObjectCodec):
    """Pickles of NumPy arrays of objects."""

    name: ClassVar[str] = "numcodecs.pickle"
    options: ClassVar[tuple[Option, ...]] = (integer("protocol", 0, 5, required=False),)

    protocol: int = 5

    def table(self, fill: Any) -> PythonTable:
        if "pickle" not in config.allowed_codecs:
            raise UnknownExtensionError(
                "the elements are pickles, and to load a pickle is to run the code of whoever stored it; if you trust "
                'them, allow it: blizzarr.config.set(allowed_codecs=("pickle",))',
                extensions=("pickle",),
            )
        return PythonTable(self, fill)

    def refuses(self, element: Any) -> Refusal | None:
        try:
            pickle.dumps(element, self.protocol)
        # Classes may raise what they like when they are pickled.
        except Exception as error:
            return "an object that can be pickled", f"{type(element).__name__} ({error})"
        return None

    def encode(self, elements: list[Any], shape: tuple[int, ...]) -> bytes:
        return pickle.dumps(np.fromiter(elements, np.dtype(object), len(elements)).reshape(shape), self.protocol)

    def decode(self, encoded: bytes, shape: tuple[int, ...]) -> list[Any]:
        unpickled = pickle.loads(encoded)
        if not isinstance(unpickled, np.ndarray):
            raise CodecError(f"expected the pickle of an array, found that of {type(unpickled).__name__}")
        # In the order that it lay in memory, as numcodecs has it: that of the stored array.
        return list(unpickled.reshape(-1, order="A"))
