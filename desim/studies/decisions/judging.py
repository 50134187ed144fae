"""The work of `regret`: plays the questions that are not in the store, and makes the table."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from attrs import evolve, frozen

from desim.episodes.futures.past import Past
from desim.jobs.keep.store import Store
from desim.jobs.run.in_workers import in_workers
from desim.jobs.run.signals import interrupts_deferred
from desim.statistics.pairing import difference, simultaneous
from desim.studies.decisions.branch_table import place_of, plain_action
from desim.studies.decisions.judge import Judge, Judged
from desim.studies.decisions.questions import Question
from desim.studies.decisions.regret_store import identity
from desim.studies.decisions.regret_table import DecisionRegret, RegretTable

#: Work that takes less than this many seconds is not worth starting processes.
_SECONDS_ALONE = 2.0

#: Seconds that a chunk of decisions takes, about; a killed process loses the chunk.
_SECONDS_OF_CHUNK = 0.5

#: Fewest chunks for each worker, so that all finish at about the same time.
_CHUNKS_PER_WORKER = 4

#: Relative differences of two scores up to this size are rounding errors.
_DUST = 1e-12


@frozen
class Judging:
    """Questions to be judged; an earlier command may have judged some of them.

    Attributes:
        past: The record, with observations.
        questions: In the order of the episode.
        judge: Plays them.
        level: The joint level of the intervals.
        then: The policies that play on, in words.
        against: The alternatives with which the decisions are compared, in words.
        notes: The notes of the table.
    """

    past: Past
    questions: Sequence[Question]
    judge: Judge
    level: float
    then: str
    against: str
    notes: tuple[str, ...]

    @property
    def futures(self) -> int | None:
        """The number of futures that are drawn; None for the true one."""
        return None if self.judge.seeds == (None,) else len(self.judge.seeds)

    def identity(
        self, others: Mapping[str, Any], most_options: int, *, texts: bool
    ) -> dict[str, str]:
        """Return what determines the rows, by topic."""
        named = {
            "then": self.then,
            "against": self.against,
            "futures": "the true one" if self.futures is None else str(self.futures),
            **({} if others else {"most options": str(most_options)}),
        }
        return identity(self.past, self.judge.then, others or None, named, texts=texts)

    def play(
        self, store: Store, jobs: int, seconds: float, progress: Callable[[int, int], object]
    ) -> None:
        """Play the questions that are not in the store.

        Args:
            store: Keeps the rows by the number of the decision.
            jobs: Worker processes.
            seconds: The approximate duration of an episode.
            progress: Called with the numbers of finished and of all episodes.
        """
        kept = store.jobs()
        left = [one for one in self.questions if one.at not in kept]
        total = sum(map(self.judge.episodes, self.questions))
        done = total - sum(map(self.judge.episodes, left))
        progress(done, total)
        alone = jobs <= 1 or seconds * (total - done) < _SECONDS_ALONE
        chunks = [[one] for one in left] if alone else self._chunks(left, jobs, seconds)
        for number, rows in in_workers(self.judge, chunks, 1 if alone else jobs):
            judged = chunks[number][: len(rows)]
            with interrupts_deferred():
                store.add([one.at for one in judged], rows)
            done += sum(map(self.judge.episodes, judged))
            progress(done, total)

    def table(self, store: Store) -> RegretTable:
        """Return the table of the questions that are in the store."""
        rows = zip(sorted(store.jobs()), store.rows(), strict=True)
        asked = {one.at: one for one in self.questions}
        found = [(asked[at], _read(row)) for at, row in rows if at in asked]
        return RegretTable.of(
            self.past,
            _lines(self.past, found, self.level),
            then=self.then,
            against=self.against,
            futures=self.futures,
            level=self.level,
            notes=self.notes,
        )

    def so_far(self, store: Store) -> RegretTable | None:
        """Return the table of an interrupted command; None if no decision was judged."""
        if not (done := self._done(store)):
            return None
        said = f"stopped: {done:,} of {len(self.questions):,} decisions were judged"
        return evolve(self, notes=(said, *self.notes)).table(store)

    def stopped_text(self, store: Store, *, resumable: bool) -> str:
        """Return how far an interrupted command came, and how to go on."""
        said = f"stopped after {self._done(store):,} of {len(self.questions):,} decisions"
        goes_on = "the same command goes on from there"
        return f"{said}; {goes_on if resumable else 'with --out FOLDER ' + goes_on}"

    def _done(self, store: Store) -> int:
        kept = store.jobs()
        return sum(1 for one in self.questions if one.at in kept)

    def _chunks(
        self, questions: Sequence[Question], jobs: int, seconds: float
    ) -> list[list[Question]]:
        """Return questions in chunks of about the same time, enough of them for all workers."""
        costs = [*map(self.judge.episodes, questions)]
        most = min(_SECONDS_OF_CHUNK / seconds, sum(costs) / (_CHUNKS_PER_WORKER * jobs))
        chunks: list[list[Question]] = []
        room = 0.0
        for question, cost in zip(questions, costs, strict=True):
            if room <= 0:
                chunks.append([])
                room = most
            chunks[-1].append(question)
            room -= cost
        return chunks


def _read(row: bytes) -> Judged:
    return msgspec.json.decode(row, type=Judged)


def _lines(
    past: Past, found: Sequence[tuple[Question, Judged]], level: float
) -> tuple[DecisionRegret, ...]:
    """Return a line for each decision; their intervals hold together."""
    together = simultaneous(level, sum(1 for _, judged in found if judged.best))
    return tuple(_line(past, question, judged, together) for question, judged in found)


def _line(past: Past, question: Question, judged: Judged, level: float) -> DecisionRegret:
    line = DecisionRegret(
        place_of(past, question.at),
        plain_action(question.actions[0]),
        played=len(question.actions) - 1,
        left_out=question.left_out,
    )
    if not judged.best:
        return line
    return evolve(
        line,
        best=plain_action(question.actions[judged.best]),
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
