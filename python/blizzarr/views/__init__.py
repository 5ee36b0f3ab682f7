"""Views: indexing that reads nothing, over domains with origins, labels and implicit bounds."""

from blizzarr.indexing.interval import INF
from blizzarr.views.dim import Dim
from blizzarr.views.dim_expression import DimExpression, DimSelection, d
from blizzarr.views.domain import IndexDomain, domain_of, form_of
from blizzarr.views.output_map import OutputIndexMap, OutputIndexMaps, OutputIndexMethod
from blizzarr.views.transform import Indexed, IndexTransform, transform_of
