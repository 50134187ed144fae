"""Discrete-event simulation of business worlds in which somebody has to decide.

The public names, by task; the README leads to the page of each:

* A world: `World`, `Role`, `Option`, `Decision`, `Model`, `Presets`, `from_preset`, `Calendar`,
  `BusinessHours`, `month_start`, `KnownScores`, `read_known_scores`.
* A policy: `Policy`, `Seat`, `Simulator`.
* One episode: `play`, `play_async`, `play_series`, `Run`, `Limits`, `Episode`.
* A record: `replay`, `resume`, `resume_async`, `branch`, `play_branch`, `export`.
* Many episodes: `sweep`, `compare`, `select`, `workers`, `load`, `Rows`.
* Search, and the value of decisions: `tune`, `problem`, `regret`,
  `compare_branches`.
* A world of one's own, checked: `check`.
* Pictures and pages: `plot_episode`, `write_report`.
* Errors: `DesimError` and its kinds `UsageError`, `WrongAction`, `PolicyFailed`, `ModelFailed`,
  `LimitReached`, `BadRecord`.

`desim.composition`, `desim.monitoring`, `desim.sandbox` and `desim.statistics` hand on the names of
their subjects.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from desim.joined_packages import join_packages
from desim.version import __version__

join_packages()

if TYPE_CHECKING:
    from desim.catalog.known_scores import KnownScores, read_known_scores
    from desim.catalog.presets import Presets, from_preset
    from desim.core.calendar import BusinessHours, Calendar, month_start
    from desim.core.limits import Limits
    from desim.core.model_protocols import Model
    from desim.core.policy_protocols import Policy
    from desim.core.roles import Option, Role
    from desim.core.run import Run
    from desim.core.world import Decision, World
    from desim.episodes.driver import play, play_async
    from desim.episodes.export import export
    from desim.episodes.futures.branched_record import play_branch
    from desim.episodes.lineup import Seat
    from desim.episodes.prefix import branch
    from desim.episodes.replay import replay
    from desim.episodes.resume import resume, resume_async
    from desim.episodes.series import play_series
    from desim.episodes.simulator import Simulator
    from desim.errors import (
        BadRecord,
        DesimError,
        LimitReached,
        ModelFailed,
        PolicyFailed,
        UsageError,
        WrongAction,
    )
    from desim.jobs.rows.rows import Rows, load
    from desim.jobs.run.warm_pool import workers
    from desim.records.episode import Episode
    from desim.reports.record.episode_plot import plot_episode
    from desim.reports.report import write_report
    from desim.studies.checks.check import check
    from desim.studies.decisions.branch_comparison import compare_branches
    from desim.studies.decisions.regret import regret
    from desim.studies.select import select
    from desim.studies.sweep import sweep
    from desim.studies.tuning.problem import problem
    from desim.studies.tuning.tune import tune
    from desim.studies.until import compare

#: The public names by their modules, each imported when it is first used: importing desim is fast.
_MODULES = {
    "BadRecord": "desim.errors",
    "BusinessHours": "desim.core.calendar",
    "Calendar": "desim.core.calendar",
    "Decision": "desim.core.world",
    "DesimError": "desim.errors",
    "Episode": "desim.records.episode",
    "KnownScores": "desim.catalog.known_scores",
    "LimitReached": "desim.errors",
    "Limits": "desim.core.limits",
    "Model": "desim.core.model_protocols",
    "ModelFailed": "desim.errors",
    "Option": "desim.core.roles",
    "Policy": "desim.core.policy_protocols",
    "PolicyFailed": "desim.errors",
    "Presets": "desim.catalog.presets",
    "Role": "desim.core.roles",
    "Rows": "desim.jobs.rows.rows",
    "Run": "desim.core.run",
    "Seat": "desim.episodes.lineup",
    "Simulator": "desim.episodes.simulator",
    "UsageError": "desim.errors",
    "World": "desim.core.world",
    "WrongAction": "desim.errors",
    "branch": "desim.episodes.prefix",
    "check": "desim.studies.checks.check",
    "compare": "desim.studies.until",
    "compare_branches": "desim.studies.decisions.branch_comparison",
    "export": "desim.episodes.export",
    "from_preset": "desim.catalog.presets",
    "load": "desim.jobs.rows.rows",
    "month_start": "desim.core.calendar",
    "play": "desim.episodes.driver",
    "play_async": "desim.episodes.driver",
    "play_branch": "desim.episodes.futures.branched_record",
    "play_series": "desim.episodes.series",
    "plot_episode": "desim.reports.record.episode_plot",
    "problem": "desim.studies.tuning.problem",
    "read_known_scores": "desim.catalog.known_scores",
    "regret": "desim.studies.decisions.regret",
    "replay": "desim.episodes.replay",
    "resume": "desim.episodes.resume",
    "resume_async": "desim.episodes.resume",
    "select": "desim.studies.select",
    "sweep": "desim.studies.sweep",
    "tune": "desim.studies.tuning.tune",
    "workers": "desim.jobs.run.warm_pool",
    "write_report": "desim.reports.report",
}

__all__ = [
    "BadRecord",
    "BusinessHours",
    "Calendar",
    "Decision",
    "DesimError",
    "Episode",
    "KnownScores",
    "LimitReached",
    "Limits",
    "Model",
    "ModelFailed",
    "Option",
    "Policy",
    "PolicyFailed",
    "Presets",
    "Role",
    "Rows",
    "Run",
    "Seat",
    "Simulator",
    "UsageError",
    "World",
    "WrongAction",
    "__version__",
    "branch",
    "check",
    "compare",
    "compare_branches",
    "export",
    "from_preset",
    "load",
    "month_start",
    "play",
    "play_async",
    "play_branch",
    "play_series",
    "plot_episode",
    "problem",
    "read_known_scores",
    "regret",
    "replay",
    "resume",
    "resume_async",
    "select",
    "sweep",
    "tune",
    "workers",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
