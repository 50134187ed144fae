"""The work of `regret`: plays the questions that are not in the store, and makes the table."""

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

import msgspec
from attrs import evolve, frozen

from desim.engine.keep.fingerprint import text_digest
from desim.engine.keep.store import Kept
from desim.engine.plan import Cell, Grid, limits_text
from desim.engine.policies import inside, players
from desim.engine.run.executors import Executor, SerialExecutor, Work, WorkerDied
from desim.engine.run.playing import Playing
from desim.engine.run.process_executor import ProcessExecutor
from desim.episodes.counterfactual import Past
from desim.schema import tagged, to_plain
from desim.schema.codecs import tagged_object
from desim.show.progress import Progress
from desim.statistics.pairing import difference, simultaneous
from desim.studies.decisions.branch_table import place_of
from desim.studies.decisions.judge import Judge, Judged
from desim.studies.decisions.questions import Question
from desim.studies.decisions.regret_table import DecisionRegret, RegretTable

#: Work that takes less than this many seconds is not worth starting processes.
_SECONDS_ALONE = 2.0

#: Relative differences of two scores up to this size are rounding errors.
_DUST = 1e-12


class _Workers(ProcessExecutor):
    """Worker processes that are not restarted: only an episode can become a failed row."""

    def _after_death(self, work: Work, fault: WorkerDied) -> NoReturn:  # noqa: ARG002
        raise fault


@frozen(kw_only=True)
class Judging(Cell):
    """Questions to be judged: a cell whose seeds are the numbers of decisions.

    Its policies play on after each of them.

    Attributes:
        past: The record, with observations.
        questions: In the order of the episode.
        judge: Plays them.
        others: The policies with which the decisions are compared; empty for options.
        files: Files that these have opened to answer.
        most_options: The most options of a decision that are played.
        texts: Whether files that parameters of the model name count. Those of a record that is not
            trusted are not opened.
        level: The joint level of the intervals.
        against: The alternatives with which the decisions are compared, in words.
        notes: The notes of the table.
    """

    past: Past
    questions: Sequence[Question]
    judge: Judge
    others: Mapping[str, Any]
    files: Sequence[str]
    most_options: int
    texts: bool
    level: float
    against: str
    notes: tuple[str, ...]

    # Each decision has scores of its own.
    is_fixed = False

    @property
    def plan(self) -> Grid:
        """The jobs: a question each."""
        return Grid((self,), [one.at for one in self.questions])

    @cached_property
    def _by_number(self) -> dict[int, Question]:
        return {one.at: one for one in self.questions}

    @property
    def futures(self) -> int | None:
        """The number of futures that are drawn; None for the true one."""
        return None if self.judge.seeds == (None,) else len(self.judge.seeds)

    def __str__(self) -> str:
        return f"decisions of a record, {self.entry.label} against {self.against}"

    def job(self, seed: int) -> Question:
        """Return the question of a decision."""
        return self._by_number[seed]

    def plays(self) -> dict[str, str]:
        """Return the data that determine how a decision is judged, by topic.

        Which decisions are judged is not part of it: a folder may receive further ones.
        """
        header = self.past.header
        moments = self.past.moments
        decisions = [[one.t, one.role, msgspec.Raw(tagged(one.action))] for one in moments]
        # Futures as texts, like the seeds: a seed may have more digits than JSON readers take.
        begun = [str(header.seed), [list(map(str, each)) for each in header.futures], decisions]
        model = [type(self.past.model).__qualname__, to_plain(self.past.model), [*header.policies]]
        return {
            "record": text_digest(msgspec.json.encode(begun)),
            "model": text_digest(msgspec.json.encode(model)),
            "then": self.entry.label,
            "against": self.against,
            "futures": "the true one" if self.futures is None else str(self.futures),
            **({} if self.others else {"most options": str(self.most_options)}),
            "limits": limits_text(self.limits),
        }

    def parts(self) -> Iterator[Any]:
        """Yield the classes, functions and texts that judge a decision."""
        yield Judge
        of_model = inside(self.model)
        yield from (one for one in of_model if self.texts or not isinstance(one, str))
        yield from players(self.model, self.entry.policies)
        yield from players(self.model, self.others)
        yield from self.files

    def play(self, kept: Kept, jobs: int, seconds: float, progress: Progress) -> None:
        """Play the questions that are not kept.

        Args:
            kept: The results so far.
            jobs: Worker processes.
            seconds: The approximate duration of an episode.
            progress: Receives the numbers of finished and of all episodes.
        """
        episodes = [*map(self.judge.episodes, self.questions)]
        total = sum(episodes)

        def done() -> int:
            return sum(count for place, count in enumerate(episodes) if place in kept)

        alone = jobs <= 1 or seconds * (total - done()) < _SECONDS_ALONE
        players: Executor = SerialExecutor() if alone else _Workers(min(jobs, len(self.questions)))
        with contextlib.closing(players):
            shown = Progress(lambda _done, _total: progress(done(), total))
            Playing(self.plan, kept, players, shown, self.judge).play(range(len(self.questions)))

    def table(self, kept: Kept) -> RegretTable:
        """Return the table of the questions whose results are kept."""
        places = [place for place in range(len(self.questions)) if place in kept]
        rows = zip(places, kept.results(places), strict=True)
        found = [(self.questions[place], _read_judged(row)) for place, row in rows]
        return RegretTable.of(
            self.past,
            _regrets(self.past, found, self.level),
            then=self.entry.label,
            against=self.against,
            futures=self.futures,
            level=self.level,
            notes=self.notes,
        )

    def so_far(self, kept: Kept) -> RegretTable | None:
        """Return the table of an interrupted command; None if no decision was judged."""
        if not (done := self._done(kept)):
            return None
        said = f"stopped: {done:,} of {len(self.questions):,} decisions were judged"
        return evolve(self, notes=(said, *self.notes)).table(kept)

    def stopped_text(self, kept: Kept, *, resumable: bool) -> str:
        """Return how far an interrupted command came, and how to go on."""
        said = f"stopped after {self._done(kept):,} of {len(self.questions):,} decisions"
        goes_on = "the same command goes on from there"
        return f"{said}; {goes_on if resumable else 'with --out FOLDER ' + goes_on}"

    def _done(self, kept: Kept) -> int:
        return sum(place in kept for place in range(len(self.questions)))


def _read_judged(row: bytes) -> Judged:
    return msgspec.json.decode(row, type=Judged)


def _regrets(
    past: Past, found: Sequence[tuple[Question, Judged]], level: float
) -> tuple[DecisionRegret, ...]:
    """Return a line for each decision; their intervals hold together."""
    together = simultaneous(level, sum(1 for _, judged in found if judged.best))
    return tuple(_regret_of(past, question, judged, together) for question, judged in found)


def _regret_of(past: Past, question: Question, judged: Judged, level: float) -> DecisionRegret:
    line = DecisionRegret(
        place_of(past, question.at + 1),
        tagged_object(question.actions[0]),
        played=len(question.actions) - 1,
        left_out=question.left_out,
    )
    if not judged.best:
        return line
    return evolve(
        line,
        best=tagged_object(question.actions[judged.best]),
        found=difference(_without_dust(judged), judged.recorded, level),
        recorded_mean=sum(judged.recorded) / len(judged.recorded),
    )


def _without_dust(judged: Judged) -> list[float]:
    """Return the scores of the other action, set to the recorded one's if they differ by rounding.

    Sums of floats in another order differ in their last digits, by the same amount on all futures:
    an interval of such differences would exclude 0.
    """
    pairs = zip(judged.others, judged.recorded, strict=True)
    return [mine if math.isclose(other, mine, rel_tol=_DUST) else other for other, mine in pairs]
