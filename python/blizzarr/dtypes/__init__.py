"""The data types of arrays: one value class, tables of rows, and the forms of fill values.

To add a data type, add a row to `table` (or to `ml`, where it needs ``ml_dtypes``).
"""

from blizzarr.dtypes.data_type import DataType
from blizzarr.dtypes.kinds import Kind

__all__ = ["DataType", "Kind"]
