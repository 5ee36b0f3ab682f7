"""Layers of a stack: open stores, or specs that are opened when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from blizzarr.errors import SpecError
from blizzarr.spec.binding import Resource, bind, strip
from blizzarr.spec.context import Context
from blizzarr.spec.dtype import DType
from blizzarr.spec.spec import Spec
from blizzarr.spec.spec_node import SpecNode
from blizzarr.tensorstore.regions import Box
from blizzarr.tensorstore.store import TensorStore
from blizzarr.views import IndexDomain, IndexTransform
from blizzarr.views.form import Form

__all__ = ["Layer", "Opener", "as_layer"]

Opener: TypeAlias = Callable[[SpecNode], TensorStore]


@dataclass(frozen=True, slots=True)
class Layer:
    """One store or bound spec, and the selected view of it."""

    source: TensorStore | Spec
    opener: Opener

    @property
    def form(self) -> Form:
        """The view."""
        form = self.source._form
        never = (False,) * form.rank
        return form._replace(implicit_lower=never, implicit_upper=never)

    @property
    def domain(self) -> IndexDomain:
        """The domain of the view."""
        return IndexDomain._of(self.form.domain)

    @property
    def box(self) -> Box:
        """The bounds of the view."""
        form = self.source._form
        return tuple(zip(form.lower, form.upper, strict=True))

    @property
    def dtype(self) -> DType | None:
        """The data type, if it is known."""
        return self.source.dtype

    @property
    def rank(self) -> int:
        """The number of its dimensions."""
        return len(self.source._form.lower)

    def with_form(self, form: Form) -> Layer:
        """Return the layer with another view."""
        return Layer(self.source._with_form(form), self.opener)

    def open(self) -> TensorStore:
        """Return the store, which is opened if it is a spec."""
        return self.source if isinstance(self.source, TensorStore) else self.opener(self.source._node)

    def said(self, minimal: bool, copying: Resource) -> SpecNode:
        """Return the spec that opens the layer again, with default resources except for copying elements."""
        if isinstance(self.source, TensorStore):
            node = self.source._driver.said(self.source, minimal)
        else:
            node = replace(self.source._node, transform=IndexTransform._of(self.source._form))
        return _copying_with(strip(node), copying)


def _copying_with(node: SpecNode, copying: Resource) -> SpecNode:
    shared = {name: copying if name == "data_copy_concurrency" else held for name, held in node.resources.items()}
    return replace(node, resources=shared, bases=tuple(_copying_with(base, copying) for base in node.bases))


def as_layer(source: Any, context: Context, opener: Opener) -> Layer:
    """Return a layer of what a user gives.

    Raises
    ------
    SpecError
        When it is a spec whose domain is not known.
    """
    if isinstance(source, TensorStore):
        return Layer(source, opener)
    if not isinstance(source, Spec | Mapping | str):
        raise TypeError(f"expected a TensorStore or a Spec, found {type(source).__name__}")
    spec = Spec._of(bind(Spec(source)._node, context))
    if spec.domain is None:
        raise SpecError(f"Domain must be specified in layer: {spec!r}")
    return Layer(spec, opener)
