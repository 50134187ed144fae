"""Arguments that several functions and commands on episodes share: one class a purpose.

The text of each field is also the help of its option on the command line.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from desim import catalog
from desim.core.limits import Limits
from desim.core.model import Model
from desim.tracing.kept_trace import Tracing


@frozen(kw_only=True, slots=False)
class ModelOptions:
    """The model that is played.

    Attributes:
        model: A name in the catalog or `module:Class`, with or without `/preset`; a model class; or
            a model.
        preset: A preset of the model; `desim list MODEL` shows them; default: the first.
        set: A parameter of the model, or with dots a field inside one. In Python a mapping of
            parameters to values or texts.
    """

    model: Model[Any] | type | str = field(kw_only=False)
    preset: str = ""
    set: Mapping[str, Any] | None = None

    def build(self) -> Model[Any]:
        """Return the model with its parameters."""
        return catalog.model(self.model, self.preset, self.set)


@frozen(kw_only=True, slots=False)
class EpisodeOptions:
    """Limits of one episode, and the parts of it that are kept.

    Attributes:
        limits: Limits of wall time, events and decisions, those repeated from a record included.
        keep_steps: Keep the decisions in memory. Otherwise the episode reads its steps from the
            record whenever they are used; without a record it has no steps.
        series: Whether to record the points of `world.point` and of monitors, and to read what the
            model reports period by period; see `Episode.series` and `Episode.to_pandas`.
        keep_state: Whether `episode.state` holds the state at the end, and with it all ledgers; say
            no where many episodes are held at once.
        trace: Write a trace of the episode to a new file, which ui.perfetto.dev opens; NAME.gz is
            compressed. It holds processes, resources, decisions and ledger entries, also those
            before a failure.
        last_events: Print the last N events if the episode fails, at most 100,000. In Python they
            are a note of the error.
    """

    limits: Limits | None = None
    keep_steps: bool = True
    series: bool = False
    keep_state: bool = True
    trace: str | Path | None = None
    last_events: int = 0

    def tracing(self, repeated: int = 0) -> Tracing | None:
        """Return the observers of an episode that repeats some decisions; None without any."""
        if self.trace is None and not self.last_events:
            return None
        return Tracing(self.trace, self.last_events, repeated)


@frozen(kw_only=True, slots=False)
class TrustOptions:
    """Permission to use what a record names.

    Attributes:
        trust: Use whatever the record names: modules, files, hosts, the environment.
    """

    trust: bool = False
