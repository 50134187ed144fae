"""The episodes and scores of a suite by world and entry, as both formats of suites take them.

Everything is read from the data in the folder: nothing that it names is imported. Identifiers are
digests of worlds, policies and seeds, so that a second export has the same.
"""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from attrs import evolve, field, frozen

from desim.episodes.series import episode_file
from desim.errors import UsageError
from desim.exports.messages import ChatMessage, messages_of
from desim.jobs.keep.outcome import Played
from desim.jobs.keep.record_folder import RecordFolder, series_folder
from desim.jobs.plan.record_job import safe_name
from desim.records.episode import Episode
from desim.suites.manifest import plan_of, recorded_model
from desim.suites.results import ResultCell, SuiteLine, results
from desim.suites.suite_file import SuiteColumn
from desim.suites.suite_plan import Plan, PlannedEntry, PlannedWorld, SuiteJob

#: The column of scores.
_SCORE = SuiteColumn(figure="score")

#: Settings of requests: the argument of the policy `llm`, and the usual name of the field.
_SETTINGS = {"temperature": "temperature", "top_p": "top_p", "reply_tokens": "max_tokens"}


@frozen
class SuiteEpisode:
    """One episode of a suite that has begun.

    Attributes:
        job: Its job.
        played: Its outcome.
        record: The file of its record, which need not exist.
    """

    job: SuiteJob
    played: Played
    record: Path = field(repr=False)

    @property
    def seed(self) -> int:
        """Its seed."""
        return self.job.seed + self.played.episode - 1

    @property
    def name(self) -> str:
        """Its name among the episodes of its world and entry with one repeat."""
        return f"seed-{self.seed}"

    @property
    def ended(self) -> datetime | None:
        """When the last line of its record was written; None without a record."""
        if not self.record.exists():
            return None
        return datetime.fromtimestamp(self.record.stat().st_mtime, UTC).replace(microsecond=0)

    def messages(self) -> list[ChatMessage]:
        """Return its messages; none without a record.

        Raises:
            BadRecord: The record cannot be read.
        """
        if not self.record.exists():
            return []
        episode = Episode.read(self.record, whole=False, keep_steps=False)
        return list(messages_of(self.record, episode))


@frozen
class EntryScores:
    """The episodes of an entry in a world.

    Attributes:
        suite: The name of the suite: its title, or the name of its file.
        world: The world.
        entry: The entry.
        line: Its results; the first column is the score, and the others are those of the suite.
        episodes: Those that have begun, in the order of seeds and repeats.
        identity: By topic what determines the episodes.
    """

    suite: str
    world: PlannedWorld
    entry: PlannedEntry
    line: SuiteLine
    episodes: tuple[SuiteEpisode, ...] = field(repr=False)
    identity: Mapping[str, str] = field(repr=False)

    @property
    def score(self) -> ResultCell:
        """The mean score with its interval."""
        return self.line.cells[0]

    @property
    def model(self) -> str:
        """The name of the model of the world, with its preset."""
        table = self.world.table
        return "/".join(filter(None, [table.model, table.preset]))

    @property
    def params(self) -> Any:
        """The parameters of the model of the world."""
        return recorded_model(self.identity, self.world.name)[1]

    @property
    def policies(self) -> str:
        """The policies of the entry and what differs by world, as JSON."""
        return self.identity.get(f"entries.{self.entry.name}", "")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of requests that both formats have fields for, by the fields' names."""
        given = self.entry.table.options
        return {name: given[option] for option, name in _SETTINGS.items() if option in given}

    @property
    def versions(self) -> dict[str, str]:
        """The digests of the prompt and of the policies' code, which all episodes have in common.

        Records of format 3 state none.
        """
        stated = [(one.played.prompt, one.played.code) for one in self.episodes]
        prompts, codes = ([text for text in texts if text] for texts in zip(*stated, strict=True))
        return {"prompt": "".join(prompts[:1]), "code": "".join(codes[:1])}

    @property
    def planned(self) -> int:
        """The number of episodes in the suite."""
        line = self.line
        counts = (line.n, line.cut, line.training, line.not_played, line.failed, line.open)
        return sum(counts)

    def identifier(self, *parts: object) -> str:
        """Return a text of 32 digits for this world and entry that is the same in every export."""
        world = self.identity.get(f"worlds.{self.world.name}", "")
        return stable_id(self.suite, self.world.name, world, self.entry.name, self.policies, *parts)


def stable_id(*parts: object) -> str:
    """Return 32 hexadecimal digits that depend on the parts alone."""
    return hashlib.sha256(msgspec.json.encode([str(part) for part in parts])).hexdigest()[:32]


def suite_scores(path: str | Path) -> list[EntryScores]:
    """Return the worlds and entries of a suite of which an episode has begun, in its order.

    Args:
        path: The folder of a suite.

    Raises:
        UsageError: The folder holds no suite, or none of its episodes has begun.
        BadRecord: An outcome is damaged.
    """
    folder = RecordFolder(Path(path))
    plan, identity, outcomes = plan_of(folder), folder.identity(), folder.outcomes()
    found: dict[tuple[str, str], list[SuiteEpisode]] = {}
    for job in plan.jobs:
        for played in outcomes[job.name].each if job.name in outcomes else ():
            record = _record(folder, job, played)
            found.setdefault((job.world, job.entry), []).append(SuiteEpisode(job, played, record))
    if not found:
        raise UsageError(f"no episode of {path} has begun, so there is nothing to export")
    name = plan.suite.title or plan.path.stem
    lines = {(line.world, line.entry): line for line in results(_with_scores(plan), outcomes)}
    return [
        EntryScores(
            name,
            plan.worlds[world],
            plan.entries[entry],
            lines[world, entry],
            tuple(sorted(episodes, key=lambda one: (one.seed, one.job.repeat))),
            identity,
        )
        for (world, entry), episodes in found.items()
    ]


def _record(folder: RecordFolder, job: SuiteJob, played: Played) -> Path:
    record = folder.record(job.name)
    return episode_file(series_folder(record), played.episode) if job.is_series else record


def _with_scores(plan: Plan) -> Plan:
    """Return a plan whose worlds have the score as their first column, and no pooled tables."""
    worlds = {
        name: evolve(world, table=evolve(world.table, columns=_columns(world)))
        for name, world in plan.worlds.items()
    }
    return evolve(plan, worlds=worlds, suite=evolve(plan.suite, tables={}))


def _columns(world: PlannedWorld) -> tuple[SuiteColumn, ...]:
    own = (each for each in world.table.columns if each.head != _SCORE.head)
    return (_SCORE, *own)


def file_stem(*names: str) -> str:
    """Return the name of a file for worlds and entries, which is safe in every file system."""
    return "__".join(map(safe_name, names))
