"""The abstract base class of everything that TensorStore counts as indexable."""

from __future__ import annotations

from abc import ABC

from blizzarr.spec.spec import Spec
from blizzarr.tensorstore.store import TensorStore
from blizzarr.views import IndexTransform


class Indexable(ABC):  # noqa: B024
    """Transforms, specs and stores. A `Schema` can be indexed, too, but TensorStore does not count it.

    Examples
    --------
    >>> import blizzarr.tensorstore as ts
    >>> isinstance(ts.IndexTransform(2), Indexable), isinstance(ts.Schema(), Indexable)
    (True, False)
    """

    __slots__ = ()


for _kind in (IndexTransform, Spec, TensorStore):
    Indexable.register(_kind)
