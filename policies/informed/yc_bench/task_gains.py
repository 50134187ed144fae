"""The most that a task can pay and the least work that it needs, for any founder (SPEC 4, 11.1).

Known tasks are those of the first market and of a world file. Replacements keep the client and the
required prestige of the task before them, and what a draw can give at most depends on these two.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from attrs import field, frozen

from models.yc_bench.params import YCBenchParams
from models.yc_bench.rules.checks import decimal, stored
from models.yc_bench.rules.draw_market import draw_market, draw_replacement, replacement_number
from models.yc_bench.rules.draw_people import draw_clients, draw_employees
from models.yc_bench.rules.formulas import agreed_quantity, payout_factor
from models.yc_bench.rules.specs import ClientSpec, EmployeeSpec, TaskSpec

#: No task needs more trust (SPEC 4.3).
_MOST_TRUST = 4


@frozen
class TaskGain:
    """The gain of completing a task.

    Attributes:
        reward: Cents, at most.
        work: Units that must be done, at least; 1 or more.
    """

    reward: int
    work: int

    @property
    def price(self) -> Fraction:
        """Cents a unit of work."""
        return Fraction(self.reward, self.work)


@frozen(eq=False)
class DrawnWorld:
    """People and tasks of a seed, with every replacement that acceptances can draw.

    Attributes:
        params: The parameters.
        seed: The episode's.
        funds: Cents at the start.
        prestige: Level at the start.
        clients: In the order to which tasks refer.
        staff: The employees.
        tasks: The first market.
        foreseen: Replacements from a world file, by slot and generation.
        trust: The highest that a client can have.
        payout: The highest factor on a listed reward (SPEC 17).
    """

    params: YCBenchParams
    seed: int
    funds: int
    prestige: float
    clients: tuple[ClientSpec, ...]
    staff: tuple[EmployeeSpec, ...]
    tasks: tuple[TaskSpec, ...]
    foreseen: Mapping[tuple[int, int], TaskSpec]
    trust: float = field(init=False)
    payout: float = field(init=False)

    @trust.default
    def _trust(self) -> float:
        # Rounding may pass the highest trust if that has more decimals.
        most, digits = self.params.trust_max, self.params.trust_digits
        return max(most, float(stored(round(most, digits), digits)))

    @payout.default
    def _payout(self) -> float:
        # No gain or loss leads above these three, but the start may be above the highest level.
        params = self.params
        most = max(self.prestige, params.prestige_max, params.prestige_min)
        return payout_factor(params, float(stored(decimal(most), 3)))

    @classmethod
    def of(cls, params: YCBenchParams, seed: int) -> "DrawnWorld":
        """Take a world from its file, or draw it as the model does."""
        fixed = params.fixed_world
        if fixed is None:
            clients = draw_clients(params, seed)
            return cls(
                params,
                seed,
                params.initial_funds_cents,
                params.initial_prestige_level,
                clients,
                draw_employees(params, seed),
                draw_market(params, seed, clients),
                {},
            )
        return cls(
            params,
            seed,
            fixed.funds_cents,
            fixed.initial_prestige,
            fixed.clients,
            fixed.employees,
            fixed.tasks,
            fixed.foreseen,
        )

    @property
    def ordinary(self) -> bool:
        """Whether no reward and no salary is below 0 and every task needs work, however drawn.

        Parameters can be set so that a client pays for being failed, or the staff for its work.
        """
        params, known = self.params, self._known()
        return (
            min(params.reward_funds_cents) >= 0
            and min(params.required_qty) >= 1
            and min([client.reward_multiplier for client in self.clients], default=0) >= 0
            and min([cents for tier in params.tiers for cents in tier.salary_cents]) >= 0
            and all(task.required_prestige >= 1 and task.reward_cents >= 0 for task in known)
        )

    def gain(self, task: TaskSpec) -> TaskGain:
        """Return the gain of a task."""
        client = self.clients[task.client]
        return TaskGain(self._paid(task.reward_cents), self._work(task.required_qty, client))

    def known(self) -> list[TaskGain]:
        """Return the gains of the first market and of the world file's replacements."""
        return [self.gain(task) for task in self._known()]

    def drawn(self) -> list[TaskGain]:
        """Return gains of which one is at least that of any replacement that is drawn."""
        reward, quantity = int(self.params.reward_funds_cents[1]), int(self.params.required_qty[0])
        return [self.drawn_gain(*kind, reward, quantity) for kind in self.kinds()]

    def kinds(self) -> list[tuple[int, int]]:
        """Return the clients and required prestiges of the tasks, which replacements keep."""
        return sorted({(task.client, task.required_prestige) for task in self._known()})

    def drawn_gain(self, client: int, prestige: int, reward: int, quantity: int) -> TaskGain:
        """Return the gain of a replacement at the highest reward that its draw can make.

        It never falls with the drawn reward in cents, and never rises with the drawn quantity.
        """
        params, above, taken = self.params, prestige - 1, self.clients[client]
        if params.payout_prestige == "required":
            reward = int(reward * (1 + params.reward_prestige_scale * above))
        reward = int(reward * (1 + params.trust_gated_reward_boost * _MOST_TRUST))
        if params.replacements_multiplied:
            reward = int(reward * taken.reward_multiplier)
        quantity = int(quantity * (1 + params.prestige_qty_scale * above))
        return TaskGain(self._paid(reward), self._work(quantity, taken))

    def chain(self, first: TaskSpec) -> Iterator[TaskGain]:
        """Yield the gain of a task of the first market and of all that replace it, without end.

        Each slot has streams of its own (`replacement_stream` "slot").
        """
        task, generation = first, 0
        while True:
            yield self.gain(task)
            number = replacement_number(first.slot, generation)
            task = self.foreseen.get((first.slot, generation)) or draw_replacement(
                self.params, self.seed, task, self.clients, number
            )
            generation += 1

    def _known(self) -> list[TaskSpec]:
        return [*self.tasks, *self.foreseen.values()]

    def _paid(self, reward: int) -> int:
        return max(0, int(reward * self.payout))

    def _work(self, quantity: int, client: ClientSpec) -> int:
        """Return the work at the highest trust; a swollen task swells by the floor once or more."""
        params = self.params
        if not client.adversarial:
            return agreed_quantity(params, quantity, self.trust)
        if not params.scope_creep:
            return quantity
        swollen = max(params.minimum_qty, quantity * (1 + params.scope_creep_floor))
        return int(min(params.scope_creep_limit, swollen))
