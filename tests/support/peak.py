"""Peak memory of a process, measured by the process itself.

The `ru_maxrss` of a child does not serve: Linux hands the peak of the parent on to it, and a worker
of pytest has more than what the tests measure.
"""

import atexit
import re
import sys
from pathlib import Path

__all__ = ["command", "peak"]


def peak() -> float:
    """Return the most memory that this process has held at once, in MiB."""
    found = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024


def command(file: Path) -> list[str]:
    """Return the start of a command that runs `desim` and leaves its peak, in MiB, in a file."""
    return [sys.executable, "-m", "support.peak", str(file)]


def _run() -> None:
    file = Path(sys.argv.pop(1))
    atexit.register(lambda: file.write_text(str(peak())))
    from desim.cli.main import main

    main()


if __name__ == "__main__":
    _run()
