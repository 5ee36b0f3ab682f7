"""Views: indexing that reads nothing, over domains with origins, labels and implicit bounds."""

from blizzarr.indexing.interval import INF
from blizzarr.views.dim import Dim
from blizzarr.views.dim_expression import DimExpression, DimSelection, d
from blizzarr.views.domain import IndexDomain, domain_of
from blizzarr.views.indexable import Indexable
from blizzarr.views.movable import form_of
from blizzarr.views.output_map import OutputIndexMap, OutputIndexMaps, OutputIndexMethod
from blizzarr.views.transform import IndexTransform, transform_of

Indexable.register(IndexTransform)

__all__ = [
    "INF",
    "Dim",
    "DimExpression",
    "DimSelection",
    "IndexDomain",
    "IndexTransform",
    "Indexable",
    "OutputIndexMap",
    "OutputIndexMaps",
    "OutputIndexMethod",
    "compose",
    "d",
    "domain_from_json",
    "domain_of",
    "form_of",
    "transform_from_json",
    "transform_of",
]


def compose(outer: IndexTransform, inner: IndexTransform) -> IndexTransform:
    """Compose two transforms: first `inner`, then `outer`.

    Examples
    --------
    >>> compose(IndexTransform(input_shape=[9])[::2], IndexTransform(input_shape=[3])).output
    [OutputIndexMap(offset=0, stride=2, input_dimension=0)]
    """
    return outer[inner]


def domain_from_json(document: object) -> IndexDomain:
    """The domain that a JSON document describes.

    Examples
    --------
    >>> domain_from_json({"shape": [3, [4]]})
    { [0, 3), [0, 4*) }
    """
    return IndexDomain(json=document)


def transform_from_json(document: object) -> IndexTransform:
    """The transform that a JSON document describes.

    Examples
    --------
    >>> transform_from_json({"input_shape": [3], "output": [{"offset": 2}]}).output
    [OutputIndexMap(offset=2)]
    """
    return IndexTransform(json=document)
