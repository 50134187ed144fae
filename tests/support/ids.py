"""Names of test cases that are the same in every process."""

import re
from typing import Any


def stable(value: Any) -> str:
    """Return the start of a case's `repr`, without memory addresses, the items of sets in order."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    return re.sub(r"\{([^{}:]*)\}", lambda found: f"{{{_sorted(found[1])}}}", text)[:200]


def _sorted(items: str) -> str:
    return ", ".join(sorted(items.split(", ")))
