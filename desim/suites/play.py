"""Plays a suite into its folder: a sweep of its cells, with records and limits of money.

A router answers a question as one of the methods around the same language model has answered it in
the same world, with the same seed and repeat, so routers are played after all others.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from attrs import define, evolve, field

from desim.catalog.policy_spec import Spec
from desim.core.model import ItemsModel
from desim.engine.budget import CommandBudget, MoneyLimit, spending
from desim.engine.plan import RECORDS, Grid
from desim.engine.run.play_job import set_aside
from desim.engine.run.playing import Playing, playing
from desim.errors import DesimError, UsageError
from desim.records.episode import Episode
from desim.show.files import write_whole
from desim.studies.options import SUITE
from desim.suites.result_table import result_files
from desim.suites.suite_folder import (
    Outcomes,
    ended_episodes,
    outcomes_of,
    record_in,
)
from desim.suites.suite_plan import MODEL_POLICY, JobKey, Plan, SuiteCell, outside_class

#: The file of a folder that holds what each method answered to each question, right or wrong.
_PREDICTIONS = "predictions.jsonl"

#: Whose answers belong together: those of a language model, in a world, with a seed and a repeat.
_Key = tuple[str, str, int, int]


@define
class SuitePlaying:
    """A suite that is played into its folder.

    Attributes:
        at_once: Episodes of language models at each host, and so calls.
        restart: Whether results of other code are discarded, or else all of this suite.
        rehearsed: Whether language models take their replies from records that were set aside.
        cells: Those of the plan with all repeats, by world, entry and repeat.
    """

    plan: Plan
    out: Path
    at_once: int
    processes: int
    restart: bool = False
    rehearsed: bool = False
    outcomes: Outcomes = field(factory=dict, init=False)
    cells: dict[tuple[str, str, int], SuiteCell] = field(init=False)

    def __attrs_post_init__(self) -> None:
        file = self.out / _PREDICTIONS
        told = _digest(file.read_bytes()) if file.is_file() else ""
        self.cells = {
            (*pair, repeat): evolve(
                cell,
                repeat=repeat,
                out=self.out,
                rehearsed=self.rehearsed,
                told=told if self._is_routed(pair[1]) else "",
            )
            for pair, cell in self.plan.cells.items()
            for repeat in range(self.plan.suite.worlds[pair[0]].repeats or 1)
        }

    def play(self, agree: Callable[[Outcomes], None] = lambda _: None) -> None:
        """Play what is left, and write results, also after Ctrl-C.

        Args:
            agree: Called with what is kept before anything is played; raises an exception if
                nothing is to be played.

        Raises:
            UsageError: The folder cannot be used, or holds episodes of other code.
            BadRecord: A record of an answer that a router may give cannot be read.
        """
        routed = [job for job in self.plan.jobs if self._is_routed(job.entry)]
        others = [job for job in self.plan.jobs if not self._is_routed(job.entry)]
        with self._opened(restart=self.restart, retry_failed=True) as started:
            self._write_suite()
            if self.restart:
                self._set_aside(job for job in self.plan.jobs if job not in self.outcomes)
            agree(self.outcomes)
            budget = self._budget()
            with spending(budget):
                self._play(started, others)
        worlds = {job.world for job in routed}
        if routed and all(self._is_whole(job) for job in others if job.world in worlds):
            self._tell(routed, others)
            with spending(budget), self._opened() as started:
                self._play(started, routed)

    @contextmanager
    def _opened(self, **how: bool) -> Iterator[Playing]:
        """Open the folder; results are written at the end."""
        hosts = len({cell.host for cell in self.cells.values() if cell.host})
        executor = f"processes={self.processes},concurrent={self.at_once * max(1, hosts)}"
        grid = Grid((*self.cells.values(),), sorted({job.seed for job in self.plan.jobs}))
        with playing(grid, out=self.out, executor=executor, **how) as started:
            self._read_outcomes(started)
            try:
                yield started
            finally:
                self._read_outcomes(started)
                for name, content in result_files(self.plan, self.outcomes).items():
                    write_whole(self.out / name, [content])

    def _read_outcomes(self, started: Playing) -> None:
        jobs = sorted(started.kept)
        rows = map(started.plan.row, jobs, started.kept.results(jobs))
        self.outcomes = outcomes_of(self.plan, rows)

    def _play(self, started: Playing, jobs: Iterable[JobKey]) -> None:
        cells = {key: place for place, key in enumerate(self.cells)}
        seeds = {seed: place for place, seed in enumerate(started.plan.seeds)}
        started.play(
            cells[job.world, job.entry, job.repeat] * len(seeds) + seeds[job.seed] for job in jobs
        )

    def _is_whole(self, job: JobKey) -> bool:
        return (
            ended_episodes(self.outcomes.get(job, ())) == self.plan.suite.worlds[job.world].episodes
        )

    def _write_suite(self) -> None:
        try:
            (self.out / RECORDS).mkdir(exist_ok=True)
            write_whole(self.out / SUITE, [self.plan.path.read_bytes()])
        except OSError as fault:
            raise UsageError(f"cannot write {self.out}: {fault.strerror}") from None

    def _set_aside(self, jobs: Iterable[JobKey]) -> None:
        """Set the records of jobs aside which are played anew."""
        each = (self.cells[job.world, job.entry, job.repeat].job(job.seed) for job in jobs)
        for job in each:
            if job.has_record:
                set_aside(job)

    # -- money -------------------------------------------------------------------------------------

    def _budget(self) -> CommandBudget:
        """Return the budget, in which each entry has a purse with its limits of money."""
        suite = self.plan.suite
        before = dict.fromkeys(suite.entries, 0.0)
        for job in self.plan.jobs:
            before[job.entry] += self._cost(job)
        whole = _limits("max_cost", suite.max_cost, sum(before.values()))
        purses = {
            name: CommandBudget(
                calls_at_once=self.at_once,
                shared=_limits(f"entries.{name}.max_cost", entry.max_cost, before[name]) + whole,
            )
            for name, entry in suite.entries.items()
        }
        return CommandBudget(purses=purses)

    def _cost(self, job: JobKey) -> float:
        """Return what was spent for a job, by its row or the replies in its records."""
        if job in self.outcomes:
            return sum(one.usage.get("cost", 0.0) for one in self.outcomes[job])
        record = self.out / self.plan.cell(job).record_name(job.seed)
        files = record.glob("*.jsonl") if record.is_dir() else [record] * record.exists()
        return sum(price for file in files for price in _prices(file))

    # -- routers -----------------------------------------------------------------------------------

    def _is_routed(self, entry: str) -> bool:
        return "router" in self.plan.suite.entries[entry].options

    def _tell(self, routed: Sequence[JobKey], others: Iterable[JobKey]) -> None:
        """Tell routers what the others have answered; if that has changed, they play anew."""
        found = self._predictions(others)
        encode = msgspec.json.Encoder(order="deterministic").encode
        content = b"".join(
            encode(line | {"id": f"{model}/{world}/{seed}/{repeat + 1}/{line['id']}"}) + b"\n"
            for (model, world, seed, repeat), lines in found.items()
            for line in lines
        )
        file = self.out / _PREDICTIONS
        if not file.is_file() or file.read_bytes() != content:
            self._set_aside(routed)
            write_whole(file, [content])
        known: dict[tuple[str, str, int], dict[int, Any]] = {}
        for job in routed:
            of_cell = known.setdefault((job.world, job.entry, job.repeat), {})
            of_cell[job.seed] = [{"predictions": self._known(job, found)}]
        for key, of_cell in known.items():
            self.cells[key] = evolve(self.cells[key], known=of_cell, told=_digest(content))

    def _predictions(self, jobs: Iterable[JobKey]) -> dict[_Key, list[dict[str, Any]]]:
        """Return the questions of ended episodes, with the answers of the methods."""
        played: dict[_Key, tuple[ItemsModel[Any], dict[str, Episode]]] = {}
        for job in jobs:
            entry, cell = self.plan.suite.entries[job.entry], self.plan.cells[job.world, job.entry]
            asks = entry.method and cell.episodes == 1 and self._is_whole(job)
            if asks and isinstance(cell.model, ItemsModel):
                key = (entry.model, job.world, job.seed, job.repeat)
                past = Episode.read(record_in(self.out, self.outcomes[job][0]), keep_steps=False)
                played.setdefault(key, (cell.model, {}))[1][entry.method] = past
        return {
            key: list(outside_class(MODEL_POLICY, model).predictions(model, episodes))
            for key, (model, episodes) in played.items()
        }

    def _known(self, job: JobKey, found: Mapping[_Key, list[dict[str, Any]]]) -> dict[str, Any]:
        """Return what the policy of a router gets: see `OutsidePolicy.reuse`.

        It learns from questions that are asked in none of its worlds; if all are, from those.
        """
        model = self.plan.suite.entries[job.entry].model
        worlds = {world for world, entry in self.plan.cells if entry == job.entry}
        mine = {key: lines for key, lines in found.items() if key[0] == model}
        asked = {line["id"] for key, lines in mine.items() if key[1] in worlds for line in lines}
        every = [line for lines in mine.values() for line in lines]
        learned = [line for line in every if line["id"] not in asked] or every
        return {
            "learned": learned,
            "stored": mine.get((model, job.world, job.seed, job.repeat), []),
        }


def _prices(record: Path) -> Iterator[float]:
    """Yield the price of each reply on record, as of a decision that a kill has prevented."""
    with suppress(DesimError):  # of a damaged record, whose job fails with a sentence
        past = Episode.read(record, whole=False, keep_steps=False)
        for line in past.transcript:
            reply = line.entry.get("reply") if isinstance(line.entry, Mapping) else None
            if isinstance(reply, Mapping):
                given = Spec.read(past.header.policies[line.role]).arguments
                price = {way: float(given.get(f"price_{way}", 0)) for way in ("in", "out")}
                price_cached = float(given.get("price_cached", price["in"]))
                read, wrote = (reply.get(f"{kind}_tokens", 0) for kind in ("prompt", "completion"))
                cached = min(reply.get("cached_tokens", 0), read)
                cost = (read - cached) * price["in"] + cached * price_cached + wrote * price["out"]
                # Prices are for a million tokens.
                yield max(cost / 1_000_000, reply.get("reported_cost") or 0.0)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _limits(name: str, most: float | None, spent: float) -> tuple[MoneyLimit, ...]:
    return () if most is None else (MoneyLimit(name, most, spent),)
