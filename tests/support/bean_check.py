"""Beancount's own command."""

import warnings
from pathlib import Path

from click.testing import CliRunner


def bean_check(file: Path) -> str:
    """Return what `bean-check` prints about a file: nothing if it accepts it.

    It is called in this process: a new Python for each file takes longer than the check.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of Beancount and its parser are not ours
        from beancount.scripts.check import main

        done = CliRunner().invoke(main, [str(file)])
    assert (done.exit_code == 0) == (done.output == "")
    return done.output
