"""The records of a debrief, one for each team, and their ranks where ranks are fair."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import frozen

from desim.core.policy_protocols import most_known
from desim.core.reported import Debriefing
from desim.core.roles import Knowledge, with_knowledge
from desim.errors import UsageError
from desim.records.lines import Header
from desim.records.record_file import record_stem
from desim.reports.elements.page import clean
from desim.reports.record.overlays import debriefing_of
from desim.reports.record.record_read import ReadRecord

#: Records of one debrief: more teams do not fit on its second page.
MOST_TEAMS = 16

#: Characters of a team's name.
_NAME = 20

#: Properties that must be equal for a fair rank, in words.
_EQUAL = ("preset or parameters", "seed", "revision of the world", "seats")


@frozen
class Team:
    """A team: its record, and what its world states about it.

    Attributes:
        name: The name of its file without the suffix.
        record: The record, read and played again.
        debriefing: None if the world states nothing, or could not be played.
    """

    name: str
    record: ReadRecord
    debriefing: Debriefing | None

    @property
    def is_whole(self) -> bool:
        """Whether the record has a result with a finite score."""
        score = self.record.score
        return score is not None and math.isfinite(score)

    @property
    def is_rival(self) -> bool:
        """Whether its policies know what their roles observe, and no more."""
        return self.knows == "observation"

    @property
    def knows(self) -> Knowledge:
        """The most that one of its policies knows."""
        return most_known(self.record.episode.header.knows.values())

    @property
    def title(self) -> str:
        """The name, with what its policies know beyond their observations."""
        return with_knowledge(self.name, self.knows)

    @property
    def costs(self) -> Mapping[str, float]:
        """The sum of the costs of each seat; empty if the world states none."""
        found = self.debriefing.costs if self.debriefing else {}
        return {seat: math.fsum(causes.values()) for seat, causes in found.items()}


def read_teams(paths: Sequence[Path], *, trust: bool = False) -> list[Team]:
    """Read records, each of one team, and play them again.

    Args:
        paths: Records of one world, each given once.
        trust: Whether a module may be imported and files may be opened that a record names.

    Raises:
        UsageError: The list is empty or longer than `MOST_TEAMS`, one is given twice, or they are
            of different worlds.
        BadRecord: One cannot be read.
    """
    if not paths:
        raise UsageError("no record was given; give one for each team")
    if len(paths) > MOST_TEAMS:
        raise UsageError(f"{len(paths)} records were given; a debrief holds at most {MOST_TEAMS}")
    uses = Counter(path.resolve() for path in paths)
    for path in paths:
        if uses[path.resolve()] > 1:
            raise UsageError(f"{path} was given twice; give the record of each team once")
    teams: list[Team] = []
    for path, name in zip(paths, _names(paths), strict=True):
        one = ReadRecord.of(path, name, len(paths), trust=trust)
        teams.append(Team(name, one, debriefing_of(one.replayed)))
        first, model = teams[0].record.episode.header.model, one.episode.header.model
        if model != first:
            raise UsageError(
                f"{path} is of {clean(model, 60)} and {paths[0]} of {clean(first, 60)}; a debrief "
                "is about one world"
            )
    return teams


def _names(paths: Sequence[Path]) -> list[str]:
    """Return the names of the files without suffixes, with their folders where two are the same."""
    stems = [record_stem(path) for path in paths]
    count = Counter(stems)
    return [
        clean(stem if count[stem] == 1 else f"{path.parent.name}/{path.name}", _NAME)
        for path, stem in zip(paths, stems, strict=True)
    ]


def ranks(teams: Sequence[Team]) -> dict[str, int]:
    """Return ranks by name, 1 for the highest score; teams with equal scores share one.

    Cut and failed records, and policies that know more than their roles observe, have no rank. The
    result is empty for a single team, and for teams that `differences` names.
    """
    ranked = [team for team in teams if team.is_whole and team.is_rival]
    if len(teams) == 1 or differences(teams):
        return {}
    scores = [team.record.score or 0.0 for team in ranked]
    return {
        team.name: 1 + sum(other > score for other in scores)
        for team, score in zip(ranked, scores, strict=True)
    }


def differences(teams: Sequence[Team]) -> list[str]:
    """Return in words how the games of teams differ, so that their scores have no common rank."""
    keys = [_compared(team.record.episode.header) for team in teams]
    return [
        word
        for word, values in zip(_EQUAL, zip(*keys, strict=True), strict=True)
        if len(set(values)) > 1
    ]


def _compared(header: Header) -> Iterator[Any]:
    """Yield what must be equal, in the order of `_EQUAL`."""
    yield msgspec.json.encode((header.preset, header.params), order="sorted")
    yield header.seed, header.futures
    yield msgspec.json.encode(header.provenance.revision)
    yield tuple(sorted(header.policies))
