"""Measurements of an episode: statistics of a model's own, and monitors of SimPy's resources.

* `tally`: statistics of observations, such as waiting times.
* `time_weighted`: statistics of quantities with a value at every tick, such as a queue's length.
* `monitor`: both for a `Resource`, a `Container` or a `Store`, attached in one line.
* `use_by_reason`: the use of a resource by the reasons of its requests.

They read and schedule nothing, so they change no episode.
"""

from desim.monitoring.monitor import Monitor, monitor
from desim.monitoring.tally import Tally
from desim.monitoring.time_weighted import TimeWeighted
from desim.monitoring.use_by_reason import with_reason

__all__ = ["Monitor", "Tally", "TimeWeighted", "monitor", "with_reason"]
