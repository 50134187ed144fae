"""An episode that was played: header, decisions, result; written to a file and read back."""

import contextlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from attrs import asdict, field, frozen

from desim.core.model import Model
from desim.core.points import Points, Recorded
from desim.core.reported import ledgers_of
from desim.core.result import Result, Series, Ticks, ended_series
from desim.core.run import Run
from desim.errors import BadRecord, DesimError, UsageError, possible
from desim.faults import RAISED
from desim.records.lines import (
    FailureLine,
    Header,
    ResultLine,
    ResumedLine,
    Step,
    TranscriptEntry,
)
from desim.records.reader import RecordedSteps, lines_up_to
from desim.records.tables import What, decision_columns, series_columns
from desim.records.writer import Recorder
from desim.show.column import Column
from desim.show.labels import value_text

if TYPE_CHECKING:  # only callers that use a data frame need them
    import pandas as pd
    import polars as pl


@frozen(eq=False)
class Inside:
    """What an episode that ended in this process, at a tick *end*, holds besides its record."""

    model: Model[Any]
    points: Mapping[str, Recorded]
    end: int
    _states: tuple[Any, ...] = field(repr=False)
    _read: tuple[Series, Ticks] | None = field(repr=False)

    @classmethod
    def of(
        cls, run: Run[Any], points: Points | None, *, keep_state: bool, series: bool
    ) -> "Inside | None":
        """Return the inside of an ended run, *series* read now; None if nothing is wanted."""
        if not keep_state and not series and points is None:
            return None
        read = run.ended_series() if series else None
        states = (run.state,) if keep_state else ()
        return cls(run.model, points.read() if points else {}, run.world.now, states, read)

    @property
    def state(self) -> Any:
        """The state at the end."""
        if not self._states:
            raise UsageError("the state was not kept; play(..., keep_state=True) keeps it")
        return self._states[0]

    @property
    def series(self) -> tuple[Series, Ticks]:
        """The model's series up to the end of the episode, and the ends of their periods."""
        return self._read or ended_series(self.model, self.state, self.end)

    def __reduce__(self) -> tuple[Any, ...]:
        # A state holds generators, which cannot be copied, and results travel without it.
        return (type(None), ())


@frozen(repr=False)
class Episode:
    """An episode that was played: the header, the steps, and the result.

    Attributes:
        header: Model, parameters, seed, policies.
        steps: The decisions in the order in which they were handed out. Where they were not kept
            in memory they are read from the record whenever they are used.
        result: Score, end, metrics; None for the record of a run that was killed or failed.
        transcript: What policies received between decisions, in order.
        failure: Where the model failed, and why; None if it did not.
        inside: State and series of an episode that was played in this process; a copy has none.
        resumed: The numbers of decisions after which its record was cut and resumed.
    """

    header: Header
    steps: Sequence[Step]
    result: Result | None
    transcript: tuple[TranscriptEntry, ...] = ()
    failure: FailureLine | None = None
    inside: Inside | None = field(default=None, eq=False, repr=False)
    resumed: tuple[int, ...] = field(default=(), eq=False, repr=False)

    @property
    def score(self) -> float:
        """The model's score; higher is better."""
        return self._ended().score

    @property
    def ended(self) -> str:
        """The reason of its end."""
        return self._ended().ended

    @property
    def metrics(self) -> Mapping[str, Any]:
        """Further figures by name."""
        return self._ended().metrics

    @property
    def ledger_digest(self) -> str | None:
        """SHA-256 over the ledgers; None for a state without ledgers."""
        return self._ended().ledger_digest

    @property
    def metric_columns(self) -> Mapping[str, Column]:
        """What the model declares of score and metrics; empty if reading it reaches outside."""
        if self.inside:
            return self.inside.model.figures.columns
        with contextlib.suppress(DesimError, *RAISED):
            return self.header.build().figures.columns
        return {}

    @property
    def score_text(self) -> str:
        """The score in the unit that the model declares."""
        return self.metric_columns.get("score", Column()).text(self.score)

    @property
    def state(self) -> Any:
        """The state at the end of an episode that was played or replayed in this process."""
        return self._inside().state

    @property
    def ledgers(self) -> tuple[Any, ...]:
        """The ledgers of the state, in its order; none of a state without ledgers."""
        return tuple(ledgers_of(self.state))

    def series(self) -> Series:
        """Return what the model reports period by period, by name; nothing if it reports none.

        Raises:
            UsageError: The episode was not played in this process, or neither `series` nor
                `keep_state` was set.
            ModelFailed: A series is not a sequence of numbers.
        """
        return self._inside().series[0]

    def points(self) -> Mapping[str, Recorded]:
        """Return what `world.point` and monitors recorded, by name; see `play(series=True)`."""
        return self._inside().points

    def columns(self, what: What = "series") -> dict[str, list[Any]]:
        """Return a tidy table of the episode as lists of plain values by column.

        Args:
            what: "series", with a row for each value: `part`, `role`, `name`, `period` (from 1;
                None of a point), `time` (the tick; of a period its end, where the model says it),
                `date` (if the model has dates), `value` (None if it is not known), `unit`.
                "decisions", with a row for each decision: `number` (from 1), `time`, `date`,
                `part`, `role`, then each field of the actions as `action.NAME` and of the
                observations as `observation.NAME`, lists as JSON.

        Raises:
            UsageError: The table does not exist, or the series are missing (see `series`).
        """
        if what == "decisions":
            return decision_columns(self.steps, self.inside.model if self.inside else None)
        if what == "series":
            inside = self._inside()
            return series_columns(inside.model, *inside.series, inside.points)
        known = possible(what, get_args(What))
        raise UsageError(f"there is no table {what!r} of an episode; {known}")

    def to_pandas(self, what: What = "series") -> "pd.DataFrame":
        """Return a table of the episode as a data frame of pandas, if it is installed."""
        from desim.show.frames import pandas_frame

        return pandas_frame(self.columns(what))

    def to_polars(self, what: What = "series") -> "pl.DataFrame":
        """Return a table of the episode as a data frame of polars, if it is installed."""
        from desim.show.frames import polars_frame

        return polars_frame(self.columns(what))

    def summary(self) -> dict[str, Any]:
        """Return what `--json` prints: one flat, plain object."""
        head, often_empty = self.header, ("usage", "waiting", "last_tick")
        end = {n: v for n, v in asdict(self._ended()).items() if v or n not in often_empty}
        return {
            "model": head.model,
            "preset": head.preset,
            "params": head.params,
            "seed": head.seed,
            "policies": head.policies,
            **({"knows": head.knows} if head.knows else {}),
            **end,
            "version": head.version,
            "revision": head.provenance.revision,
        }

    def __repr__(self) -> str:
        head, end = self.header, self.result
        name = "/".join(filter(None, [head.model, head.preset]))
        how = f"score {value_text(end.score)}, {end.ended}" if end else "without a result"
        return f"<Episode of {name}, seed {head.seed}: {how}, {len(self.steps):,} decisions>"

    def write(self, path: str | Path) -> None:
        """Write the record to a new file, gzipped when the name ends in .gz."""
        end, said = self._ended(), defaultdict[int, list[TranscriptEntry]](list)
        for one in self.transcript:
            said[one.after].append(TranscriptEntry(one.entry, one.role))
        with Recorder(path) as recorder:
            recorder.write(self.header)
            for number, step in enumerate(chain(self.steps, [None])):
                for entry in said[number]:
                    recorder.write(entry)
                if step:
                    recorder.write(step.line)
            recorder.end(end)

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        whole: bool = True,
        keep_steps: bool = True,
        decisions: int | None = None,
    ) -> "Episode":
        """Read a record; nothing that it names is imported, opened or contacted.

        Args:
            path: The file.
            whole: Refuse a record without its last line. Otherwise a cut record is read up to the
                last whole line, and its `result` is None.
            keep_steps: Keep the decisions in memory, not only in the file.
            decisions: Return it as if it had been cut after this many decisions; the lines behind
                them are checked.

        Raises:
            NoRecord: The file is missing, no regular file, or beyond a limit.
            BadRecord: It is empty, cut, altered, of another format, or no record at all.
        """
        file, count, found = Path(path), 0, dict[str, Any]()
        steps, said, resumed = list[Step](), list[TranscriptEntry](), list[int]()
        try:
            for line in lines_up_to(file, decisions):
                match line:
                    case Header():
                        found["header"] = line
                    case Step():
                        count += 1
                        steps += [line] * keep_steps
                    case TranscriptEntry(entry, role):
                        said.append(TranscriptEntry(entry, role, count))
                    case ResumedLine():
                        resumed.append(line.decisions)
                    case ResultLine():
                        found["result"] = line.result()
                    case FailureLine():
                        found["failure"] = line
            found["steps"] = tuple(steps) if keep_steps else RecordedSteps(file, count)
            episode = cls(**{"result": None} | found, transcript=(*said,), resumed=(*resumed,))
            if whole:
                episode._ended()
        except BadRecord as fault:
            text = str(fault)
            raise type(fault)(text if str(path) in text else f"{path}: {text}") from None
        return episode

    def _inside(self) -> Inside:
        if self.inside is None:
            raise UsageError(
                "the episode was not played in this process, so it has no state and no series; "
                "desim.replay(FILE) plays a record again"
            )
        return self.inside

    def _ended(self) -> Result:
        if self.result is not None:
            return self.result
        if (fault := self.failure) is None:
            made = f"{len(self.steps)} decisions"
            raise BadRecord(f"the record was cut after {made}: it has no result")
        raise BadRecord(
            f"the run failed at t={fault.t} after decision {fault.decisions}: {fault.error}; "
            f"desim branch FILE --at {fault.before + 1} plays on from before it"
        )
