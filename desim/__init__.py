"""Discrete-event simulation of business worlds in which somebody has to decide."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from desim.catalog.presets import from_preset
from desim.core.model_protocols import Model
from desim.core.policy_protocols import Policy
from desim.core.result import Result
from desim.core.roles import Option, Role
from desim.core.run import Run
from desim.core.world import Decision, World
from desim.episodes.driver import play, play_async
from desim.episodes.export import export
from desim.episodes.lineup import Seat
from desim.episodes.prefix import branch
from desim.episodes.replay import replay
from desim.episodes.resume import resume, resume_async
from desim.episodes.series import play_series
from desim.errors import DesimError
from desim.records.episode import Episode
from desim.records.lines import Step
from desim.version import __version__

if TYPE_CHECKING:
    from desim.jobs.rows.rows import Rows, load
    from desim.jobs.run.warm_pool import workers
    from desim.studies.select import select
    from desim.studies.sweep import sweep
    from desim.studies.tuning.problem import problem
    from desim.studies.until import compare

__all__ = [
    "Decision",
    "DesimError",
    "Episode",
    "Model",
    "Option",
    "Policy",
    "Result",
    "Role",
    "Rows",
    "Run",
    "Seat",
    "Step",
    "World",
    "__version__",
    "branch",
    "compare",
    "export",
    "from_preset",
    "load",
    "play",
    "play_async",
    "play_series",
    "problem",
    "replay",
    "resume",
    "resume_async",
    "select",
    "sweep",
    "workers",
]

#: Names that are imported when they are first used, by their modules: importing desim is fast.
_LATER = {
    "Rows": "desim.jobs.rows.rows",
    "compare": "desim.studies.until",
    "load": "desim.jobs.rows.rows",
    "problem": "desim.studies.tuning.problem",
    "select": "desim.studies.select",
    "sweep": "desim.studies.sweep",
    "workers": "desim.jobs.run.warm_pool",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
