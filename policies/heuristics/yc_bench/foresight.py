"""The replacements of a task: hidden draws, computed in advance from the seed (SPEC 4.5, 11.1)."""

from collections.abc import Iterator
from typing import Self

from attrs import define, field

from models.yc_bench.observation import market_row
from models.yc_bench.params import YCBenchParams
from models.yc_bench.rules.decimals import stored
from models.yc_bench.rules.draw_market import (
    GENERATIONS,
    draw_market,
    draw_replacement,
    replacement_number,
)
from models.yc_bench.rules.draw_people import draw_clients
from models.yc_bench.rules.specs import ClientSpec, TaskSpec
from policies.heuristics.yc_bench.generator_policy import Row

__all__ = ["MarketForesight"]


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

        There are none where one counter numbers all replacements, because then a draw depends on
        every other acceptance, nor in slot 0, whose titles repeat.
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
