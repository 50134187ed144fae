"""Beancount's own command."""

import contextlib
import io
import warnings
from pathlib import Path


def bean_check(file: Path) -> str:
    """Return what `bean-check` prints about a file: nothing if it accepts it.

    It is called in this process: a new Python for each file takes longer than the check.
    """
    printed, code = io.StringIO(), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of Beancount and its parser are not ours
        from beancount.scripts.check import main

        # Not click's test runner, whose oldest version loses what goes to standard error.
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                main.main([str(file)])
            except SystemExit as end:
                code = int(end.code or 0)
    assert (code == 0) == (printed.getvalue() == "")
    return printed.getvalue()
