"""`predictions.jsonl`: what each method answered to each question of a suite, right or wrong.

A line is a question with the answers of all methods around one language model, in the same world,
with the same seed and repeat. Routers answer from these lines and learn their rules from them, so
their jobs are played after all others in their worlds.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec
from attrs import evolve, field, frozen

from desim.core.model import ItemsModel
from desim.core.policy import OutsidePolicy
from desim.episodes.lineup import maker_of
from desim.records.episode import Episode
from desim.suites.suite_file import ROUTER
from desim.suites.suite_folder import Outcomes, is_whole
from desim.suites.suite_plan import MODEL_POLICY, Plan, SuiteJob

#: The name of the file in the folder of a suite.
FILE = "predictions.jsonl"

#: The key of lines: language model, world, seed and repeat.
_Key = tuple[str, str, int, int]


@frozen
class Predictions:
    """The stored predictions of a suite.

    Attributes:
        plan: The suite.
        lines: Questions as plain values.
        rules: By entry the rules that a model has written, in the first episode of its router.
    """

    plan: Plan
    lines: Mapping[_Key, list[dict[str, Any]]] = field(repr=False)
    rules: Mapping[str, Any] = field(factory=dict)

    @classmethod
    def of(cls, plan: Plan, outcomes: Outcomes, folder: Path) -> Self:
        """Return the predictions in the records of a folder, of episodes that have ended.

        Raises:
            BadRecord: A record cannot be read.
        """
        played: dict[_Key, dict[str, SuiteJob]] = {}
        for job in plan.jobs:
            table = plan.suite.entries[job.entry]
            asks = table.method and not (job.is_series or is_routed(plan, job))
            if asks and is_whole(outcomes, job.name, job.episodes):
                key = (table.model, job.world, job.seed, job.repeat)
                if isinstance(model_of(job), ItemsModel):
                    played.setdefault(key, {}).setdefault(table.method, job)
        found = {key: list(_lines(jobs, folder)) for key, jobs in played.items()}
        return cls(plan, found).with_rules(outcomes, folder)

    def with_rules(self, outcomes: Outcomes, folder: Path) -> Self:
        """Return these predictions with the rules in the records of a folder.

        Raises:
            BadRecord: A record cannot be read.
        """
        ended = [one for one in writers(self.plan) if is_whole(outcomes, one.name, 1)]
        found = {one.entry: _rules(folder, one) for one in ended}
        return evolve(self, rules={name: rules for name, rules in found.items() if rules})

    @property
    def content(self) -> bytes:
        """The content of the file."""
        encode = msgspec.json.Encoder(order="deterministic").encode
        return b"".join(
            encode(line | {"id": f"{model}/{world}/{seed}/{repeat + 1}/{line['id']}"}) + b"\n"
            for (model, world, seed, repeat), lines in self.lines.items()
            for line in lines
        )

    def told(self, jobs: Iterable[SuiteJob]) -> list[SuiteJob]:
        """Return jobs of routers whose policies get their predictions before they play."""
        known: dict[tuple[str, str, int], dict[int, Any]] = {}
        some = list(jobs)
        for job in some:
            known.setdefault((job.world, job.entry, job.repeat), {})[job.seed] = self.known(job)
        digest = hashlib.sha256(self.content).hexdigest()
        return [
            evolve(
                job,
                cell=job.cell
                and evolve(job.cell, known=known[job.world, job.entry, job.repeat], told=digest),
            )
            for job in some
        ]

    def known(self, job: SuiteJob) -> tuple[Mapping[str, Any]]:
        """Return what the policy of a router gets: see `OutsidePolicy.reuse`.

        It learns from questions that are asked in none of its worlds; if all are, from those.
        """
        model = self.plan.suite.entries[job.entry].model
        worlds = {one.world for one in self.plan.jobs if one.entry == job.entry}
        mine = {key: lines for key, lines in self.lines.items() if key[0] == model}
        asked = {line["id"] for key, lines in mine.items() if key[1] in worlds for line in lines}
        every = [line for lines in mine.values() for line in lines]
        learned = [line for line in every if line["id"] not in asked] or every
        stored = self.lines.get((model, job.world, job.seed, job.repeat), [])
        known = {"predictions": {"learned": learned, "stored": stored}}
        if job.entry in self.rules and job not in writers(self.plan):
            known["rules"] = self.rules[job.entry]
        return (known,)


def model_of(job: SuiteJob) -> Any:
    """Return the model of a job; the plan is not one to print."""
    assert job.cell is not None
    return job.cell.model


def record_at(folder: Path, job: SuiteJob) -> Path:
    """Return the record of a job in a folder; the plan is not one to print."""
    assert job.cell is not None
    return folder / job.cell.record_name(job.seed)


def is_routed(plan: Plan, job: SuiteJob) -> bool:
    """Return whether a router plays a job."""
    return plan.suite.entries[job.entry].method == ROUTER


def writers(plan: Plan) -> list[SuiteJob]:
    """Return the first job of each router whose rules a model writes; a series is none."""
    writing = [name for name, entry in plan.suite.entries.items() if entry.rules == "model"]
    theirs = [job for job in plan.jobs if job.entry in writing and not job.is_series]
    return list({job.entry: job for job in reversed(theirs)}.values())


def _rules(folder: Path, job: SuiteJob) -> Any:
    """Return the rules in the record of a job, as plain values; None without any."""
    lines = Episode.read(record_at(folder, job), keep_steps=False).transcript
    return next((line.entry["router"] for line in lines if "router" in line.entry), None)


def _lines(jobs: Mapping[str, SuiteJob], folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions of an episode with the answers of the methods that have played it."""
    model = model_of(next(iter(jobs.values())))
    maker = maker_of(MODEL_POLICY, model)
    assert isinstance(maker, type)
    assert issubclass(maker, OutsidePolicy)
    episodes = {
        method: Episode.read(record_at(folder, job), keep_steps=False)
        for method, job in jobs.items()
    }
    yield from maker.predictions(model, episodes)
