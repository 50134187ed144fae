"""The rules of a world in the place of a person, on the seed of the person's game."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from desim import catalog
from desim.catalog.policy_spec import read_policies
from desim.core.model import Model, model_of
from desim.core.policy import OutsidePolicy, most_known
from desim.core.roles import Knowledge, knowledge_legend, knowledge_order, with_knowledge
from desim.episodes.driver import play
from desim.episodes.lineup import assign, knows_by_role, maker_of
from desim.errors import UsageError
from desim.records.episode import Episode
from desim.show.table import Table
from desim.ui.layout import text_table

_NO_RANK = "Baselines that use more than observations are no rivals and have no rank"

_LEFT_OUT = "Without a row, as they do not play all of your roles"


@frozen
class Baseline:
    """One baseline's episode.

    Attributes:
        policy: Its spec.
        score: Higher is better; None if the episode failed.
        ended: Why the episode ended, or why it failed.
        knows: What it knows; it has a rank if that is what its roles observe.
        series: The series of the episode.
    """

    policy: str
    score: float | None
    ended: str
    knows: Knowledge = "observation"
    series: Mapping[str, Sequence[float]] = field(factory=dict)

    @property
    def is_rival(self) -> bool:
        """Whether it has a score and plays from observations, as a person does."""
        return self.score is not None and self.knows == "observation"


def policies_of(model: Model[Any], seats: Sequence[str], spec: str) -> dict[str, Any]:
    """Return the policies of a person's seats; a seat that a rule or a line-up lacks is missing.

    Raises:
        UsageError: A policy is unknown.
    """
    taken = assign(model, read_policies((spec,)), seats)
    return {role: taken[role] for role in seats if role in taken}


@define(eq=False)
class BaselineComparison:
    """The baselines of a model, played one after another on the seed of a person's game.

    Attributes:
        model: The model.
        seed: The seed of the person's game.
        seats: The person's roles, all of which a baseline takes.
        others: The policies of other roles.
        contenders: The specs of baselines and line-ups; empty if a policy of another role obtains
            its answers from somewhere, such as a language model, which would be asked, and paid,
            again for each.
        left_out: The specs of baselines that do not play all of the person's roles.
        note: Why no baselines play; empty if they do.
        played: The baselines that have played so far.
    """

    model: Model[Any]
    seed: int
    seats: tuple[str, ...]
    others: Mapping[str, Any]
    contenders: tuple[str, ...] = field(init=False)
    left_out: tuple[str, ...] = field(init=False)
    note: str = field(default="", init=False)
    played: list[Baseline] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        # For one seat a line-up is a single rule, which the baselines name.
        joint = catalog.lineups(self.model) if len(self.seats) > 1 else ()
        known = tuple(dict.fromkeys((*catalog.baselines(self.model), *joint)))
        if asked := [*_outside(self.model, self.others)]:
            who, known = " and ".join(asked), ()
            self.note = f"No baselines play: for each of them {who} would be asked again."
        self.contenders = tuple(spec for spec in known if self._plays(spec))
        self.left_out = tuple(spec for spec in known if spec not in self.contenders)

    def _plays(self, spec: str) -> bool:
        """Return whether a spec plays all seats; a wrong one does, as its error has a row."""
        try:
            return len(policies_of(self.model, self.seats, spec)) == len(self.seats)
        except UsageError:
            return True

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences below the table: which rows have no rank, and which baselines no row."""
        levels = knowledge_legend(row.knows for row in self.played)
        return (
            *((f"{_NO_RANK} ({'; '.join(levels)}).",) if levels else ()),
            *((f"{_LEFT_OUT}: {', '.join(self.left_out)}.",) if self.left_out else ()),
        )

    @property
    def rivals(self) -> list[Baseline]:
        """The baselines that have a rank, the best first."""
        return sorted((row for row in self.played if row.is_rival), key=_order)

    @property
    def done(self) -> bool:
        """Whether all baselines have played."""
        return len(self.played) == len(self.contenders)

    @property
    def shown(self) -> dict[str, Baseline]:
        """The best rival and the one in the middle, the worse of two; empty before all played."""
        rivals = self.rivals if self.done else []
        found = {"best rule": rivals[0]} if rivals else {}
        if len(rivals) > 2:  # noqa: PLR2004 (of fewer none is in the middle)
            found["median rule"] = rivals[len(rivals) // 2]
        return found

    def play(self) -> None:
        """Play all baselines."""
        for spec in self.contenders:
            self.played.append(self._played(spec))

    def ranked(self, episode: Episode) -> Table:
        """Rank a person's episode among the baselines that have played, best first.

        Equal scores share a rank. Baselines that know more than observations follow without one, as
        do those that failed.
        """
        rows = sorted((Baseline("you", episode.score, episode.ended), *self.played), key=_order)
        rivals = [row.score for row in rows if row.score is not None and row.is_rival]
        return text_table(
            "Scores on the same seed, higher is better",
            [
                {
                    "rank": rank_in(rivals, row.score or 0.0) if row.is_rival else None,
                    "policy": with_knowledge(row.policy, row.knows),
                    "score": row.score,
                    "ended": row.ended,
                }
                for row in rows
            ],
        )

    def _played(self, spec: str) -> Baseline:
        level: Knowledge = "observation"
        try:
            policies = policies_of(self.model, self.seats, spec)
            level = most_known(knows_by_role(self.model, policies).values())
            episode = play(self.model, {**self.others, **policies}, self.seed)
        except Exception as fault:  # noqa: BLE001 (the other baselines play even if one fails)
            return Baseline(spec, None, str(fault), level)
        return Baseline(spec, episode.score, episode.ended, level, episode.series())


def rank_in(scores: Iterable[float], score: float) -> int:
    """Return one more than the number of higher scores."""
    return 1 + sum(other > score for other in scores)


def _outside(model: Model[Any], policies: Mapping[str, Any]) -> Iterator[str]:
    """Yield the roles of policies whose input cannot be obtained again without asking again."""
    for role, one in policies.items():
        policy = maker_of(one, model_of(model, role)[0])
        if issubclass(policy if isinstance(policy, type) else type(policy), OutsidePolicy):
            yield role


def _order(row: Baseline) -> tuple[int, bool, float]:
    """Sort rows that know less first, among these rows without a score last, high scores first."""
    return knowledge_order(row.knows), row.score is None, -(row.score or 0)
