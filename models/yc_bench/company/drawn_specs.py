"""Worlds as drawn, kept for the next episode of the same seed, such as that of another policy.

A draw depends on the seed and on the rules of market and people alone. The specs are immutable and
episodes share them; what changes in an episode (`entities`) is made anew for each.
"""

from collections import OrderedDict
from threading import Lock

import attrs
from attrs import frozen

from desim.schema.immutable import once_an_object
from models.yc_bench.params import YCBenchParams
from models.yc_bench.rules.draw_market import draw_market
from models.yc_bench.rules.draw_people import draw_clients, draw_employees
from models.yc_bench.rules.market import MarketRules
from models.yc_bench.rules.people import PeopleRules
from models.yc_bench.rules.specs import ClientSpec, EmployeeSpec, TaskSpec

#: Tasks that are kept in one process, of all worlds together: 500 worlds of 200 tasks, 33 MB.
MOST_TASKS = 100_000


@frozen
class DrawnSpecs:
    """Clients, staff and initial tasks of one world, in the order in which they are drawn."""

    clients: tuple[ClientSpec, ...]
    employees: tuple[EmployeeSpec, ...]
    tasks: tuple[TaskSpec, ...]

    @classmethod
    def draw(cls, params: YCBenchParams, seed: int) -> "DrawnSpecs":
        """Draw the world of a seed."""
        clients = draw_clients(params, seed)
        return cls(clients, draw_employees(params, seed), draw_market(params, seed, clients))


class KeptWorlds:
    """The worlds that were used last, by the rules that draw and the seed.

    Args:
        most_tasks: The most tasks that are kept, of all worlds together.
    """

    def __init__(self, most_tasks: int) -> None:
        self._most = most_tasks
        self._tasks = 0
        self._worlds: OrderedDict[tuple[str, int], DrawnSpecs] = OrderedDict()
        self._lock = Lock()

    def specs(self, params: YCBenchParams, seed: int) -> DrawnSpecs:
        """Return the world of a seed, kept or drawn now."""
        key = _drawing_rules(params), seed
        with self._lock:
            if (known := self._worlds.get(key)) is not None:
                self._worlds.move_to_end(key)
                return known
        drawn = DrawnSpecs.draw(params, seed)
        with self._lock:
            if self._worlds.setdefault(key, drawn) is drawn:
                self._tasks += len(drawn.tasks)
            while self._tasks > self._most:
                self._tasks -= len(self._worlds.popitem(last=False)[1].tasks)
        return drawn


#: Returns the specs of a world, which all episodes of this process share.
drawn_specs = KeptWorlds(MOST_TASKS).specs


@once_an_object
def _drawing_rules(params: YCBenchParams) -> str:
    """Return the rules that draw as text, because 1 and 1.0 are equal and draw different types."""
    fields = (*attrs.fields(MarketRules), *attrs.fields(PeopleRules))
    return repr([getattr(params, each.name) for each in fields])
