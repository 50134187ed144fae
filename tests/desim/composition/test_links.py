"""Links: processes that see the parts, move cash between them and schedule events in them."""

from typing import Any

import pytest
from support.companies import Club, Firm, Hike, Save, pay_monthly, pay_too_much, pay_weekly, played
from support.holdings import deliver_goods, exchanged_goods, intercompany, receive_cash

from desim import Run, play
from desim.composition import AFTER_PARTS, Composite, Group, PartSpec
from desim.composition.exchange import NotConserved
from desim.composition.specs import LinkSpec
from desim.errors import ModelFailed, UsageError
from ledgers.consolidation import Intercompany
from models.beer_game import BeerGame

DAY = 86_400_000_000


def at(day: float, act: Any, rank: int = AFTER_PARTS) -> Any:
    """Return a link that acts once, on a day of the group."""

    def link(world: Any, group: Group) -> Any:
        yield world.timeout(int(day * DAY), rank=rank)
        act(group)

    return link


def grouped(*links: Any, **parts: Any) -> Group:
    """Play north and south, or other parts, and return their group."""
    composite = Composite(parts or {"north": Firm(), "south": Firm()}, links=links)
    group: Group = played(composite, "greedy", 1)[1]
    return group


def balances(group: Group) -> dict[str, Any]:
    """Return the intercompany balances of each part."""
    return {name: intercompany(part.model, part.state) for name, part in group.parts.items()}


def test_cash_leaves_one_book_and_enters_another_at_the_same_instant() -> None:
    """At the local tick of each; the accounts cancel."""
    group = grouped(at(15.5, lambda g: g.transfer("north", "south", 40)))
    assert balances(group) == {"north": {"south": 40}, "south": {"north": -40}}
    for name, cents in (("north", -40), ("south", 40)):
        entry = group.part(name).state.book.journal[-2]
        assert (entry.time, entry.amounts["cash"]) == (2, cents)
    group.check_conserved()


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (
            lambda g: g.transfer("north", "south", 10**9),
            "1000000000 cents were to be paid to south",
        ),
        (lambda g: g.transfer("north", "south", 0), "a whole number above 0"),
        (lambda g: g.transfer("north", "south", 1.5), "a whole number above 0"),
        (lambda g: g.transfer("north", "club", 5), "the club keeps no cash"),
        (lambda g: g.transfer("north", "north", 5), "both part 'north'; name two parts"),
        (
            lambda g: g.transfer("north", "walk", 5),
            "part 'walk', Hike, has no intercompany account",
        ),
        (lambda g: g.transfer("north", "late", 5), "part 'late' has not begun at t="),
        (lambda g: g.transfer("north", "sout", 5), "no part 'sout'; did you mean 'south'"),
    ],
)
def test_a_refused_transfer_changes_no_book(act: Any, says: str) -> None:
    """Whatever the reason; the link may catch the error."""
    caught = []

    def catching(group: Group) -> None:
        before = [ledger.digest() for ledger in group.ledgers]
        with pytest.raises((ValueError, UsageError), match=says):
            act(group)
        caught.append([ledger.digest() for ledger in group.ledgers] == before)

    grouped(
        at(10, catching),
        north=Firm(),
        south=Firm(),
        walk=Hike(),
        club=Club(opening=0),
        late=PartSpec(model=Firm(), start="2025-03-01"),
    )
    assert caught == [True]


def test_an_error_of_a_link_names_the_link_and_the_date() -> None:
    """Whether the model, desim or the link itself raises it."""
    with pytest.raises(ModelFailed) as failed:
        grouped(pay_too_much)
    assert "failed at t=691200000000" in str(failed.value)
    assert "NotEnoughCash: 1000000000 cents were to be paid to south" in str(failed.value)
    assert "(in link 'support.companies:pay_too_much' on 2025-01-09 00:00:00)" in str(failed.value)
    with pytest.raises(UsageError, match=r"no part 'nort'.* \(in link '.*' on 2025-01-02 12:"):
        grouped(at(1.5, lambda g: g.part("nort")))


@pytest.mark.parametrize(
    ("part", "day", "ticks", "tick"),
    [
        (Firm(periods=8, ticks="days"), 2.2, 3, 4),
        (Firm(periods=4, ticks="months"), 50, 0, 0),
        (Firm(periods=4, ticks="months"), 50, 1, 1),
    ],
)
def test_what_a_link_schedules_happens_in_the_order_of_the_part(
    part: Firm, day: float, ticks: int, tick: int
) -> None:
    """Its ticks count from the last one of the part's own calendar, also for a delay of zero."""

    def bonus(group: Group) -> None:
        with group.at("part") as state:
            part.add_bonus(state, ticks)

    notes = grouped(at(day, bonus), part=part, firm=Firm()).part("part").state.notes
    assert (tick, "bonus") in notes
    assert notes == sorted(notes, key=lambda note: note[0])
    assert [what for _, what in notes].count("earned") == part.periods


def test_a_link_that_ends_a_part_ends_it_at_once() -> None:
    """By `end`, or because the model ends while the link acts on it."""

    def by_model(group: Group) -> None:
        with group.at("north") as state:
            state.world.end("sold")

    for act in (by_model, lambda g: g.part("north").end("sold")):
        composite = Composite({"north": Firm(periods=50), "south": Firm()}, links=at(8, act))
        composite = Composite(composite.parts, links=composite.links, ends="north")
        episode, group = played(composite, "greedy", 1)
        assert episode.ended == "north: sold"
        assert group.world.now == 8 * DAY
        assert len(group.part("north").state.cash) == 1


def test_a_link_comes_after_the_answers_of_its_instant() -> None:
    """And a later link at the same instant after an earlier one."""
    seen: list[tuple[str, str]] = []

    def look(what: str) -> Any:
        return at(7, lambda g: seen.append((what, g.part("north").state.notes[-1][1])))

    grouped(look("first"), look("second"))
    assert seen == [("first", "answered"), ("second", "answered")]


def test_a_link_may_ask() -> None:
    """The seat is one of a part; the link's question goes out with those of the parts."""
    heard: list[Any] = []

    def ask(world: Any, group: Group) -> Any:
        yield world.timeout(3 * DAY, rank=AFTER_PARTS)
        part = group.part("north")
        report = part.model.roles["boss"].observation(0, 0)
        heard.append((yield world.ask("north.boss", lambda: report)))

    group = grouped(ask)
    assert heard == [Save()]
    assert group.part("north").decisions == 3


def test_transfers_between_repetitions_cancel() -> None:
    """A part that is played again has a new book; the balances of the old one count as well."""
    twice = PartSpec(model=Firm(periods=2), times=2)
    group = grouped(pay_weekly, north=Firm(periods=4), south=twice)
    assert balances(group) == {"north": {"south": 40}, "south": {"north": -30}}
    group.check_conserved()


def forge(group: Group, partner: str = "north") -> None:
    """Post 7 cents in the book of south alone, without a context of the group."""
    south = group.part("south")
    receive_cash(south.model, south.state, 7, partner)


@pytest.mark.parametrize(
    ("partner", "says"),
    [
        ("north", "south has -7 cents with north, which has 0 with south"),
        ("bank", "south has -7 cents with bank, which is no part"),
    ],
)
def test_cash_that_nobody_has_paid_ends_the_episode(partner: str, says: str) -> None:
    """The error names the link, the part, the time and the amount."""

    def forged(group: Group) -> None:
        with group.at("south"):
            forge(group, partner)

    with pytest.raises(
        NotConserved, match=rf"lost by t={8 * DAY}, 2025-01-09 .*: {says} \(in link"
    ):
        grouped(at(8, forged))


@pytest.mark.parametrize("wrap", [lambda parts, link: Composite(parts, links=link), None])
def test_cash_created_in_the_last_instant_is_found_at_the_end(wrap: Any) -> None:
    """Also in a part that is a composite itself."""
    parts, link = {"north": Firm(), "south": Firm()}, at(21, forge)
    model = wrap(parts, link) if wrap else Composite({"west": Composite(parts, links=link)})
    with pytest.raises(NotConserved, match=f"lost by t={21 * DAY}, .*: south has -7 cents"):
        play(model, "greedy")


def test_a_link_is_given_by_function_or_by_name() -> None:
    """Both are the same parameter, alone or in a list."""
    parts = {"north": Firm(), "south": Firm()}
    by_name = Composite(parts, links="support.companies:pay_monthly")
    for links in (pay_monthly, [pay_monthly], by_name.links[0], by_name.links):
        assert Composite(parts, links=links) == by_name
    assert LinkSpec.of(pay_monthly).load() is pay_monthly


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ("support.companies:played", "is no process: it has no yield"),
        ("support.companies:pay_yearly", "no class or function 'pay_yearly' .*did you mean 'pay_"),
        (":pay", "names no module"),
    ],
)
def test_a_link_that_is_none_is_refused_before_the_episode(link: str, says: str) -> None:
    """With its name and what is possible."""
    with pytest.raises(UsageError, match=says):
        Run(Composite({"firm": Firm()}, links=[link]))


@pytest.mark.parametrize("link", [7, None, [None]])
def test_what_is_no_function_is_no_link(link: Any) -> None:
    """It is refused with the composite."""
    with pytest.raises(TypeError, match="was given as a link; give a function or module:function"):
        Composite({"firm": Firm()}, links=link)


def test_a_transfer_that_creates_cash_is_refused() -> None:
    """In the intercompany account, or beside it."""

    class Doubled(Intercompany):
        def receive(self, time: int, partner: str, cents: int) -> None:
            super().receive(time, partner, cents)
            self._book.transfer(time, "made", "cash", "income", 1)

    class Forger(Firm):
        def purse(self, state: Any) -> Intercompany:
            return Doubled(state.book, "cash", "asset")

    says = r"south held (\d+) before 10 cents arrived, and (\d+) after it"
    with pytest.raises(NotConserved, match=says):
        grouped(pay_weekly, north=Firm(), south=Forger())


# -- goods -----------------------------------------------------------------------------------------


def plants(act: Any) -> Group:
    """Play two plants whose stages have 12 on hand, and a firm; act after a day."""
    plant = BeerGame.preset("classic")
    return grouped(at(1, act), north=plant, south=plant, firm=Firm())


def test_goods_leave_one_stock_and_enter_another_at_the_same_instant() -> None:
    """Out of a stage of one plant, into a stage of the other."""
    seen: list[Any] = []

    def act(group: Group) -> None:
        group.deliver("north.factory", "south.retailer", 5)
        seen.extend([group.goods("north.factory"), group.goods("south.retailer")])

    group = plants(act)
    assert seen == [12 - 5, 12 + 5]
    sent, got = (exchanged_goods(part.model, part.state) for part in list(group.parts.values())[:2])
    assert (sent, got) == ({"south": -5}, {"north": 5})


@pytest.mark.parametrize(
    ("sender", "receiver", "units", "says"),
    [
        ("north.factory", "south.retailer", 13, "13 units were to be taken"),
        ("north.factory", "south.retialer", 5, "did you mean 'retailer'"),
        ("north.factory", "south", 5, r"'south' was given; .*PART\.PLACE"),
        ("firm.till", "south.retailer", 5, "part 'firm', Firm, exchanges no goods"),
        ("north.factory", "sout.retailer", 5, "did you mean 'south'"),
    ],
)
def test_a_refused_delivery_moves_no_goods(
    sender: str, receiver: str, units: int, says: str
) -> None:
    """In neither plant, whatever the reason."""

    def act(group: Group) -> None:
        before = [ledger.digest() for ledger in group.ledgers]
        with pytest.raises((ValueError, UsageError), match=says):
            group.deliver(sender, receiver, units)
        assert [ledger.digest() for ledger in group.ledgers] == before

    plants(act)


def test_goods_that_nobody_has_delivered_end_the_episode() -> None:
    """The error names the part, the time and the units."""

    def act(group: Group) -> None:
        with group.at("south") as state:
            deliver_goods(group.part("south").model, state, "retailer", 9, "north")

    with pytest.raises(
        NotConserved, match=rf"t={DAY}, .*: south has 9 units with north, which has 0"
    ):
        plants(act)
