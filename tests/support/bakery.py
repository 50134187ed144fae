"""A bakery that buys flour before it opens: a world with lanes, and policies that answer all lanes.

A lane's draws, ends and figures are those of `play`; a bakery with a loan has no lanes.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import define, frozen

from desim.core.roles import Role
from desim.core.streams import generator, redrawn_seed
from desim.core.world import World
from desim.errors import WrongAction
from desim.lanes.lane_columns import Array, Columns
from desim.lanes.lane_protocols import Lanes, NoLanes
from ledgers.stock import Stock

#: Cents for the flour of a loaf, and for a loaf.
FLOUR, PRICE = 60, 100

#: Most loaves of one day; larger sums are refused by lanes.
MOST = 10_000


@frozen
class Morning:
    """The baker's view: the day, cash in cents, loaves left, loaves sold yesterday."""

    day: int
    cash: int
    stock: int
    sold: int

    @property
    def affordable(self) -> int:
        """Loaves that cash can pay."""
        return self.cash // FLOUR


@frozen
class Bake:
    """Bake some loaves."""

    loaves: int


@define(eq=False)
class Books:
    """The state: cash in cents, loaves, and what has been sold and thrown away."""

    cash: int
    shelf: Stock
    sold: int = 0
    sales: int = 0
    days: int = 0

    @property
    def ledgers(self) -> Sequence[Any]:
        """The ledgers that enter the digest."""
        return (self.shelf,)


@frozen(kw_only=True)
class Bakery:
    """A bakery that is open for some days, and ends without cash.

    Attributes:
        days: Days, at least 1.
        cash: Cents at the start.
        customers: Most customers of a day.
        loan: Whether cash may fall below 0; a bakery with a loan has no lanes.
    """

    days: int = 20
    cash: int = 3_000
    customers: int = 30
    loan: bool = False

    @property
    def roles(self) -> Mapping[str, Role]:
        """The baker."""
        return {"baker": Role(Morning, Bake, default_action=lambda _: Bake(10))}

    def begin(self, world: World) -> Books:
        """Open with an empty shelf."""
        books = Books(self.cash, Stock(["shelf"], ["town"], "loaves"))
        world.process(self._trade(world, books))
        return books

    def _trade(self, world: World, books: Books) -> Iterator[Any]:
        customers = world.stream("customers")
        for day in range(self.days):
            seen = Morning(day, books.cash, int(books.shelf["shelf"]), books.sold)
            answer: Bake = yield world.ask("baker", lambda seen=seen: seen)
            if answer.loaves < 0 or (answer.loaves > seen.affordable and not self.loan):
                world.end("bankrupt")
                return
            books.cash -= FLOUR * answer.loaves
            books.shelf.move(world.now, "town", "shelf", answer.loaves)
            yield world.timeout(1)
            wanted = int(customers.random() * (self.customers + 1))
            books.sold = min(wanted, int(books.shelf["shelf"]))
            books.shelf.move(world.now, "shelf", "town", books.sold)
            books.cash += PRICE * books.sold
            books.sales += books.sold
            books.days += 1
        world.end("closed")

    def score(self, books: Books) -> float:
        """Return the cash, cents."""
        return books.cash

    def metrics(self, books: Books) -> Mapping[str, Any]:
        """Return days, sales, and sales a day (NaN without a day)."""
        share = books.sales / books.days if books.days else float("nan")
        return {"days": books.days, "sold": {"all": books.sales, "a_day": share}}

    def lanes(self, seeds: Sequence[int], roles: Sequence[str], *, arrays: Any = None) -> Lanes:
        """Return lanes of this bakery."""
        if self.loan:
            raise NoLanes("a bakery with a loan has no lanes")
        return Ovens(self, seeds)


class Ovens:
    """Lanes of the bakery."""

    texts: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __init__(self, model: Bakery, seeds: Sequence[int]) -> None:
        self.model, self.seeds = model, [*seeds]
        self.reset()

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def ended(self) -> Array:
        """Whether a lane has ended."""
        return self.bankrupt | (self.days >= self.model.days)

    @property
    def decisions(self) -> Array:
        """Answers by lane."""
        return self.days + self.bankrupt

    def reset(self) -> Mapping[str, Columns]:
        """Open all lanes."""
        count = len(self.seeds)
        self.draw_seeds = [*self.seeds]
        self.streams = [generator(seed, "customers") for seed in self.draw_seeds]
        self.cash = np.full(count, self.model.cash)
        self.stock, self.sold, self.sales, self.days = np.zeros((4, count), int)
        self.bankrupt = np.zeros(count, bool)
        return self._questions()

    def step(self, actions: Mapping[str, Any]) -> Mapping[str, Columns]:
        """Bake, and sell for a day."""
        open_now = ~self.ended
        loaves = np.broadcast_to(actions["baker"]["loaves"], len(self))
        if not np.issubdtype(loaves.dtype, np.integer):
            raise WrongAction("loaves are whole numbers")
        if (loaves[open_now] > MOST).any():
            raise NoLanes(f"more than {MOST} loaves leave the range of lanes")
        bankrupt = open_now & ((loaves < 0) | (loaves > self.cash // FLOUR))
        self.bankrupt = self.bankrupt | bankrupt
        traded = open_now & ~bankrupt
        wanted = np.zeros(len(self), int)
        for lane in np.flatnonzero(traded):
            wanted[lane] = int(self.streams[lane].random() * (self.model.customers + 1))
        stock = self.stock + np.where(traded, loaves, 0)
        sold = np.minimum(wanted, stock)
        self.cash = self.cash + np.where(traded, PRICE * sold - FLOUR * loaves, 0)
        self.stock, self.sales = stock - sold, self.sales + sold
        self.sold = np.where(traded, sold, self.sold)
        self.days = self.days + traded
        return self._questions()

    def score(self) -> Array:
        """Return the cash of each lane."""
        return self.cash

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics of each lane."""
        share = self.sales / np.where(self.days, self.days, np.nan)
        return {"days": self.days, "sold": {"all": self.sales, "a_day": share}}

    def end_reasons(self) -> Sequence[str]:
        """Return why each lane ended."""
        late = np.where(self.ended, "closed", "")
        return [str(one) for one in np.where(self.bankrupt, "bankrupt", late)]

    def fork(self, rows: Array) -> "Ovens":
        """Return copies of lanes."""
        taken = [int(row) for row in rows]
        made = Ovens(self.model, [self.seeds[row] for row in taken])
        made.draw_seeds = [self.draw_seeds[row] for row in taken]
        for ours, row in zip(made.streams, taken, strict=True):
            ours.bit_generator.state = self.streams[row].bit_generator.state
        for name in ("cash", "stock", "sold", "sales", "days", "bankrupt"):
            setattr(made, name, getattr(self, name)[taken])
        return made

    def redraw(self, futures: Sequence[int]) -> None:
        """Draw the customers of the days to come anew."""
        pairs = zip(self.draw_seeds, futures, strict=True)
        self.draw_seeds = [redrawn_seed(seed, future) for seed, future in pairs]
        self.streams = [generator(seed, "customers") for seed in self.draw_seeds]

    def _questions(self) -> Mapping[str, Columns]:
        if self.ended.all():
            return {}
        seen = {"day": self.days, "cash": self.cash, "stock": self.stock, "sold": self.sold}
        return {"baker": Columns(Morning, seen, ~self.ended)}


@frozen
class Level:
    """Bakes up to a level of stock, as far as cash allows."""

    level: int = 15

    def decide(self, morning: Morning) -> Bake:
        """Fill the shelf."""
        return Bake(min(max(self.level - morning.stock, 0), morning.affordable))

    def decide_all(self, mornings: Columns) -> Mapping[str, Array]:
        """Fill the shelf of every lane."""
        missing = np.maximum(self.level - mornings.stock, 0)
        return {"loaves": np.minimum(missing, mornings.affordable)}


@define
class Smoothing:
    """Bakes what was sold on average, smoothed; remembers it."""

    weight: float = 0.5
    usual: Any = 12.0

    def decide(self, morning: Morning) -> Bake:
        """Bake the usual number."""
        if morning.day:
            self.usual = (1 - self.weight) * self.usual + self.weight * (morning.sold + 4)
        return Bake(int(self.usual))

    def decide_all(self, mornings: Columns) -> Mapping[str, Array]:
        """Bake the usual number in every lane."""
        smooth = (1 - self.weight) * self.usual + self.weight * (mornings.sold + 4)
        self.usual = np.where(mornings.day, smooth, self.usual)
        return {"loaves": np.floor(self.usual).astype(int)}


@frozen
class Failing:
    """As `Level`, but raises an exception with one stock, and bakes too much with another.

    Attributes:
        faulty: The stock at which it raises ValueError.
        greedy: The stock at which it bakes more than lanes can hold.
    """

    faulty: int = -1
    greedy: int = -1

    def decide(self, morning: Morning) -> Bake:
        """Fill the shelf, fail or exaggerate."""
        if morning.stock == self.faulty:
            raise ValueError("no flour")
        return Bake(MOST + 1) if morning.stock == self.greedy else Level().decide(morning)

    def decide_all(self, mornings: Columns) -> Mapping[str, Array]:
        """Fill the shelf of every lane, fail or exaggerate."""
        if (mornings.stock[mornings.asks] == self.faulty).any():
            raise ValueError("no flour")
        filled = Level().decide_all(mornings)["loaves"]
        return {"loaves": np.where(mornings.stock == self.greedy, MOST + 1, filled)}


class Cautious(Level):
    """Bakes half of what `Level` does: it replaces `decide` alone, so it answers no lanes."""

    def decide(self, morning: Morning) -> Bake:
        """Fill half of the shelf."""
        return Bake(Level.decide(self, morning).loaves // 2)


@frozen(kw_only=True)
class Generous(Bakery):
    """Gives ten cents back a loaf: it replaces a rule without the lanes, so it has none."""

    def score(self, books: Books) -> float:
        """Return the cash less ten cents a loaf."""
        return books.cash - 10 * books.sales
