"""The floors in pyproject.toml: `.ci/run` installs them once and runs the core tests with them."""

import tomllib

from support.lowest import PYPROJECT, floors


def test_every_dependency_has_a_floor() -> None:
    """Also those of the extras; each is one exact version for pip."""
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    lines = floors(extras)
    assert "simpy==4.1.1" in lines
    assert all(line.count("==") == 1 for line in lines)
