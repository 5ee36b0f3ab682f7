"""When a cached entry must be checked against the store before it is used."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Since:
    """Use entries without another check if they were checked at this moment or later."""

    seconds: float
    """Seconds since 1970, like `time.time()`."""

    @classmethod
    def now(cls) -> Since:
        """Return the current moment."""
        return cls(time.time())


Recheck: TypeAlias = bool | Literal["open"] | float | Since
"""When to check an entry. True: before each read. False: never. ``"open"``: once after the array was opened. A number:
if the last check is longer ago than so many seconds. `Since`: if the last check was before that moment.
"""


def check_recheck(recheck: Recheck) -> Recheck:
    """Check that a value is a valid `Recheck`."""
    if isinstance(recheck, bool | Since) or recheck == "open":
        return recheck
    if not isinstance(recheck, int | float):
        raise TypeError(f"expected recheck to be True, False, 'open', seconds or Since(...), found {recheck!r}")
    if math.isnan(recheck) or recheck < 0:
        raise ValueError(f"expected recheck to be 0 seconds or more, found {recheck!r}")
    return recheck


def native_recheck(recheck: Recheck) -> tuple[str, float]:
    """Return the argument for the engine, for an array that is opened now.

    >>> native_recheck(2.5), native_recheck(False), native_recheck(Since(12))
    (('age', 2.5), ('never', 0.0), ('since', 12.0))
    """
    if isinstance(recheck, bool):
        return ("always" if recheck else "never"), 0.0
    if recheck == "open":
        return "open", 0.0
    if isinstance(recheck, Since):
        return "since", float(recheck.seconds)
    assert not isinstance(recheck, str), "checked when the store was made"
    return ("age", float(recheck)) if recheck else ("always", 0.0)
