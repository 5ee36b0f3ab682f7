"""``acme.celsius``: temperatures in hundredths of a degree, 16-bit integers in memory and in the store."""

import numpy as np

CELSIUS = np.dtype("int16")
