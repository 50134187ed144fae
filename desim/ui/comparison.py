"""The baselines' scores on the same model and seed, shown at the end of a person's game.

The baselines of the model, and of the person's parts, play in place of the person.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from desim import catalog
from desim.catalog.policy_spec import read_policies
from desim.core.model import Model, model_of
from desim.core.policy import OutsidePolicy, most_known
from desim.core.roles import Knowledge, knowledge_legend, knowledge_order, with_knowledge
from desim.episodes.driver import play
from desim.episodes.lineup import assign, knows_by_role, maker_of, seat_of
from desim.errors import UsageError
from desim.records.episode import Episode
from desim.show.table import Table
from desim.ui.ending.trails import Trail, TrailReader
from desim.ui.layout import text_table

#: The baseline of a person's other parts while one part tries all of its own.
_USUAL = "greedy"


@frozen
class Contender:
    """One baseline in the place of a person.

    Attributes:
        label: Its spec; of parts also whose it is.
        specs: By part the spec that plays the person's seats in it; "" means the roles that
            are in no part, and alone for all of the person's seats.
    """

    label: str
    specs: Mapping[str, str]

    def policies(self, model: Model[Any], seats: Sequence[str]) -> dict[str, Any]:
        """Return the policies of the person's roles; a role that its specs leave out is missing.

        Raises:
            UsageError: A policy is unknown.
        """
        parts = _parts(model, seats)
        if [*self.specs] == [""]:
            parts = {"": _Part(model, tuple(seats))}
        given: dict[str, Any] = {}
        for name, spec in self.specs.items():
            taken = assign(parts[name].model, read_policies((spec,)), parts[name].seats)
            given |= {f"{name}.{role}" if name else role: one for role, one in taken.items()}
        return {role: given[role] for role in seats if role in given}

    def plays(self, model: Model[Any], seats: Sequence[str]) -> bool:
        """Return whether it plays all of the person's roles, so that scores can be compared.

        A spec that is wrong counts as one that does: its error is shown in place of a score.
        """
        try:
            return len(self.policies(model, seats)) == len(seats)
        except UsageError:
            return True

    def knows(self, model: Model[Any], seats: Sequence[str]) -> Knowledge:
        """Return the most that one of its policies knows.

        Raises:
            UsageError: A policy is unknown.
        """
        return most_known(knows_by_role(model, self.policies(model, seats)).values())


@frozen
class _Part:
    """A model and the person's seats in it, by the names that they have there."""

    model: Model[Any]
    seats: tuple[str, ...]


def contenders(model: Model[Any], seats: Sequence[str]) -> tuple[Contender, ...]:
    """Return the baselines and line-ups of a model, then those that only parts of it have.

    Parts are those in which a person has seats.

    Where these are several parts, one part tries all of its baselines while the person's seats in
    the others are played by `greedy`, or by the first baseline of a part without options.
    """
    # For one seat a line-up is a single rule, which the baselines name.
    joint = catalog.lineups(model) if len(seats) > 1 else ()
    whole = tuple(dict.fromkeys((*catalog.baselines(model), *joint)))
    named = {name: catalog.baselines(part.model) for name, part in _parts(model, seats).items()}
    every = tuple(Contender(name, {"": name}) for name in whole)
    return (*every, *_by_part(named, whole)) if all(named.values()) else every


def _by_part(named: Mapping[str, Sequence[str]], known: Sequence[str]) -> Iterator[Contender]:
    """Yield the baselines of each part that the whole model does not have."""
    usual = {part: _USUAL if _USUAL in names else names[0] for part, names in named.items()}
    for part, names in named.items():
        for name in names:
            if name not in known:
                specs = {**usual, part: name}
                label = "; ".join(
                    f"{part}: {spec}" if part else spec for part, spec in specs.items()
                )
                yield Contender(label, specs)


def _parts(model: Model[Any], seats: Sequence[str]) -> dict[str, _Part]:
    """Return by name the parts in which a person has seats; "" holds roles that are in none."""
    parts: dict[str, _Part] = {}
    for role in seats:
        # The part's own model, which the heuristics are of.
        seat = seat_of(model, role, 0)
        name = role.removesuffix(seat.role).removesuffix(".")
        before = parts[name].seats if name in parts else ()
        parts[name] = _Part(seat.model, (*before, seat.role))
    return parts


_NO_RANK = "Baselines that use more than observations are no rivals and have no rank"

_LEFT_OUT = "Without a row, as they do not play all of your roles"


@frozen
class Baseline:
    """One baseline's episode.

    Attributes:
        policy: Its spec; of a model with parts also whose it is.
        score: Higher is better; None if the episode failed.
        ended: Why the episode ended, or why it failed.
        knows: What it knows; it has a rank if that is what its roles observe.
        trail: How its score came about.
    """

    policy: str
    score: float | None
    ended: str
    knows: Knowledge = "observation"
    trail: Trail = field(factory=Trail)

    @property
    def is_rival(self) -> bool:
        """Whether it plays from observations, as a person does."""
        return self.knows == "observation"


@define(eq=False)
class BaselineComparison:
    """The baselines of a model, played one after another on the seed of a person's game.

    Attributes:
        model: The model.
        seed: The seed of the person's game.
        seats: The person's roles, all of which a baseline takes.
        others: The policies of other roles.
        contenders: The baselines; empty if a policy of another role obtains its answers from
            somewhere, such as a language model, which would be asked, and paid, again for each.
        left_out: The specs of baselines that do not play all of the person's roles.
        asks_again: The roles of policies that obtain their answers from somewhere.
        played: The baselines that have played so far.
    """

    model: Model[Any]
    seed: int
    seats: tuple[str, ...]
    others: Mapping[str, Any]
    contenders: tuple[Contender, ...] = field(init=False)
    left_out: tuple[str, ...] = field(init=False)
    asks_again: tuple[str, ...] = field(init=False)
    played: list[Baseline] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.asks_again = tuple(_resuming(self.model, self.others))
        known = () if self.asks_again else contenders(self.model, self.seats)
        self.contenders = tuple(one for one in known if one.plays(self.model, self.seats))
        self.left_out = tuple(one.label for one in known if one not in self.contenders)

    @property
    def note(self) -> str:
        """Why no baselines play; empty if they do."""
        if not self.asks_again:
            return ""
        roles = " and ".join(self.asks_again)
        return f"No baselines play: for each of them {roles} would be asked again."

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences below the table: which rows have no rank, and which baselines no row."""
        levels = knowledge_legend(row.knows for row in self.played)
        return (
            *((f"{_NO_RANK} ({'; '.join(levels)}).",) if levels else ()),
            *((f"{_LEFT_OUT}: {', '.join(self.left_out)}.",) if self.left_out else ()),
        )

    @property
    def rivals(self) -> tuple[Baseline, ...]:
        """The baselines that have a rank, the best first."""
        rows = [row for row in self.played if row.score is not None and row.is_rival]
        return tuple(sorted(rows, key=_order))

    @property
    def best(self) -> Baseline | None:
        """The best rival; None without one."""
        return self.rivals[0] if self.rivals else None

    @property
    def median(self) -> Baseline | None:
        """The rival in the middle, the worse one of two; None with fewer than three."""
        rivals = self.rivals
        return rivals[len(rivals) // 2] if len(rivals) > 2 else None  # noqa: PLR2004 (stated above)

    @property
    def done(self) -> bool:
        """Whether all baselines have played."""
        return len(self.played) == len(self.contenders)

    def play(self) -> None:
        """Play all baselines."""
        for contender in self.contenders:
            self.played.append(self._episode_of(contender))

    def ranked(self, episode: Episode) -> Table:
        """Rank the person's episode among the baselines that have played, best first.

        Equal scores share a rank. Baselines that know more than observations
        follow without one, as do those that failed.
        """
        you = Baseline("you", episode.score, episode.ended)
        rows = sorted((you, *self.played), key=_order)
        rivals = [row.score for row in rows if row.score is not None and row.is_rival]
        return text_table(
            "Scores on the same seed, higher is better",
            [
                {
                    "rank": _rank(row, rivals),
                    "policy": with_knowledge(row.policy, row.knows),
                    "score": row.score,
                    "ended": row.ended,
                }
                for row in rows
            ],
        )

    def _episode_of(self, contender: Contender) -> Baseline:
        level: Knowledge = "observation"
        try:
            level = contender.knows(self.model, self.seats)
            policies = {**self.others, **contender.policies(self.model, self.seats)}
            episode = play(self.model, policies, self.seed)
            trail = TrailReader(self.model, self.seats).of(episode.series())
        except Exception as fault:  # noqa: BLE001 (the other baselines play even if one fails)
            return Baseline(contender.label, None, str(fault), level)
        return Baseline(contender.label, episode.score, episode.ended, level, trail)


def _resuming(model: Model[Any], policies: Mapping[str, Any]) -> Iterable[str]:
    """Yield the roles of policies whose input cannot be obtained again without asking again."""
    for role, one in policies.items():
        policy = maker_of(one, model_of(model, role)[0])
        cls = policy if isinstance(policy, type) else type(policy)
        if issubclass(cls, OutsidePolicy):
            yield role


def _order(row: Baseline) -> tuple[int, bool, float]:
    """Sort rows that know less first, among these rows without a score last, high scores first."""
    return knowledge_order(row.knows), row.score is None, -(row.score or 0)


def _rank(row: Baseline, rivals: Iterable[float]) -> int | None:
    """Return one more than the number of higher scores; None for no rival, and without a score."""
    if row.score is None or not row.is_rival:
        return None
    return 1 + sum(other > row.score for other in rivals)
