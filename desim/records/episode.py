"""An episode that was played: header, decisions, result; written to a file and read back."""

import contextlib
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, field, frozen

from desim.core.ledger_protocols import ledgers_of
from desim.core.points import Recorded
from desim.core.result import Result, Series
from desim.core.roles import with_knowledge
from desim.errors import BadRecord, DesimError, UsageError, possible
from desim.faults import RAISED
from desim.records.kept_state import Inside
from desim.records.lines import (
    FailureLine,
    Header,
    ResultLine,
    ResumedLine,
    Step,
    TranscriptEntry,
)
from desim.records.reader import RecordedSteps, lines_up_to
from desim.records.tables import WHAT, What, decision_columns, series_columns
from desim.records.writer import Recorder
from desim.short_repr import shortened
from desim.show.column import Column
from desim.show.labels import value_text

if TYPE_CHECKING:  # only callers that use a data frame need them
    import pandas as pd
    import polars as pl

    from desim.show.table import Table


#: Metrics of a part of a world that a table shows.
_OF_PART = 4

#: Lines of the card that notebooks show, and characters of each.
_CARD_LINES, _CARD_WIDTH = 20, 200


@frozen(repr=False)
class Episode:
    """An episode that was played: the header, the steps, and the result.

    The last three attributes are no part of a comparison of two episodes.

    Attributes:
        header: Model, parameters, seed, policies.
        steps: The decisions in the order in which they were handed out. Where they were not kept
            in memory they are read from the record whenever they are used.
        result: Score, end, metrics; None for the record of a run that was killed or failed.
        transcript: What policies received between decisions, in order.
        failure: Where the model failed, and why; None if it did not.
        inside: State and series of an episode that was played in this process; no part of its
            record, nor of a copy.
        resumed: Where its record was resumed after a cut: the numbers of decisions before it.
        transcript_after: For each entry of `transcript` the number of decisions before it.
    """

    header: Header
    steps: Sequence[Step]
    result: Result | None
    transcript: tuple[TranscriptEntry, ...] = ()
    failure: FailureLine | None = None
    inside: Inside | None = field(default=None, eq=False, repr=False)
    resumed: tuple[int, ...] = field(default=(), eq=False, repr=False)
    transcript_after: tuple[int, ...] = field(default=(), eq=False, repr=False)

    @property
    def score(self) -> float:
        """The model's score; higher is better."""
        return self._ended().score

    @property
    def metric_columns(self) -> Mapping[str, Column]:
        """What the model declares of score and metrics; empty if reading it reaches outside."""
        if self.inside:
            return self.inside.model.metric_columns
        with contextlib.suppress(DesimError, *RAISED):
            return self.header.build().metric_columns
        return {}

    @property
    def score_text(self) -> str:
        """The score in the unit that the model declares."""
        return self.metric_columns.get("score", Column()).text(self.score)

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
    def state(self) -> Any:
        """The state at the end of an episode that was played or replayed in this process."""
        return self._inside().state

    @property
    def ledgers(self) -> tuple[Any, ...]:
        """The ledgers of the state, in its order; none of a state without ledgers."""
        state = self.state
        return tuple(ledgers_of(state))

    def series(self) -> Series:
        """Return what the model reports period by period, by name; nothing if it reports none.

        Raises:
            UsageError: The episode was not played in this process, or neither with its series nor
                with its state.
            WrongResult: A series is not a sequence of numbers.
        """
        return self._inside().series[0]

    def points(self) -> Mapping[str, Recorded]:
        """Return what `world.point` and monitors recorded, by name; without `series=True` nothing.

        Raises:
            UsageError: The episode was not played in this process.
        """
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
        if what not in WHAT:
            raise UsageError(f"there is no table {what!r} of an episode; {possible(what, WHAT)}")
        if what == "decisions":
            return decision_columns(self.steps, self.inside.model if self.inside else None)
        return series_columns(self._inside())

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
        head, end = self.header, asdict(self._ended())
        for name in ("usage", "waiting", "last_tick"):
            if not end[name]:
                del end[name]
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

    def facts(self) -> "Table":
        """Return header, result and metrics as a table of names and values.

        It has only the first metrics of each part of a world. An episode that failed or was cut has
        the reason in place of its end.
        """
        from desim.show.table import Table

        head, end = self.header, self.result
        policies = ", ".join(
            f"{role}={with_knowledge(spec, head.knows.get(role))}"
            for role, spec in head.policies.items()
        )
        facts: dict[str, Any] = {"model": head.model, "preset": head.preset, "seed": head.seed}
        facts["policies"] = policies or "none"
        if end is None:
            facts["ended"] = f"failed: {self.failure.error}" if self.failure else "cut"
        else:
            facts |= {"score": end.score, "ended": end.ended, "decisions": end.decisions}
            facts |= (shown := _first_of_parts(end.metrics))
            if more := len(end.metrics) - len(shown):
                facts["more metrics"] = f"{more:,}; --json prints all"
            facts["ledger digest"] = (end.ledger_digest or "none")[:16]
        if self.resumed:
            facts["resumed after decision"] = ", ".join(map(str, self.resumed))
        declared = self.metric_columns
        columns = {name: declared.get(name, Column()) for name in facts}
        lines = ((columns[name].key(name), columns[name].text(v)) for name, v in facts.items())
        return Table((), lines, (0, 1))

    def __repr__(self) -> str:
        head, end = self.header, self.result
        name = "/".join(filter(None, [head.model, head.preset]))
        how = f"score {value_text(end.score)}, {end.ended}" if end else "without a result"
        return f"<Episode of {name}, seed {head.seed}: {how}, {len(self.steps):,} decisions>"

    def _repr_html_(self) -> str:
        """Return a card of a few lines, for notebooks."""
        from desim.show.table import Table

        lines = [(name, shortened(text, _CARD_WIDTH)) for name, text in self.facts().lines]
        more = len(lines) - _CARD_LINES
        notes = [f"{more} more lines are in the summary"] if more > 0 else []
        return Table((), lines[:_CARD_LINES], (0, 1), notes=notes).html()

    def write(self, path: str | Path) -> None:
        """Write the record to a new file, gzipped when the name ends in .gz.

        Raises:
            UsageError: The file exists or cannot be made.
        """
        end = self._ended()
        with Recorder(path) as recorder:
            recorder.write(self.header)
            said: Any = deque(zip_longest(self.transcript, self.transcript_after, fillvalue=0))
            for number, step in enumerate(self.steps):
                while said and said[0][1] <= number:
                    recorder.write(said.popleft()[0])
                recorder.step(step)
            for entry, _ in said:
                recorder.write(entry)
            recorder.result(end)

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
            keep_steps: Keep the decisions in memory. Otherwise they are read again from the file
                whenever they are used.
            decisions: Return it as if it had been cut after this many decisions. The lines behind
                them are checked as the others are.

        Raises:
            BadRecord: It is empty, cut, altered, of another format, no record at all, or beyond a
                limit of `desim.records.record_file`.
        """
        file = Path(path)
        count, header, steps, resumed = 0, None, list[Step](), list[int]()
        said: list[tuple[TranscriptEntry, int]] = []
        result: Result | None = None
        failure: FailureLine | None = None
        try:
            for line in lines_up_to(file, decisions):
                match line:
                    case Header():
                        header = line
                    case Step():
                        count += 1
                        steps += [line] * keep_steps
                    case TranscriptEntry():
                        said.append((line, count))
                    case ResumedLine():
                        resumed.append(line.decisions)
                    case ResultLine():
                        result = line.result()
                    case FailureLine():
                        failure = line
            if whole and result is None:
                raise BadRecord(_no_result(count, failure))  # noqa: TRY301
        except BadRecord as fault:
            text = str(fault)
            raise BadRecord(text if str(path) in text else f"{path}: {text}") from None
        assert header is not None
        return cls(
            header,
            tuple(steps) if keep_steps else RecordedSteps(file, count),
            result,
            tuple(entry for entry, _ in said),
            failure,
            resumed=tuple(resumed),
            transcript_after=tuple(after for _, after in said),
        )

    def _inside(self) -> Inside:
        if self.inside is None:
            raise UsageError(
                "the episode was not played in this process, so it has no state and no series; "
                "desim.replay(FILE) plays a record again"
            )
        return self.inside

    def _ended(self) -> Result:
        if self.failure is not None:
            raise BadRecord(f"the run failed, so it has no result: {self.failure.error}")
        if self.result is None:
            raise BadRecord("the record was cut before the episode ended, so it has no result")
        return self.result


def _no_result(decisions: int, failure: FailureLine | None) -> str:
    if failure is None:
        return f"the record was cut after {decisions} decisions: it has no result"
    return (
        f"the run failed at t={failure.t} after decision {failure.decisions}: {failure.error}; "
        f"desim branch FILE --at {failure.before + 1} plays on from before it"
    )


def _first_of_parts(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return metrics without those that would fill screens.

    The name of a metric of a part begins with the part and a dot; of each part the first few stay,
    which are its score and its end.
    """
    seen = Counter[str]()
    shown = {}
    for name, value in metrics.items():
        part, dot, _ = name.partition(".")
        seen[part] += bool(dot)
        if seen[part] <= _OF_PART:
            shown[name] = value
    return shown
