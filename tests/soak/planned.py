"""Changes of nodes that are planned ahead, so that it is known which nodes there are after each of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import blizzarr
from blizzarr.stores import Store

__all__ = ["BEFORE", "STEPS", "Plan", "State", "listed", "stated"]

STEPS, BEFORE = 12, 3
"""What each actor does, and how much of it before there are others."""

State = tuple[Any, ...] | None
"""Kind, the attribute, and the shape of a node; None where there is none."""


@dataclass
class Plan:
    """What one actor does, and which of its nodes there are after each step; the first is the state before any."""

    form: str
    steps: list[tuple[str, str]] = field(default_factory=lambda: [("", "")])
    states: list[dict[str, State]] = field(default_factory=list)
    created: list[dict[str, int]] = field(default_factory=lambda: [{}])
    """The steps that made the arrays that there are."""

    @classmethod
    def make(cls, form: str, actor: int, chance: random.Random) -> Plan:
        """Arrays at the root, a group, and arrays in it; some consolidate most of the time, others seldom."""
        names = [f"x{actor}", f"g{actor}", f"g{actor}/y", f"g{actor}/z"]
        plan = cls(form, states=[{"": ("group", None), **dict.fromkeys(names)}])
        often = chance.choice([0.1, 0.3, 0.8])
        for step in range(1, STEPS + 1):
            now = plan.states[-1]
            there = [name for name in names if now[name] is not None]
            possible = [name for name in names if name.count("/") == 0 or now[f"g{actor}"] is not None]
            missing = [name for name in possible if now[name] is None]
            if step > BEFORE and chance.random() < often:
                plan._add("consolidate", chance.choice(["", "", *(name for name in there if name == names[1])]), step)
            elif missing and (step <= BEFORE or chance.random() < 0.5):
                plan._add("create", missing[0] if step <= BEFORE else chance.choice(missing), step)
            else:
                kind = chance.choice(["delete", "overwrite", "annotate", "annotate", "resize"])
                arrays = [name for name, state in now.items() if state is not None and state[0] == "array"]
                if kind == "annotate" or not arrays:
                    plan._add("annotate", chance.choice(["", *there]), step)
                else:
                    plan._add(kind, chance.choice(arrays if kind in ("overwrite", "resize") else there), step)
        return plan

    def _add(self, kind: str, name: str, step: int) -> None:
        states, created = dict(self.states[-1]), dict(self.created[-1])
        old = states.get(name)
        match kind:
            case "create" | "overwrite":
                array = "g" not in name.rpartition("/")[2]
                states[name] = ("array", step, (2,)) if array else ("group", step)
                created[name] = step
            case "delete":
                states |= {one: None for one in states if one == name or one.startswith(f"{name}/")}
            case "annotate":
                assert old is not None
                states[name] = (old[0], step, *old[2:])
            case "resize":
                assert old is not None
                states[name] = (*old[:2], (2 + step,))
        self.steps.append((kind, name))
        self.states.append(states)
        self.created.append(created)

    def possible(self, name: str, returned: int, begun: int) -> list[State]:
        """What a reader may be shown that began after one step had returned, and ended when another had begun."""
        found = [self.states[step][name] for step in range(returned, begun + 1)]
        if not self._replaced(name, returned, begun):
            return found
        # In v2 attributes have a document of their own, and in the draft a group is there as long as a member of it is.
        bare = [(state[0], None, *state[2:]) for state in found if state is not None and self.form != "v3"]
        return [*found, *bare, None]

    def _replaced(self, name: str, returned: int, begun: int) -> bool:
        return any(
            kind in ("create", "overwrite", "delete") and (name == one or name.startswith(f"{one}/"))
            for kind, one in self.steps[returned + 1 : begun + 1]
        )

    def values(self, name: str, returned: int, begun: int) -> set[int]:
        """The elements that may be read; what is being created has none yet."""
        made = {self.created[step][name] for step in range(returned, begun + 1) if name in self.created[step]}
        return made | {-1} if self._replaced(name, returned, begun) else made


def stated(node: Any, name: str, actor: int) -> State:
    """What is known of a node."""
    if node is None:
        return None
    if not name:
        return "group", node.attrs.get(f"v{actor}")
    if isinstance(node, blizzarr.Array):
        return "array", node.attrs.get("v"), node.shape
    return "group", node.attrs.get("v")


def listed(store: Store, use: bool | None) -> dict[str, Any]:
    """All nodes, as a reader finds them."""
    root = blizzarr.open_group(store, mode="r", use_consolidated=use)
    nodes = {"": root, **dict(root.members(max_depth=None))}
    return {name: (getattr(node, "shape", None), dict(node.attrs)) for name, node in nodes.items()}
