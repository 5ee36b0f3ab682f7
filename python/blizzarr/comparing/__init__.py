"""Comparing two arrays or hierarchies, whatever their formats: what they hold, not how it is laid out.

`diff` pairs the nodes, `metadata` compares what their documents say, `elements` what is in them, part by part. The
result is a `Comparison`.
"""

from blizzarr.comparing.comparison import Comparison
from blizzarr.comparing.diff import diff
from blizzarr.equality import Tolerance
