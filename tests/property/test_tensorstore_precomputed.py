"""TensorStore as the judge of volumes of Neuroglancer: random ones are opened, refused, read, written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import blizzarr.tensorstore as ours
from property.precomputed_cases import creation, damaged, demands, info
from unit.spec.oracle import Refusal, outcome

theirs = pytest.importorskip("tensorstore")

DRIVER = "neuroglancer_precomputed"


def gist(found: tuple[str, Any]) -> tuple[str, Any]:
    """Without the codecs that cannot be merged, which each spells; what is missing is a KeyError here, too."""
    kind, said = found
    if isinstance(said, Refusal):
        said = Refusal(re.sub(r"Cannot merge codec spec .* with .*?\}:", "Cannot merge:", said.text), said.is_ours)
    return kind.replace("KeyError", "ValueError"), said


def both(act: Callable[[Any], Any], seed: int) -> tuple[str, Any]:
    """The same act of both libraries, which must come to the same."""
    mine, judged = (gist(outcome(lambda: act(library), lambda found: found)) for library in (ours, theirs))  # noqa: B023
    assert mine == judged, seed
    return mine


def facts(library: Any, of: Any) -> list[Any]:
    """What a spec or a store says of itself; of what cannot be said, the kind of the error and the numbers in it."""
    said: list[Any] = [of.rank, str(of.domain), str(of.dtype)]
    asked: list[Callable[[], Any]] = [
        lambda: of.chunk_layout.to_json(),
        lambda: of.codec.to_json(),
        lambda: of.dimension_units,
        lambda: of.fill_value,
        lambda: of.schema.to_json(),
        lambda: of.url,
    ]
    answers = [gist(outcome(ask, str)) for ask in asked]
    return said + [(kind, text if kind == "gives" else sorted(re.findall(r"\d+", str(text)))) for kind, text in answers]


@pytest.mark.parametrize("block", range(4))
def test_specs(block: int) -> None:
    """What a spec says, before anything is opened."""
    refused = 0
    for seed in range(block * 150, (block + 1) * 150):
        random = Random(seed)
        spec, _ = demands(random, info(random))
        if random.random() < 0.2 and "scale_metadata" in spec:
            damaged(random, {"scales": [spec["scale_metadata"]]})
        spec |= {"driver": random.choice([DRIVER, "neuroglancer-precomputed"]), "kvstore": "memory://a"}

        def said(library: Any) -> str:
            found = library.Spec(spec)  # noqa: B023
            again = library.Spec(found.to_json())
            return str(
                [
                    json.dumps(
                        [found.to_json(), again.to_json(), found.to_json(include_defaults=True)], sort_keys=True
                    ),
                    facts(library, found),
                ]
            )

        refused += both(said, seed)[0] != "gives"
    assert refused


@pytest.mark.parametrize("block", range(4))
def test_opening(block: int) -> None:
    """Scales are found, and held against what is demanded."""
    refused = 0
    for seed in range(block * 150, (block + 1) * 150):
        random = Random(1000 + seed)
        document = info(random)
        spec, _ = demands(random, document)
        refused += both(opened(document, spec), seed)[0] != "gives"
    assert 0 < refused < 100


def opened(document: dict[str, Any], spec: dict[str, Any]) -> Callable[[Any], str]:
    """All that a volume says of itself."""

    def act(library: Any) -> str:
        context = library.Context()
        store = library.KvStore.open("memory://", context=context).result()
        store["info"] = json.dumps(document).encode()
        found = library.open({"driver": DRIVER, "kvstore": "memory://", **spec}, context=context).result()
        specs = [found.spec().to_json(), found.spec(minimal_spec=True).to_json(), found.schema.to_json()]
        view = found[library.d["channel"][0]][library.d["x", "z"].translate_by[5]]
        return str([json.dumps([*specs, view.spec().to_json()], sort_keys=True), facts(library, found), view.domain])

    return act


def test_damaged_documents() -> None:
    """What TensorStore does not open is refused, and nothing else; the error names the member."""
    refused = 0
    for seed in range(600):
        random = Random(seed)
        document = damaged(random, info(random))
        acts = [lambda library=library: opened(document, {})(library) for library in (ours, theirs)]  # noqa: B023
        mine, judged = (gist(outcome(act, str)) for act in acts)
        if judged[0] == "gives" or "No scale found" in judged[1]:
            assert mine == judged, seed
            continue
        refused += 1
        assert mine[0] == judged[0], (seed, judged[1])
        assert "info" in mine[1], (seed, mine)
    assert refused > 200


@pytest.mark.parametrize("block", range(4))
def test_creating(block: int) -> None:
    """New scales, first of a volume and then behind others: what is stored, and what cannot be."""
    made = 0
    for seed in range(block * 150, (block + 1) * 150):
        random = Random(seed)
        first, second = creation(random), creation(random)
        if random.random() < 0.7:
            # Mostly of the same volume.
            for name in ("dtype", "domain"):
                if name in first.get("schema", {}):
                    second.setdefault("schema", {})[name] = first["schema"][name]
        modes = [{"create": True}, random.choice([{"create": True}, {"create": True, "open": True}])]

        def act(library: Any) -> list[Any]:
            context = library.Context()
            store = library.KvStore.open("memory://", context=context).result()
            said = []
            for spec, mode in zip((first, second), modes, strict=True):  # noqa: B023
                where = {"driver": DRIVER, "kvstore": "memory://", **spec}
                opening = lambda: library.open(where, context=context, **mode).result()  # noqa: B023, E731
                said.append(gist(outcome(opening, lambda found: [found.spec().to_json(), *facts(library, found)])))  # noqa: B023
            stored = json.loads(store["info"]) if b"info" in store.list().result() else None
            return [said, stored]

        found = both(act, seed)[1]
        made += sum(kind == "gives" for kind, _ in found[0])
    assert made > 50


def part(random: Random, domain: Any) -> tuple[slice, ...]:
    """A part of a volume."""
    found = []
    for low, high in zip(domain.inclusive_min, domain.exclusive_max, strict=True):
        first, last = sorted((random.randint(low, high), random.randint(low, high)))
        found.append(slice(first, last, random.choice([1, 1, 2])) if last > first else slice(first, last))
    return tuple(found)


def test_elements(tmp_path: Path) -> None:
    """Whatever one library writes both read the same, and what the other writes on top of it."""
    for seed in range(60):
        random = Random(seed)
        document = info(random)
        number = random.randrange(len(document["scales"]))
        place = tmp_path / str(seed)
        place.mkdir()
        (place / "info").write_text(json.dumps(document))
        spec = {"driver": DRIVER, "kvstore": f"file://{place}/", "scale_index": number}
        chunk = random.choice(document["scales"][number]["chunk_sizes"])
        spec["scale_metadata"] = {"chunk_size": chunk}
        mine, judged = (library.open(spec).result() for library in (ours, theirs))
        values = np.random.default_rng(seed)
        for writer in (judged, mine, judged, mine):
            where = part(random, judged.domain)
            shape = writer[where].shape
            writer[where] = values.integers(0, random.choice([2, 9, 1000]), shape).astype(document["data_type"])
            expected = judged.read().result()
            np.testing.assert_array_equal(mine.read().result(), expected, str(seed))
            where = part(random, judged.domain)
            np.testing.assert_array_equal(mine[where].read().result(), judged[where].read().result(), str(seed))
