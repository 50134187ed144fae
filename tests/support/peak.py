"""Peak memory of a process, measured by the process itself.

The `ru_maxrss` of a child does not serve: Linux hands the peak of the parent on to it, and a worker
of pytest has more than what the tests measure.
"""

import re
from pathlib import Path


def peak() -> float:
    """Return the most memory that this process has held at once, in MiB."""
    found = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024
