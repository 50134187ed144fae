"""Beancount's own command."""

import subprocess
import sys
from pathlib import Path


def bean_check(file: Path) -> str:
    """Return what `bean-check` prints about a file: nothing if it accepts it."""
    command = Path(sys.executable).with_name("bean-check")
    done = subprocess.run([command, file], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (done.stdout + done.stderr == "")
    return done.stdout + done.stderr
