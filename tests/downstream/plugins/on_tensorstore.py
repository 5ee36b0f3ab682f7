"""`import tensorstore` gives blizzarr's interface of that name."""

import sys

import blizzarr.tensorstore

sys.modules["tensorstore"] = blizzarr.tensorstore
