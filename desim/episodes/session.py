"""A session: one episode at play, that is a run, its policies, and the record being written."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any, Self

import msgspec
from attrs import evolve, frozen

from desim.core.events import Decision
from desim.core.limits import Limits
from desim.core.model import Model
from desim.core.points import Points
from desim.core.policy import OutsidePolicy, Policy
from desim.core.run import Run
from desim.core.streams import derived_seed, redrawn_seed
from desim.episodes.ahead import Simulator
from desim.episodes.lineup import Lineup
from desim.episodes.replay import same_result, same_step
from desim.episodes.usage import UsageSums
from desim.errors import BadRecord, DesimError, LimitReached, PolicyFailed, WriteFailed, WrongAction
from desim.faults import RAISED, fault_text, policy_failing
from desim.records.episode import Episode, Inside
from desim.records.lines import FailureLine, Header, Step, TranscriptEntry, step_class
from desim.records.reader import RecordedSteps
from desim.records.writer import Recorder
from desim.short_repr import short_repr, shortened


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


#: The options of sessions without any: the state at the end would hold all ledgers.
_WITHOUT_STATE = EpisodeOptions(keep_state=False)


class Session:
    """One episode at play; a context manager that opens and closes its record.

    Args:
        record: The file that receives the episode; None records nothing.
        past: A record: the policies must make its decisions again, but one that began after some
            of them begins there again. A cut one is continued after them; of a whole one the result
            is compared, and nothing is written.

    Attributes:
        steps: The decisions so far, where they are kept.
        decided: The number of answered decisions.
        before_tick: The number of decisions answered when the clock last stopped.
    """

    def __init__(
        self,
        model: Model[Any],
        lineup: Lineup,
        seed: int,
        record: str | Path | None = None,
        past: Episode | None = None,
        how: EpisodeOptions = _WITHOUT_STATE,
    ) -> None:
        self._past, self._how = past, how
        self._points = Points() if how.series else None
        self._tracing: Any = None  # its module would take a tenth of the import of desim
        if how.trace is not None or how.last_events:
            from desim.tracing.trace_file import Tracing

            self._tracing = Tracing(how.trace, how.last_events)
        self.model = model
        self.policies: dict[str, Policy] = dict(lineup.policies)
        self._takes_role = {role for role, one in lineup.policies.items() if one.takes_role}
        self._seats, self._redrawn = lineup.seats, dict[str, int]()
        labels, knows = lineup.labels, lineup.knows
        self.header = past.header if past else Header.of(model, seed, labels, knows=knows)
        observers = self._tracing.observers if self._tracing else ()
        seats, futures = frozenset(lineup.policies), self.header.futures
        self.run = Run(model, seed, seats, how.limits, futures, observers, self._points)
        self._step = {name: step_class(role) for name, role in self.run.roles.items()}
        self._repeats: Iterator[Step] = iter(past.steps if past else ())  # they may be on disk
        self._recorded: dict[Decision, Step] = {}
        self._given = set[Decision]()  # those on record from before the policy of a role began
        self.seconds = how.limits.seconds if how.limits else None
        self.steps: list[Step] = []
        self.decided = self.before_tick = 0
        self._last: Decision | None = None
        self._usage = UsageSums()
        self._transcript = [*past.transcript] if past else []
        self._answers = self._with_simulators()
        self._record = Path(record) if record and not (past and past.result) else None
        self._recorder: Recorder | None = None

    def __enter__(self) -> Self:
        # First, so that a transcript that a policy refuses opens no file.
        for role, policy in self.policies.items():
            if isinstance(policy, OutsidePolicy):
                entries = [one.entry for one in self._transcript if one.role == role]
                policy.resume(entries, partial(self.write_transcript, role))
        if self._record and self._past:
            self._recorder = Recorder.again(self._record)
        elif self._record:
            self._recorder = Recorder(self._record)
            self._recorder.write(self.header)
        return self

    def __exit__(self, *raised: object) -> None:
        if self._recorder is not None:
            self._recorder.__exit__(*raised)
        if self._tracing is not None:
            # Nothing is passed by who closes a session that ends without an error.
            fault: Any = raised[1] if raised else None
            self._tracing.close(fault, {"policies": self.header.policies})

    def ask(self, decision: Decision, decide: Callable[..., Any]) -> Any:
        """Return what a policy returns for a decision: an action, or an awaitable of one."""
        role, seen = decision.role, decision.observation
        if self._given and decision in self._given:
            return self._recorded[decision].action
        try:
            return decide(seen, decision.spec) if role in self._takes_role else decide(seen)
        except DesimError:
            raise
        except RAISED as fault:
            raise self.failed(decision, fault) from fault

    def take(self, decision: Decision, action: Any) -> None:
        """Give an answer to the run and record it, or compare it with the one on record."""
        run, role = self.run, decision.role
        repeated = self._recorded.get(decision) if self._recorded else None
        # Before the answer: a policy whose notes are wrong has not decided.
        notes = self._notes(decision) if self.policies[role].notes else None
        if repeated is not None and decision in self._given:
            notes = repeated.notes
        try:
            run.answer(decision, action, None if repeated is None else repeated.delay, notes)
        except WrongAction as wrong:
            if repeated is None:
                raise
            raise BadRecord(f"decision {self.decided + 1}: {wrong}") from None
        t = run.world.now
        self.decided += 1
        self._last = decision
        if self._answers is not None:
            self._answers.append(decision)
        if notes:
            self._usage.add(role, notes)
        made, seen = self._step[role], decision.observation
        possible, delay = decision.possible, decision.delay
        if repeated is not None or self._how.keep_steps:
            asked = made(t, role, seen, decision.action, notes, possible, delay)
            if self._how.keep_steps:
                self.steps.append(asked)
        if repeated is not None:
            same_step(self.decided, repeated, asked)
        elif self._recorder is not None:
            wire, done = msgspec.Raw(made.encoded(seen)), msgspec.Raw(decision.wire)
            self._recorder.write(Step(t, role, wire, done, notes, possible, delay))

    def write_transcript(self, role: str, entry: Any) -> None:
        """Record an entry of a policy's transcript; it is on disk when this returns."""
        self._transcript.append(TranscriptEntry(entry, role, self.decided))
        if self._recorder:
            self._recorder.write(TranscriptEntry(entry, role))

    def advance(self) -> list[Decision]:
        """Move the clock to the next open decisions; return an empty list at the end."""
        # Not a context manager, which takes a tenth of the time of a decision.
        try:
            decisions = self.run.advance()
        except DesimError as fault:
            self._record_failure(fault)
            raise
        if decisions:
            self.before_tick = self.decided
            if self._past is not None:
                self._recorded = dict(zip(decisions, self._repeats))  # noqa: B905 (it may be cut)
                numbered, starts = enumerate(self._recorded, self.decided), self.header.starts
                self._given = {one for at, one in numbered if at < starts.get(one.role, 0)}
                self._redraw_seats(decisions)
        return decisions

    def recorded(self, decision: Decision) -> Step | None:
        """Return an open decision as it was made on record; None behind the record's last one."""
        return self._recorded.get(decision)

    def episode(self) -> Episode:
        """Return the ended episode and write the last line of its record."""
        how = self._how
        try:
            result = self.run.result()
        except DesimError as fault:
            self._record_failure(fault)
            raise
        if usage := self._usage.totals():
            result = evolve(result, usage=usage)
        steps: Sequence[Step] = tuple(self.steps)
        if self._past and self._past.result:
            same_result(self._past.result, result)
            steps = steps or self._past.steps
        if self._recorder:
            self._recorder.end(result)
        if not how.keep_steps and self._record is not None:
            steps = RecordedSteps(self._record, self.decided)
        inside = Inside.of(self.run, self._points, keep_state=how.keep_state, series=how.series)
        return Episode(self.header, steps, result, tuple(self._transcript), inside=inside)

    def failed(self, decision: Decision, fault: BaseException) -> PolicyFailed:
        """Return the error of a policy that raised an exception."""
        role, now = decision.role, self.run.world.now
        name = self.header.policies.get(role, role)
        return PolicyFailed(f"policy {name} failed as {role!r} at t={now}: {fault_text(fault)}")

    def _with_simulators(self) -> list[Decision] | None:
        """Give simulators to the policies that look ahead; return the answers that they share."""
        looking = {role: one for role, one in self.policies.items() if one.looks_ahead}
        answers: list[Decision] = []
        for role, policy in looking.items():
            name = self.header.policies.get(role, role)
            with policy_failing(name, f"in take_simulator as {role!r}"):
                policy.take_simulator(Simulator(self.run, role, answers, self.header.futures))
        return answers if looking else None

    def _notes(self, decision: Decision) -> dict[str, Any]:
        notes = self.policies[decision.role].notes
        try:
            copied: dict[str, Any] = msgspec.to_builtins(dict(notes), str_keys=True)
        except (TypeError, ValueError) as fault:
            unplain = TypeError(f"notes={short_repr(notes)} are no plain JSON values ({fault})")
            raise self.failed(decision, unplain) from fault
        return copied

    def _redraw_seats(self, decisions: Sequence[Decision]) -> None:
        # Not at the redraw: other decisions of its instant belong to the time before it.
        for number, decision in enumerate(decisions, self.decided):
            role, due = decision.role, [one for at, one in self.header.futures if at <= number]
            if len(due) > self._redrawn.get(role, 0):
                self._redrawn[role] = len(due)
                seed = reduce(redrawn_seed, due, self.header.seed)
                self._seats[role].redraw(derived_seed(seed, "policy", role))

    def _record_failure(self, fault: DesimError) -> None:
        if self._recorder is None or isinstance(fault, LimitReached):
            return  # a record without a last line can be resumed
        now, before, last = self.run.world.now, self.before_tick, self._last
        failure = FailureLine(t=now, error=str(fault), decisions=self.decided, before=before)
        with contextlib.suppress(WriteFailed):  # the fault of the model says more
            self._recorder.end(failure)
        if last is not None:
            fault.add_note(
                f"The last answer was decision {self.decided}, {last.role!r} with "
                f"{shortened(last.wire.decode(), 80)}; desim branch {self._record} "
                f"--at {before + 1} plays on from before it"
            )
