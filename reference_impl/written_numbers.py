"""What becomes of a number for which JSON has no word.

Pages: ``spec/chunk-rows.md``, ``spec/sqlite-rows.md``. A log may hold ``1e400``, which reads as infinite.
Nobody can write it again: it is stored as null. A batch of the caller's never holds one (BACK-9), but
closers repeat a number of the log, and the events of a torn frame are written a second time.
"""

from __future__ import annotations

import math
from typing import Any


def as_written(value: Any) -> Any:
    """CHNK-11: the value with null for every infinite number."""
    if isinstance(value, float) and math.isinf(value):
        return None
    if isinstance(value, list):
        return [as_written(each) for each in value]
    if isinstance(value, dict):
        return {name: as_written(member) for name, member in value.items()}
    return value
