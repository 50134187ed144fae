"""Oracle: the planner with knowledge of the hidden state, an upper reference for players.

It computes from the seed which clients are adversarial, so it needs no probing, and every task that
will replace another, so that an acceptance that only refreshes the market is spent where it leads
to a good task. Everything else is as in the planner, also the number of such acceptances and the
rates, which it reads rounded. Because luck can outweigh foresight, it plays the year in advance in
an exact copy of the world, once as the planner and once with foresight, and then plays the better
of the two: it is never below the planner.

Seeds 1-20, preset `default`: $6.36M on average, $6.17M at least, against the planner's $6.22M and
$5.48M. Foresight alone (`rehearse=False`) makes $6.35M; to the nearest $10,000 it is ahead on 15 of
the 20 seeds and worse on 4. Without rerolls it has nothing to choose from; both make $4.1M.

The replacements of a task: hidden draws, computed in advance from the seed (SPEC 4.5, 11.1).
"""

from collections.abc import Iterator
from typing import ClassVar, Self

from attrs import define, field, frozen

from desim import play
from desim.core.roles import Knowledge
from desim.episodes.lineup import WorldSeat
from models.yc_bench.actions import CompanyStatus, TaskAccept
from models.yc_bench.observation import market_row
from models.yc_bench.params import YCBenchParams
from models.yc_bench.rules.checks import stored
from models.yc_bench.rules.draw_market import (
    GENERATIONS,
    draw_market,
    draw_replacement,
    replacement_number,
)
from models.yc_bench.rules.draw_people import draw_clients
from models.yc_bench.rules.specs import ClientSpec, TaskSpec
from policies.heuristics.yc_bench.generator_policy import Row, Steps
from policies.heuristics.yc_bench.matching import TaskValuation
from policies.heuristics.yc_bench.planner import Planner


@define
class MarketForesight:
    """The clients as drawn, and every replacement of the episode.

    Attributes:
        params: The parameters.
        seed: The episode's.
        clients: In the order in which tasks are dealt.
    """

    params: YCBenchParams
    seed: int
    clients: tuple[ClientSpec, ...]
    _slots: dict[int, TaskSpec] = field(factory=dict, repr=False)
    _titles: dict[str, int] = field(factory=dict, repr=False)
    _rows: dict[tuple[int, int], Row] = field(factory=dict, repr=False)

    @classmethod
    def of(cls, params: YCBenchParams, seed: int) -> Self:
        """Take a world from its file, or draw it as the model does."""
        fixed = params.fixed_world
        clients = draw_clients(params, seed) if fixed is None else fixed.clients
        tasks = draw_market(params, seed, clients) if fixed is None else fixed.tasks
        slots, titles = {t.slot: t for t in tasks}, {t.title: t.slot for t in tasks}
        return cls(params, seed, clients, slots, titles)

    @property
    def adversarial(self) -> set[str]:
        """Clients whose tasks swell."""
        return {client.name for client in self.clients if client.adversarial}

    @property
    def foresees(self) -> bool:
        """Whether replacements depend on their slot alone, and titles identify slots."""
        return self.params.replacement_stream == "slot" and len(self._slots) < GENERATIONS

    def after(self, title: str, depth: int) -> Iterator[Row]:
        """Yield the successive replacements of a task as rows of the market.

        Yields nothing if one counter numbers all replacements, because then a draw depends on every
        other acceptance, and nothing for slot 0, whose titles repeat.
        """
        slot, generation = self._place(title)
        if slot < 1 or not self.foresees:
            return
        for each in range(generation, min(generation + depth, GENERATIONS)):
            yield self._row(slot, each)

    def _place(self, title: str) -> tuple[int, int]:
        """Return a task's slot and the generation of what will replace it; slot -1 if unknown."""
        if title in self._titles:
            return self._titles[title], 0
        number = title.removeprefix("Task-")
        if not number.isdecimal():
            return -1, 0
        slot, generation = divmod(int(number), GENERATIONS)
        return slot, generation + 1

    def _row(self, slot: int, generation: int) -> Row:
        key = slot, generation
        if key not in self._rows:
            spec = self._replacement(slot, generation)
            delta = float(stored(spec.prestige_delta, self.params.prestige_delta_digits))
            client = self.clients[spec.client].name
            self._rows[key] = market_row(spec, spec.title, client, delta)
        return self._rows[key]

    def _replacement(self, slot: int, generation: int) -> TaskSpec:
        fixed, number = self.params.fixed_world, replacement_number(slot, generation)
        foreseen = None if fixed is None else fixed.foreseen.get((slot, generation))
        return foreseen or draw_replacement(
            self.params, self.seed, self._slots[slot], self.clients, number
        )


#: Number of replacements of a task that are examined; number of best offers that define a good one.
_DEPTH, _GOOD = 20, 6

#: Rounds of digging at a stop.
_ROUNDS = 3


@frozen(eq=False)
class _Dig:
    """Acceptances of an offer and of its replacements that lead to a good task.

    Attributes:
        titles: Tasks to accept, in this order.
        gain: Value above that of a good offer, for each acceptance.
    """

    titles: list[str]
    gain: float


@define
class Oracle(Planner):
    """Plan with adversarial clients and all replacements known, which are hidden state.

    Attributes:
        foresight: The hidden state.
    """

    knows: ClassVar[Knowledge] = "future"
    needs_world_seed: ClassVar[bool] = True

    foresight: MarketForesight = field(kw_only=True)
    _saved: int = field(default=0, init=False, repr=False)
    _values: dict[str, float] = field(factory=dict, init=False, repr=False)
    _week: tuple[int, int] = field(default=(0, 0), init=False, repr=False)

    # mypy: the planner takes any seat, and the framework builds this class with a `WorldSeat`.
    @classmethod
    def seated(  # type: ignore[override]
        cls, seat: WorldSeat, rerolls: int = 3, load: int = 2, *, rehearse: bool = True
    ) -> Planner:
        """Compute the hidden state from parameters and seed.

        Args:
            seat: The founder's.
            rerolls: As the planner's.
            load: As the planner's.
            rehearse: Whether to play the year in advance and return the planner if it is better.
        """
        foreseeing = cls._foreseeing(seat, rerolls, load)
        if not rehearse:
            return foreseeing
        plain = Planner.seated(seat, rerolls, load)
        ahead = _earned(seat, foreseeing) > _earned(seat, plain)
        # The two have played their episodes; a policy plays one.
        make = cls._foreseeing if ahead else Planner.seated
        return make(seat, rerolls, load)

    @classmethod
    def _foreseeing(cls, seat: WorldSeat, rerolls: int, load: int) -> Planner:
        params = seat.model
        assert isinstance(params, YCBenchParams)
        foresight = MarketForesight.of(params, seat.world_seed)
        return cls(rerolls, load, rules=params.public, foresight=foresight)

    def _scout(self) -> Steps:
        """Take the adversarial clients from the hidden state instead of probing."""
        self._known.adversarial |= self.foresight.adversarial
        yield from self._browse()

    def _reroll(self, budget: int) -> Steps:
        """Accept the tasks before the best replacements; acceptances that are left are saved."""
        if not self.foresight.foresees:
            yield from super()._reroll(budget)
            return
        desk = yield CompanyStatus()
        assert desk.reply is not None
        self._known.prestige = desk.reply.out["prestige"]
        self._saved += budget
        for _ in range(_ROUNDS):
            for dig in sorted(self._digs(), key=lambda dig: -dig.gain):
                if len(dig.titles) <= self._saved:
                    self._saved -= len(dig.titles)
                    for title in dig.titles:
                        yield TaskAccept(title)
            yield from self._browse()

    def _digs(self) -> Iterator[_Dig]:
        """Yield the best dig from every poor offer of the clients to serve."""
        valuation, serve = self._valuation(), self._plan.serve
        served = {t: valuation.best(o) for t, o in self._pool.items() if o.client in serve}
        good = min(sorted(served.values())[-_GOOD:], default=0.0)
        self._forget()
        for title, value in served.items():
            if value < good:
                digs = self._below(valuation, title, good)
                best = max(digs, key=lambda dig: dig.gain, default=None)
                if best is not None:
                    yield best

    def _below(self, valuation: TaskValuation, title: str, good: float) -> Iterator[_Dig]:
        """Yield the digs from an offer, as far as its replacements can be accepted."""
        above = [title]
        for row in self.foresight.after(title, min(_DEPTH, self._saved)):
            if not self._acceptable(row):
                return
            gain = self._row_value(valuation, row) - good
            if gain > 0:
                yield _Dig(list(above), gain / len(above))
            above.append(row["task_id"])

    def _acceptable(self, row: Row) -> bool:
        known, domain = self._known, row["requirements"][0]["domain"]
        known_enough: bool = row["required_prestige"] <= known.prestige.get(domain, 1.0)
        trusted: bool = row["required_trust"] <= known.trust[row["client_name"]]
        return known_enough and trusted

    def _row_value(self, valuation: TaskValuation, row: Row) -> float:
        """Return the value of a replacement, computed once a week."""
        title = row["task_id"]
        if title not in self._values:
            self._values[title] = valuation.best(self._known.offer(row))
        return self._values[title]

    def _forget(self) -> None:
        week = self._known.now.isocalendar()[:2]
        if week != self._week:
            self._week = week
            self._values.clear()


def _earned(seat: WorldSeat, policy: Planner) -> float:
    """Return the score of a policy in an exact copy of the world."""
    return play(seat.model, policy, seat.world_seed).score
