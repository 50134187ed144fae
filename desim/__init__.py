"""Discrete-event simulation of business worlds in which somebody has to decide."""

from desim.episode import Episode, Step
from desim.errors import DesimError
from desim.kernel import Option, Result, Role, Run
from desim.params import from_preset
from desim.play import play, play_async, play_series
from desim.protocols import Model, Policy
from desim.replay import branch, replay
from desim.resume import resume, resume_async
from desim.seating import Seat
from desim.sweeps.rows import Rows
from desim.sweeps.sweep import sweep
from desim.world import Decision, World

__version__ = "0.1.0"

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
    "from_preset",
    "play",
    "play_async",
    "play_series",
    "replay",
    "resume",
    "resume_async",
    "sweep",
]
