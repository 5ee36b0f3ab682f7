"""For those who test against blizzarr: contract suites and reference models."""
