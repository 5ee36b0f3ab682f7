"""Chains of view operations, as text that both libraries understand: ``x[ts.d['y'].translate_by[3]]``.

A chain begins with a transform; each operation is made for the domain that the oracle's view has by then, mostly within
its bounds and sometimes beyond. Left out is what makes TensorStore 0.1.86 crash (ellipses behind another operation of a
dimension expression, views with implicit bounds and no elements) or what it has otherwise than it says (strides of
None).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from blizzarr import views

__all__ = ["first_view", "is_hazardous", "key", "operation"]

MODES = ["", ".oindex", ".vindex"]


def first_view(random: Random) -> str:
    """A transform to begin with."""
    rank = random.randint(0, 4)
    if random.random() < 0.1:
        return f"ts.IndexTransform(input_rank={rank})"
    labels = random.sample(["x", "y", "z", "w"], rank) if random.random() < 0.5 else [""] * rank
    shape = [0 if random.random() < 0.03 else random.randint(1, 6) for _ in range(rank)]
    origin = [random.choice([0, random.randint(-3, 3)]) for _ in range(rank)]
    lower = [size > 0 and random.random() < 0.15 for size in shape]
    upper = [size > 0 and random.random() < 0.25 for size in shape]
    return (
        f"ts.IndexTransform(input_inclusive_min={origin}, input_shape={shape}, input_labels={labels}, "
        f"implicit_lower_bounds={lower}, implicit_upper_bounds={upper})"
    )


def key(random: Random, view: Any) -> Any:
    """A key of NumPy's terms for a view."""
    return eval(f"key[{_Maker(random, view).terms(range(view.ndim), can_stop=True)}]", {"key": _Key()})


class _Key:
    def __getitem__(self, key: Any) -> Any:
        return key


def is_hazardous(view: Any, text: str) -> bool:
    """Whether TensorStore might not survive an operation: if it leads to dimensions without indices that are implicit.

    That is found out with our own view, step by step, and of its domain alone: its arrays may make it an error.
    """
    domain = views.IndexTransform(view.domain, output=[])
    try:
        made = eval(text[2:-1], {"ts": views}) if text.startswith("x[ts.d[") else None
        steps = range(1, len(made._operations) + 1) if made is not None else ()
        for step in steps:
            if _is_hollow(domain[views.DimExpression._of(made._selection, made._operations[:step])]):
                return True
        return _is_hollow(eval(text, {"ts": views, "x": domain}))
    except (ValueError, IndexError, TypeError):
        return False


def _is_hollow(view: Any) -> bool:
    return any(dim.empty and (dim.implicit_lower or dim.implicit_upper) for dim in view.domain)


def operation(random: Random, view: Any) -> str:
    """One operation on the view ``x``."""
    maker = _Maker(random, view)
    kinds = {
        maker.numpy: 30,
        maker.expression: 40,
        maker.translate: 9,
        maker.label: 3,
        maker.transpose: 7,
        maker.mark: 3,
        maker.cut: 4,
        maker.transform: 4,
    }
    return random.choices(list(kinds), weights=list(kinds.values()))[0]()


@dataclass
class _Maker:
    random: Random
    view: Any

    @property
    def rank(self) -> int:
        return int(self.view.ndim)

    def bounds(self, dim: int) -> tuple[int, int]:
        """Bounds of a dimension, near zero where they are infinite."""
        own = self.view.domain[dim]
        lower = max(own.inclusive_min, -50)
        return lower, max(lower, min(own.exclusive_max, 50))

    def index(self, lower: int, upper: int, beyond: float = 0.08) -> int:
        if self.random.random() < beyond:
            return self.random.randint(lower - 2, upper + 2)
        return self.random.randint(lower, max(lower, upper - 1))

    def numpy(self) -> str:
        return f"x{self.random.choice([*MODES, ''])}[{self.terms(range(self.rank), can_stop=True)}]"

    def terms(self, dims: Sequence[int], *, can_stop: bool = False, new: bool = True, spread: bool = True) -> str:
        random = self.random
        shape = random.choice([(2,), (3,), (1,), (2, 2)])
        terms: list[str] = []
        at = 0
        while at < len(dims):
            kind = random.random()
            lower, upper = self.bounds(dims[at])
            if new and random.random() < 0.06:
                terms.append("None")
            if kind < 0.25:
                terms.append(str(self.index(lower, upper)))
            elif kind < 0.6:
                terms.append(self.slice(lower, upper))
            elif kind < 0.8:
                terms.append(self.array(lower, upper, shape if random.random() < 0.8 else None))
            elif kind < 0.86:
                terms.append(self.mask(dims[at : at + 1]))
            elif kind < 0.89 and at + 1 < len(dims):
                terms.append(self.mask(dims[at : at + 2]))
                at += 1
            elif kind < 0.91:
                terms.append(random.choice(["True", "False"]))
                at -= 1
            elif spread:
                terms.append("...")
                spread = False
                at += random.randint(-1, len(dims) - at - 1)
            else:
                terms.append(":")
            at += 1
            if can_stop and random.random() < 0.15:
                break
        comma = "," if len(terms) == 1 and random.random() < 0.5 else ""
        return ",".join(terms) + comma or "()"

    def slice(self, lower: int, upper: int) -> str:
        random = self.random
        step = random.choice([None] * 5 + [1, 2, 3, -1, -2, -1])
        start, stop = sorted(self.index(lower, upper + 1, 0.03) for _ in range(2))
        if step is not None and step < 0:
            start, stop = stop - 1, start - 1
        first, last = ("" if random.random() < 0.3 else str(bound) for bound in (start, stop))
        return f"{first}:{last}" + ("" if step is None else f":{step}")

    def array(self, lower: int, upper: int, shape: tuple[int, ...] | None = None) -> str:
        if shape is None:
            shape = self.random.choice([(2,), (3,), (1,), (2, 2), (1, 3), (2, 1), (0,), ()])
        indices = [self.index(lower, upper, 0.03) for _ in range(int(np.prod(shape)))]
        return str(np.array(indices, int).reshape(shape).tolist())

    def mask(self, dims: Sequence[int]) -> str:
        sizes = [self.view.domain[dim].size for dim in dims]
        shape = [size if size < 8 else 3 for size in sizes]
        return str(np.array([self.random.random() < 0.5 for _ in range(int(np.prod(shape)))]).reshape(shape).tolist())

    def expression(self) -> str:
        selection, dims = self.selection()
        text = f"ts.d[{selection}]"
        for place in range(self.random.choice([1, 1, 1, 2, 3])):
            text += self.step(dims, place == 0)
        return f"x[{text}]"

    def selection(self) -> tuple[str, list[int]]:
        """Some dimensions, named in one way or another."""
        random = self.random
        if random.random() < 0.14:
            step = random.choice([1, 1, -1])
            return f"::{step}", list(range(self.rank))[::step]
        dims = random.sample(
            range(self.rank), random.randint(0 if random.random() < 0.05 else min(1, self.rank), min(self.rank, 3))
        )
        named = []
        for dim in dims:
            label = self.view.domain[dim].label
            named.append(
                repr(label) if label and random.random() < 0.6 else str(dim - random.choice([0, 0, self.rank]))
            )
        if random.random() < 0.03:
            named.append(str(random.randint(-1, self.rank)))
        return ",".join(named) or "()", dims

    def step(self, dims: Sequence[int], is_first: bool) -> str:
        random, count = self.random, len(dims)
        kind = random.randrange(14)
        if kind < 4:
            how = random.choice(["to", "by", "backward_by"])
            return f".translate_{how}[{self.vector(count)}]"
        if kind < 5:
            return f".stride[{self.vector(count, 3, skipped=0)}]"
        if kind < 6:
            return f".label[{random.sample(['a', 'b', 'c', 'dd', 'e', ''], min(count, 6))}]"
        if kind < 7:
            return ".diagonal"
        if kind < 9:
            places = ",".join(map(str, random.sample(range(max(self.rank, count)), count))) or "()"
            return f".transpose[{random.choice([str(random.randint(-2, 2)), ':', '::-1', places])}]"
        if kind < 10:
            return f".mark_bounds_implicit[{self.marks()}]"
        mode = random.choice(MODES)
        if is_first and random.random() < 0.12:
            return f"{mode}[None]"
        return f"{mode}[{self.terms(dims, new=is_first and random.random() < 0.3, spread=is_first)}]"

    def vector(self, count: int, reach: int = 6, skipped: float = 0.15) -> str:
        random = self.random
        if random.random() < 0.15:
            return str(random.randint(-reach, reach))
        values = ["None" if random.random() < skipped else str(random.randint(-reach, reach)) for _ in range(count)]
        if random.random() < 0.03:
            values.append("1")
        return f"({''.join(value + ',' for value in values)})"

    def marks(self) -> str:
        return self.random.choice(
            ["True", "False", "True:", "False:", ":True", ":False", "True:False", "False:True", "None"]
        )

    def translate(self) -> str:
        return f"x.translate_{self.random.choice(['to', 'by', 'backward_by'])}[{self.vector(self.rank)}]"

    def label(self) -> str:
        return f"x.label[{self.random.sample(['p', 'q', 'r', 's', 't', '', 'u', 'w'], min(self.rank, 8))}]"

    def transpose(self) -> str:
        return self.random.choice(["x.T", f"x.transpose({self.random.sample(range(self.rank), self.rank)})"])

    def mark(self) -> str:
        return f"x.mark_bounds_implicit[{self.marks()}]"

    def cut(self) -> str:
        bounds = [
            sorted(self.index(lower, upper + 1, 0.02) for _ in range(2))
            for lower, upper in map(self.bounds, range(self.rank))
        ]
        labels = list(self.view.domain.labels) if self.random.random() < 0.7 else [""] * self.rank
        lower, upper = [low for low, _ in bounds], [high for _, high in bounds]
        return f"x[ts.IndexDomain(inclusive_min={lower}, exclusive_max={upper}, labels={labels})]"

    def transform(self) -> str:
        random = self.random
        rank = random.randint(0, 3)
        shape = [random.randint(1, 4) for _ in range(rank)]
        origin = [random.randint(-2, 2) for _ in range(rank)]
        outputs = []
        for dim in range(self.rank):
            lower, upper = self.bounds(dim)
            kind = random.random()
            if kind < 0.4 or not rank:
                outputs.append(f"ts.OutputIndexMap({self.index(lower, upper, 0.03)})")
            elif kind < 0.8:
                own, stride = random.randrange(rank), random.choice([1, 1, 1, 2, -1])
                offset = lower - min(stride * origin[own], stride * (origin[own] + shape[own] - 1))
                outputs.append(f"ts.OutputIndexMap(input_dimension={own}, offset={offset}, stride={stride})")
            else:
                some = tuple(size if random.random() < 0.6 else 1 for size in shape)
                outputs.append(f"ts.OutputIndexMap(index_array={self.array(lower, upper, some)})")
        implicit = [random.random() < 0.1 for _ in shape]
        return (
            f"x[ts.IndexTransform(input_inclusive_min={origin}, input_shape={shape}, implicit_lower_bounds={implicit}, "
            f"implicit_upper_bounds={implicit}, output=[{', '.join(outputs)}])]"
        )
