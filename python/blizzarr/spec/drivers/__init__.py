"""The drivers of arrays, as specs describe them."""

from blizzarr.spec.driver_table import DRIVERS
from blizzarr.spec.drivers.driver import Change, Driver
from blizzarr.spec.drivers.stored import StoredDriver
