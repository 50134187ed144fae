"""The lowest versions that pyproject.toml declares, as constraints for pip.

`python tests/support/lowest.py [EXTRA ...]` prints each package with its floor as the version.
"""

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"

_FLOOR = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*>=\s*([0-9][0-9A-Za-z.]*)")


def floors(extras: Iterable[str] = ()) -> list[str]:
    """Return a line `NAME==FLOOR` for each dependency, and for those of some extras.

    Raises:
        ValueError: A dependency has no floor.
    """
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    optional = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(each for extra in extras for each in optional[extra])]
    return list(dict.fromkeys(_exact(each) for each in wanted))


def _exact(requirement: str) -> str:
    match = _FLOOR.match(requirement)
    if match is None:
        raise ValueError(f"{requirement} has no floor; write NAME>=VERSION")
    return f"{match[1]}=={match[2]}"


if __name__ == "__main__":
    sys.stdout.write("\n".join([*floors(sys.argv[1:]), ""]))
