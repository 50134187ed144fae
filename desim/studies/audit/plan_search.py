"""Hill climbs over plans from many starts, on training seeds, within a budget of episodes."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum, inf, isfinite
from random import Random
from statistics import median
from types import MappingProxyType
from typing import Any

from attrs import define, evolve, field, frozen

from desim.jobs.keep.store import Store
from desim.jobs.plan.grid import Grid
from desim.jobs.plan.job import Row
from desim.jobs.rows.failures import counted
from desim.jobs.run.executors import Executor
from desim.jobs.run.playing import Playing
from desim.show.progress import Progress
from desim.studies.audit.candidates import Material
from desim.studies.audit.schedule import Plan, Schedule, plan_text

#: The name of the plans of the search.
SEARCHED = "found by search"

#: Plans that each role improves at once, and the neighbours of each that are played together.
_CHAINS, _NEIGHBOURS = 4, 4

#: Rounds without an improvement after which a hill climb starts again from a random plan.
_PATIENCE = 8

#: Rounds without a new plan after which the search ends, as a role may have few plans.
_FRUITLESS = 50

#: A plan first plays one training seed in so many, and the others if it is as good on these.
_SCREEN = 4

#: The share of the budget after which no further degenerate plan is played.
_DEGENERATE = 0.25

#: Plans that are played together at the start.
_BATCH = 16


@frozen
class SeatedPlan:
    """A plan of a role.

    Attributes:
        role: The role.
        plan: The plan.
        name: The name of a degenerate plan, for people.
        text: The text of the plan; two plans of a role with one text are equal.
    """

    role: str
    plan: Plan = field(eq=False)
    name: str = field(default=SEARCHED, eq=False)
    text: str = field(init=False)

    @text.default
    def _text_of_plan(self) -> str:
        return plan_text(self.plan)

    @property
    def spec(self) -> str:
        """The spec of the policy that plays it."""
        return f"{Schedule.__module__}:{Schedule.__qualname__},plan={self.text}"


@frozen
class PlayedScores:
    """The scores of a line-up.

    Attributes:
        scores: By seed; None for an episode that failed in a model without a worst score.
        error: The first error; empty if there was none.
    """

    scores: tuple[float | None, ...]
    error: str

    @property
    def mean(self) -> float:
        """The mean score; minus infinity if one is missing."""
        known = [score for score in self.scores if score is not None and isfinite(score)]
        return fsum(known) / len(known) if known and len(known) == len(self.scores) else -inf


#: The scores of a plan that was not played, which any score exceeds.
_UNPLAYED = PlayedScores((None,), "")


@frozen(eq=False)
class LineupScores:
    """Plays line-ups of one preset on seeds.

    Attributes:
        grid_of: Returns the grid of some line-ups on some seeds.
        players: The executor.
        store: Keeps the results.
    """

    grid_of: Callable[[Sequence[Any], Sequence[int]], Grid]
    players: Executor
    store: Store

    def play(self, plan: Grid) -> list[Row]:
        """Return the rows of a grid, of which kept ones are not played again."""
        frames = plan.frames()
        kept = self.store.of(plan, frames)
        started = Playing(plan, kept, self.players, Progress(), frames=frames)
        started.play(range(len(plan)))
        return list(started.rows())

    def of(self, lineups: Sequence[Any], seeds: Sequence[int]) -> list[PlayedScores]:
        """Return the scores of each line-up."""
        if not lineups:
            return []
        rows = self.play(self.grid_of(lineups, seeds))
        found = []
        for start in range(0, len(rows), len(seeds)):
            one = rows[start : start + len(seeds)]
            errors = [row["error"] for row in one if row["error"] is not None]
            found.append(PlayedScores(tuple(counted(one, "score")), errors[0] if errors else ""))
        return found


@define
class _Chain:
    """A hill climb: its present plan, and the rounds since that became better."""

    best: SeatedPlan
    played: PlayedScores
    stale: int = 0


@define(eq=False)
class PlanSearch:
    """A search of plans for the roles of one preset.

    Attributes:
        lineups: Plays line-ups.
        others: The specs of the other roles, by role.
        materials: What the plans of each role are made of.
        seeds: The training seeds.
        budget: Most episodes.
        seconds: Wall-clock time after which it ends.
        random: Draws the plans.
        progress: Called with the episodes so far and the budget.
        found: The scores of the plans that have played all seeds.
        episodes: The episodes that have been played.
        failed: The first error of each plan that has failed.
        tried: All plans that were played.
    """

    lineups: LineupScores
    others: Mapping[str, Any]
    materials: Mapping[str, Material]
    seeds: tuple[int, ...]
    budget: int
    seconds: float
    random: Random
    progress: Progress
    found: dict[SeatedPlan, PlayedScores] = field(factory=dict)
    episodes: int = 0
    failed: dict[str, str] = field(factory=dict)
    tried: set[SeatedPlan] = field(factory=set)
    _end: float = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._end = time.monotonic() + self.seconds

    def lineup(self, one: SeatedPlan) -> dict[str, Any]:
        """Return the policies by role with a plan in its seat."""
        return {**self.others, one.role: one.spec}

    def run(self) -> None:
        """Play the degenerate plans, then climb from the best ones until the budget is used."""
        plain = [
            SeatedPlan(role, plan, name)
            for role, material in self.materials.items()
            for name, plan in material.degenerate().items()
        ]
        self.random.shuffle(plain)
        # Idleness and options first, as a role may have more actions than the budget has episodes.
        plain.sort(key=lambda one: one.plan[0].actions[0].name in self.materials[one.role].schemas)
        for start in range(0, len(plain), _BATCH):
            # A part of the budget, so that a role with many actions leaves some for the search.
            if not self._over(_DEGENERATE):
                self._play(plain[start : start + _BATCH])
        chains = [chain for role in self.materials for chain in self._starts(role)]
        rounds = 0
        while not self._over() and rounds < _FRUITLESS:
            known = len(self.tried)
            self._climb(chains)
            rounds = rounds + 1 if len(self.tried) == known else 0
        self.progress(self.budget, self.budget)

    def best(self) -> list[SeatedPlan]:
        """Return the plans that have played all seeds, the highest mean first."""
        return sorted(self.found, key=lambda one: (-self.found[one].mean, len(one.text), one.text))

    def _over(self, share: float = 1.0) -> bool:
        left = self._end - time.monotonic()
        return self.episodes >= share * self.budget or left <= (1 - share) * self.seconds

    def _starts(self, role: str) -> list[_Chain]:
        known = [one for one in self.best() if one.role == role][:_CHAINS]
        drawn = [self._drawn(role) for _ in range(_CHAINS - len(known))]
        return [_Chain(one, self.found.get(one, _UNPLAYED)) for one in [*known, *drawn]]

    def _drawn(self, role: str) -> SeatedPlan:
        return SeatedPlan(role, self.materials[role].drawn(self.random))

    def _climb(self, chains: Sequence[_Chain]) -> None:
        """Play neighbours of each chain's plan; a chain goes on from the best of them."""
        near: list[tuple[_Chain, SeatedPlan]] = []
        for chain in chains:
            if chain.stale >= _PATIENCE:
                chain.best, chain.played = self._drawn(chain.best.role), _UNPLAYED
                chain.stale = 0
                near.append((chain, chain.best))
            near += [(chain, self._neighbour(chain.best)) for _ in range(_NEIGHBOURS)]
            chain.stale += 1
        self._play([one for _, one in near], {one: chain.played for chain, one in near})
        for chain, one in near:
            played = self.found.get(one)
            if played is not None and played.mean > chain.played.mean:
                chain.best, chain.played, chain.stale = one, played, 0

    def _neighbour(self, one: SeatedPlan) -> SeatedPlan:
        return SeatedPlan(one.role, self.materials[one.role].changed(one.plan, self.random))

    def _play(
        self,
        given: Iterable[SeatedPlan],
        least: Mapping[SeatedPlan, PlayedScores] = MappingProxyType({}),
    ) -> None:
        """Play new plans on the first seeds, and those that may be better on the others.

        Args:
            given: Plans; those that were played before are left out.
            least: What each must reach on the first seeds; of others the better half goes on.
        """
        new = [one for one in dict.fromkeys(given) if one not in self.tried]
        self.tried.update(new)
        count = -(-len(self.seeds) // _SCREEN)
        played = dict(zip(new, self._scores(new, self.seeds[:count]), strict=True))
        middle = median(scores.mean for scores in played.values()) if played else -inf
        kept = []
        for one, scores in played.items():
            bar = PlayedScores(least[one].scores[:count], "").mean if one in least else middle
            if scores.mean > -inf and scores.mean >= bar:
                kept.append(one)
        further = self._scores(kept, self.seeds[count:]) if count < len(self.seeds) else []
        self.found |= {one: played[one] for one in kept}
        for one, more in zip(kept, further, strict=False):
            self.found[one] = evolve(more, scores=played[one].scores + more.scores)
        self.progress(min(self.episodes, self.budget), self.budget)

    def _scores(self, given: Sequence[SeatedPlan], seeds: tuple[int, ...]) -> list[PlayedScores]:
        found = self.lineups.of([self.lineup(one) for one in given], seeds)
        self.episodes += len(given) * len(seeds)
        for one, played in zip(given, found, strict=True):
            if played.error:
                self.failed.setdefault(one.text, played.error)
        return found
