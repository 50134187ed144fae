"""What will replace a task: the hidden draws, read ahead from the seed (SPEC 4.5 and 11.1)."""

from collections.abc import Iterator
from typing import Self

from attrs import define, field

from models.yc_bench import YCBench, generation
from models.yc_bench.spec import ClientSpec, TaskSpec
from policies.heuristics.yc_bench.course import Row

__all__ = ["Foresight"]

#: Replacements are called `Task-N` with N = 1000 * slot + generation.
_A_SLOT = 1000


@define
class Foresight:
    """The clients as drawn, and every replacement there will ever be.

    Attributes:
        game: The parameters.
        seed: The episode's.
        clients: In the order in which tasks are dealt.
    """

    game: YCBench
    seed: int
    clients: tuple[ClientSpec, ...]
    _slots: dict[int, TaskSpec] = field(factory=dict, repr=False)
    _titles: dict[str, int] = field(factory=dict, repr=False)
    _rows: dict[tuple[int, int], Row] = field(factory=dict, repr=False)

    @classmethod
    def of(cls, game: YCBench, seed: int) -> Self:
        """Read a world from its file, or draw it as the model does."""
        told = game.told
        clients = generation.clients(game, seed) if told is None else told.clients
        tasks = generation.market(game, seed, clients) if told is None else told.tasks
        slots, titles = {t.slot: t for t in tasks}, {t.title: t.slot for t in tasks}
        return cls(game, seed, clients, slots, titles)

    @property
    def adversarial(self) -> set[str]:
        """Clients whose tasks swell."""
        return {client.name for client in self.clients if client.adversarial}

    @property
    def foresees(self) -> bool:
        """Whether replacements depend on their slot alone, and titles tell slots apart."""
        return self.game.replacement_stream == "slot" and len(self._slots) < _A_SLOT

    def after(self, title: str, depth: int) -> Iterator[Row]:
        """Yield what will come in a task's place, one after the other, as rows of the market.

        There is nothing to see where replacements are numbered through, because then the number
        depends on everything else that is accepted, nor in slot 0, whose titles repeat.
        """
        slot, generation_ = self._place(title)
        if slot < 1 or not self.foresees:
            return
        for each in range(generation_, min(generation_ + depth, _A_SLOT)):
            yield self._row(slot, each)

    def _place(self, title: str) -> tuple[int, int]:
        """Return a task's slot and the generation of what will replace it; slot -1 if unknown."""
        if title in self._titles:
            return self._titles[title], 0
        number = title.removeprefix("Task-")
        if not number.isdecimal():
            return -1, 0
        slot, generation_ = divmod(int(number), _A_SLOT)
        return slot, generation_ + 1

    def _row(self, slot: int, generation_: int) -> Row:
        key = slot, generation_
        if key not in self._rows:
            self._rows[key] = _shown(self._replacement(slot, generation_), self.clients)
        return self._rows[key]

    def _replacement(self, slot: int, generation_: int) -> TaskSpec:
        told = self.game.told
        foreseen = None if told is None else told.foreseen.get((slot, generation_))
        return foreseen or generation.replacement(
            self.game, self.seed, self._slots[slot], self.clients, _A_SLOT * slot + generation_
        )


def _shown(task: TaskSpec, clients: tuple[ClientSpec, ...]) -> Row:
    return {
        "task_id": task.title,
        "client_name": clients[task.client].name,
        "required_prestige": task.required_prestige,
        "required_trust": task.required_trust,
        "reward_funds_cents": task.reward_cents,
        "reward_prestige_delta": round(task.prestige_delta, 3),
        "skill_boost_pct": task.skill_boost,
        "requirements": [{"domain": task.domain, "required_qty": float(task.required_qty)}],
    }
