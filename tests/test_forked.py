"""Processes that are forked instead of started: what they keep of the tests' process."""

import sys
from pathlib import Path

import pytest
from support.forked import ended, forked


def test_modules_of_a_layered_environment_stay_and_those_of_a_user_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package may lie outside `sys.prefix`; numpy, for one, cannot be imported a second time."""
    (tmp_path / "of_a_user.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    import numpy  # noqa: ICN001, F401
    import of_a_user  # type: ignore[import-not-found]  # noqa: F401

    monkeypatch.setattr(sys, "prefix", "/nowhere")
    monkeypatch.setattr(sys, "base_prefix", "/nowhere")
    monkeypatch.setattr("support.forked.ROOT", Path("/nowhere"))  # which may hold an environment
    left = lambda: sys.stdout.write(str({"numpy", "of_a_user"} & {*sys.modules}))  # noqa: E731
    done = ended(forked(left, cwd=tmp_path))
    assert (done.out, done.err, done.code) == ("{'numpy'}", "", 0)
