"""Views without another library at hand: what holds of them, and what is ours rather than TensorStore's."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

from blizzarr.errors import BlizzarrError, OutOfBoundsError, SelectionError, SpecError
from blizzarr.indexing.form import Form
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec import Spec
from blizzarr.views import (
    INF,
    Dim,
    IndexDomain,
    Indexed,
    IndexTransform,
    OutputIndexMap,
    d,
    domain_of,
    form_of,
)
from blizzarr.views.domain import merged_domain


def test_indices_beyond_an_explicit_bound_are_errors_of_ours_and_of_python() -> None:
    """Every error can be caught as `BlizzarrError`, and as what Python calls it."""
    view = IndexTransform(input_shape=[3])
    for kind in (BlizzarrError, IndexError):
        with pytest.raises(kind, match="Index 3 is outside valid range"):
            view[3]
    for kind in (BlizzarrError, ValueError):
        with pytest.raises(kind, match="does not match number of labels"):
            view.label["x", "y"]
    assert issubclass(SelectionError, BlizzarrError)


def test_negative_indices_are_indices() -> None:
    """Nothing is counted from the end: -1 is an index like others."""
    view = IndexTransform(input_inclusive_min=[-2], input_shape=[5])
    assert view[-1].output == [OutputIndexMap(-1)]
    with pytest.raises(IndexError):
        IndexTransform(input_shape=[5])[-1]


def test_views_compose() -> None:
    """A view of a view is one transform."""
    whole = IndexTransform(input_shape=[100, 50])
    view = whole[10:90:2, 7].translate_by[5][20:30]
    assert view.domain == IndexDomain(inclusive_min=[20], exclusive_max=[30])
    assert view([20]) == (30, 7)
    inner = IndexTransform(input_shape=[3], output=[OutputIndexMap(4), OutputIndexMap(input_dimension=0, stride=9)])
    assert whole[inner]([2]) == (4, 18)


def test_strides_of_none_leave_a_dimension() -> None:
    """As TensorStore documents it; 0.1.86 fails with an overflow."""
    assert IndexDomain(shape=[6, 6])[d[0, 1].stride[None, 2]] == IndexDomain(shape=[6, 3])


def test_ellipses_after_another_operation() -> None:
    """What TensorStore 0.1.86 crashes of: the ellipsis stands for the selected dimensions that are left."""
    view = IndexTransform(input_shape=[3, 4, 5], input_labels=["x", "y", "z"])
    found = view[d["x", "z"].translate_by[1][..., 2]]
    assert found.domain == IndexDomain(inclusive_min=[1, 0], shape=[3, 4], labels=["x", "y"])
    assert found([2, 3]) == (1, 3, 1)


def test_views_without_elements_and_with_implicit_bounds() -> None:
    """What TensorStore 0.1.86 crashes of, too."""
    view = IndexTransform(input_shape=[3, 4], implicit_lower_bounds=[False, True])[[0, 2], :0]
    assert view.shape == (2, 0)
    assert view[1].shape == (0,)


@pytest.mark.parametrize(
    "value",
    [
        Dim(3, "x"),
        Dim(implicit_upper=False),
        IndexDomain(shape=[3, 4], labels=["x", ""], implicit_upper_bounds=[True, False]),
        IndexTransform(input_shape=[3, 4])[::2, [3, 1]],
        OutputIndexMap(7),
        OutputIndexMap(1, 2, 3),
        OutputIndexMap([[1, 2]], 3, 4, Dim(9)),
        d["x", 1:, 0],
        d["x", 0].label["a", "b"].translate_to[3, None][[1, 2], :].oindex[..., [True, False]].diagonal.transpose[0],
        d[0].mark_bounds_implicit[:True].stride[2].vindex[[1, 2]].translate_backward_by[4],
    ],
    ids=repr,
)
def test_values_survive_pickle_and_copies(value: Any) -> None:
    """Pickled, copied and deep-copied they are equal, and shown alike."""
    for other in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert other == value
        assert repr(other) == repr(value)
        assert type(other) is type(value)
        if isinstance(other, OutputIndexMap) and other.index_array is not None:
            assert not other.index_array.flags.writeable


def test_a_dimension_can_be_changed_but_its_domain_not() -> None:
    """`Dim` is the one that has setters."""
    dim = Dim(5)
    domain = IndexDomain([dim])
    dim.label, dim.implicit_lower, dim.implicit_upper = "x", True, True
    assert repr(dim) == 'Dim(inclusive_min=0, implicit_lower=True, exclusive_max=5, implicit_upper=True, label="x")'
    assert domain == IndexDomain(shape=[5])
    with pytest.raises(TypeError):
        dim.label = 5  # type: ignore[assignment]


def test_arrays_of_indices_are_copied() -> None:
    """Changing what was passed does not change the view."""
    indices = np.array([1, 2])
    view = IndexTransform(input_shape=[5])[indices]
    map_ = OutputIndexMap(indices)
    indices[:] = 4
    assert view([0]) == (1,)
    assert map_.index_array is not None
    assert map_.index_array.tolist() == [1, 2]


def test_unbounded_domains() -> None:
    """Their bounds are infinite and implicit."""
    domain = IndexDomain(2)
    assert domain.inclusive_min == (-INF, -INF)
    assert domain.shape == (2 * INF + 1,) * 2
    assert IndexDomain(json=domain.to_json()) == domain
    assert IndexTransform(json={"input_rank": 2}) == IndexTransform(domain)
    for index in (INF, -INF):
        with pytest.raises(OutOfBoundsError, match=str(INF)):
            IndexTransform(1)[index]
    assert IndexTransform(1)[INF - 1]([]) == (INF - 1,)


def test_two_descriptions_of_a_domain_are_merged() -> None:
    """Unknown bounds give way to known ones; known ones have to agree, as have labels."""
    shape = IndexDomain(shape=[3, 4], implicit_upper_bounds=[True, True])
    assert merged_domain(shape, IndexDomain(labels=["x", "y"])) == shape.label["x", "y"]
    assert merged_domain(shape, IndexDomain(shape=[3, 4])) == IndexDomain(shape=[3, 4])
    for other, said in [
        (IndexDomain(inclusive_min=[1, 0]), "Mismatch in dimension 0: Lower bounds do not match"),
        (IndexDomain(shape=[3, 5]), "Mismatch in dimension 1: Upper bounds do not match"),
        (IndexDomain(1), "Ranks do not match"),
    ]:
        with pytest.raises(SpecError, match="Cannot merge index domain .*: " + said):
            merged_domain(shape, other)


class Pixels(Indexed):
    """Something with a form."""

    _form: Any = None

    def __init__(self, form: Form) -> None:
        self._form = form

    def _with_form(self, form: Form) -> Pixels:
        return Pixels(form)


def test_whatever_has_a_form_is_indexed_like_a_transform() -> None:
    """Views are of the class that was indexed."""
    pixels = Pixels(Form.of_shape((20, 30)))
    view = pixels[3:9].label["x", "y"].T[d["y"][5]].translate_by[1].mark_bounds_implicit[True]
    assert type(view) is Pixels
    assert repr(domain_of(form_of(view))) == '{ "x": [4*, 10*) }'
    assert (view.origin, view.shape, view.size) == ((4,), (6,), 6)
    assert pixels.oindex[[1, 2], [3, 4, 5]].shape == (2, 3)
    assert pixels.vindex[[1, 2], [3, 4]].shape == (2,)


def test_indexing_needs_a_rank() -> None:
    """Where it is not known, everything that would need it is an error."""
    for thing in (Schema(), Spec({"driver": "zarr3", "kvstore": "memory://"})):
        assert (thing.domain, thing.rank, thing.ndim) == (None, None, None)
        for act in (
            lambda thing: thing[1],
            lambda thing: thing.T,
            lambda thing: thing.label["x"],
            lambda thing: thing.oindex[1],
            lambda thing: thing.shape,
        ):
            with pytest.raises(ValueError, match=r"Cannot perform indexing operations on S.* with unspecified rank"):
                act(thing)


def test_errors_about_several_values_say_what_tensorstore_says() -> None:
    """After what was expected: which vectors or arrays do not fit each other."""
    transform = IndexTransform(input_rank=3)
    for act, said in (
        (
            lambda: transform[d[:][(1, 2) : (7, 8, 9)]],
            "stop=[7,8,9] (rank 3) is incompatible with start",
        ),
        (lambda: transform[[1, 2, 3, 4], [1, 2, 3]], "Incompatible index array shapes: {3} vs {4}"),
    ):
        with pytest.raises(SelectionError, match=re.escape(said)):
            act()
