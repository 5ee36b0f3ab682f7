"""Long work, cut into pieces that the workers of an executor do, on this machine or on others.

`spread` gives the pieces out, a bounded number at a time, and yields their results in order. A piece whose worker is
lost is given out again, so each piece must be such that it can be repeated.
"""

from blizzarr.distributing.spread import Progress, Tally, batches, check_progress, spread
from blizzarr.distributing.workers import Workers, pickled, workers_of
