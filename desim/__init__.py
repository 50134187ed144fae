"""Discrete-event simulation of business worlds in which somebody has to decide.

The public names, by task; the README leads to the page of each:

* A world: `World`, `Role`, `Option`, `Decision`, `Model`, `from_preset`, `Calendar`,
  `BusinessHours`, `month_start`, `KnownScores`, `read_known_scores`.
* A policy: `Policy`, `Seat`, `Simulator`.
* One episode: `play`, `play_async`, `play_series`, `Run`, `Limits`, `Episode`.
* A record: `replay`, `resume`, `branch`, `play_branch`, `export`.
* Many episodes: `sweep`, `compare`, `select`, `load`, `Rows`.
* Search, and the value of decisions: `tune`, `problem`, `regret`.
* A world of one's own, checked: `check`.
* Pictures and pages: `plot_episode`, `write_report`.
* Errors: `DesimError` and its kinds `UsageError`, `WrongAction`, `PolicyFailed`, `ModelFailed`,
  `LimitReached`, `BadRecord`.

`desim.composition`, `desim.monitoring`, `desim.sandbox` and `desim.statistics` hand on the names of
their subjects.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

from desim.joined_packages import join_packages
from desim.version import __version__ as __version__

join_packages()

#: The public names by their modules, each imported when it is first used: importing desim is fast.
_MODULES = {
    name.name: str(each.module)
    for each in ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
    if isinstance(each, ast.ImportFrom)
    for name in each.names
}

__all__ = sorted(_MODULES)  # noqa: PLE0605 (each name is written once, in `__init__.pyi`)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
