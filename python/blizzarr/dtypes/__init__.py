"""Data types: one class, tables of rows, and the conversion of fill values.

To add a data type, add a row to `table` (or to `ml`, if it needs ``ml_dtypes``).
"""

from blizzarr.dtypes.data_type import DataType
from blizzarr.dtypes.kinds import Kind

__all__ = ["DataType", "Kind"]
