"""One company of several worlds: pool, limits, closings, losses, score and statements."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from attrs import define, evolve

from desim import Episode, Policy, Run, catalog, play, replay, resume
from desim.core.policy import decide_as
from desim.core.result import RUNNING
from desim.episodes.driver import play_session
from desim.episodes.lineup import resolve
from desim.episodes.session import Session
from desim.errors import UsageError, WrongAction
from ledgers.consolidation import KIND
from models.enterprise import Continue, Enterprise, GroupPosition, SetLimits, Transfer
from models.enterprise.accounts import RAISED
from models.enterprise.state import Company
from models.enterprise_arena.desk import FundRaisingRequest, Pass
from policies.heuristics.enterprise import lineups

SMALL = Enterprise.preset("small")
GROUP = Enterprise.preset("group")
#: Nobody but the controller decides, or plays by a quick rule.
QUIET = {**lineups(SMALL)["laissez_faire"], "startup.founder": "published_greedy"}


@define
class Commands(Policy):
    """A controller that gives the commands of each month, and keeps what it observed."""

    by_month: Mapping[int, Iterable[Any]]
    seen: list[GroupPosition]
    _left: Iterator[Any] | None = None
    _month: int = 0

    def decide(self, position: GroupPosition) -> Any:
        """Return the month's next command, then go on."""
        self.seen.append(position)
        if position.month != self._month or self._left is None:
            self._month, self._left = position.month, iter(self.by_month.get(position.month, ()))
        return next(self._left, Continue())


def played(
    commands: Mapping[int, Iterable[Any]],
    model: Enterprise = SMALL,
    others: Mapping[str, Any] = QUIET,
    seed: int = 0,
) -> tuple[list[GroupPosition], Company, Episode]:
    """Play with a controller's commands by month; return what it saw, the state and the episode."""
    controller = Commands(commands, [])
    policies = {**{r: p for r, p in others.items() if r in model.roles}, "controller": controller}
    with Session(model, resolve(model, policies, seed), seed) as session:
        episode = play_session(session)
        state: Company = session.run.state
    return controller.seen, state, episode


def cash(position: GroupPosition, name: str) -> float:
    """Return a department's cash, dollars."""
    return next(each.cash for each in position.departments if each.name == name)


def moved(company: Company, name: str) -> list[tuple[str, int]]:
    """Return the partner and the cents of every intercompany entry of a part."""
    book = company.group.part(name).state.ledgers[0]
    cent = 10 ** (book.digits - 2)
    return [
        (entry.references["partner"], -entry.amounts["intercompany"] // cent)
        for entry in book.journal
        if entry.kind == KIND
    ]


# -- the pool --------------------------------------------------------------------------------------


def test_a_ceiling_is_swept_and_a_floor_is_covered() -> None:
    """At the end of the month in which the limits are set, and to the cent."""
    limits = [SetLimits("startup", 10_000, 50_000), SetLimits("plant", 30_000)]
    seen, company, _ = played({1: limits})
    before = seen[0]
    swept = cash(before, "startup") - 50_000
    missing = 30_000 - cash(before, "plant")
    treasury = moved(company, "treasury")
    assert treasury[0] == ("startup", round(100 * swept))
    assert moved(company, "startup")[0] == ("treasury", -round(100 * swept))
    assert moved(company, "plant")[0] == ("treasury", round(100 * missing))


def test_every_entry_has_its_opposite_at_the_same_instant() -> None:
    """What leaves one ledger enters another."""
    limits = [SetLimits("startup", 10_000, 50_000), SetLimits("plant", 100_000, 200_000)]
    _, company, _ = played({1: limits, 2: [Transfer("plant", 7), Transfer("startup", -0.01)]})
    treasury = moved(company, "treasury")
    assert {("plant", -700), ("startup", 1)} <= set(treasury)
    for name in company.limits:
        theirs = [-cents for _, cents in moved(company, name)]
        assert theirs == [cents for partner, cents in treasury if partner == name]


def test_the_treasury_covers_in_order_and_keeps_its_reserve() -> None:
    """The first department gets what there is, the second what is left."""
    model = Enterprise.preset("small", reserve=100_000.0)
    floors = [SetLimits("plant", 1_000_000), SetLimits("startup", 1_000_000)]
    seen, company, _ = played({1: floors}, model)
    held = round(100 * seen[0].treasury_cash)
    [plant, *_] = [cents for partner, cents in moved(company, "treasury") if partner == "plant"]
    assert plant == -(held - 10_000_000)
    assert company.group.cash("treasury") <= 10_000_000


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (Transfer("plant", 1e9), "1,000,000,000.00 is more than the"),
        (Transfer("plant", -1e9), "1,000,000,000.00 is more than the"),
        (Transfer("consultancy", 1), "there is no consultancy in this group"),
        (SetLimits("consultancy", 1), "there is no consultancy in this group"),
        (SetLimits("plant", 5, 4), "ceiling 4.00 is below floor 5.00"),
    ],
)
def test_an_impossible_command_is_refused(command: Any, why: str) -> None:
    """It changes nothing; the reason is in the next observation."""
    seen, company, episode = played({1: [command]})
    before, after = seen[:2]
    assert after.reply.startswith(why)
    assert after.departments == before.departments
    assert moved(company, "treasury") == []
    assert episode.score == played({})[2].score


@pytest.mark.parametrize(
    "action",
    [
        {"do": "transfer", "department": "treasury", "amount": 1},
        {"do": "transfer", "department": "plant", "amount": 1e13},
        {"do": "set_limits", "department": "plant", "floor": -1},
        {"do": "set_limits", "department": "plant", "floor": float("nan")},
        {"do": "close"},
    ],
)
def test_a_wrong_command_is_no_action(action: Mapping[str, Any]) -> None:
    """The schema says what is possible."""
    run = Run(SMALL, 0, list(QUIET))
    lineup = resolve(SMALL, QUIET, 0)
    decisions = run.advance()
    while "controller" not in {decision.role for decision in decisions}:
        for decision in decisions:
            policy = lineup.policies[decision.role]
            run.answer(decision, decide_as(policy, decision.spec, decision.observation))
        decisions = run.advance()
    [question] = [decision for decision in decisions if decision.role == "controller"]
    with pytest.raises(WrongAction, match="controller"):
        run.answer(question, action)


# -- departments -----------------------------------------------------------------------------------


def test_a_department_that_cannot_pay_is_closed_after_the_grace_time() -> None:
    """Its roles are asked no more, and what it owes stays in the group's books."""
    model = catalog.changed(
        SMALL, {"plant.opening_cash": "0", "plant.unit_margin": "0", "grace": "2"}
    )
    seen, company, episode = played({}, model)
    unpaid = [position.departments[0].months_unpaid for position in seen]
    status = [position.departments[0].status for position in seen]
    assert unpaid[:3] == [0, 1, 2]
    assert status[:3] == ["open", "open", "closed: costs unpaid for 2 months"]
    assert episode.metrics["plant.ended"] == "closed: costs unpaid for 2 months"
    assert company.unpaid("plant") > 0
    weeks = [step.observation.week for step in episode.steps if step.role == "plant.retailer"]
    assert max(weeks) == 8


def test_a_bankrupt_treasury_ends_the_group() -> None:
    """Nobody raises funds, and the overhead goes on."""
    model = catalog.changed(SMALL, {"treasury.overhead": "60000"})
    seen, company, episode = played({}, model)
    assert episode.result.ended == "treasury: cash balance went negative"
    assert company.month == len(seen) + 1 < 12


def test_losses_and_a_strike_happen_when_they_are_due() -> None:
    """At the end of their months; before them everything is as without."""
    rich = {"treasury.opening_cash": "2000000", "treasury.opening_shares": "200000"}
    calm = catalog.changed(GROUP, {"months": "20", **rich})
    hit = catalog.changed(calm, {"lost_project": "8", "lost_client": "6", "plant.strike": "40:44"})
    floors = {1: [SetLimits("plant", 300_000), SetLimits("consultancy", 300_000)]}
    positions, shipped = [], []
    for model in (calm, hit):
        seen, company, episode = played(floors, model, lineups(GROUP)["tuned"])
        positions.append(seen)
        assert episode.metrics["plant.ended"] == RUNNING
        chain = company.group.part("plant").state
        shipped.append([week.outgoing_delivery for week in chain.history("factory")])
    before, after = ([position.departments for position in seen[:6]] for seen in positions)
    assert before == after
    assert shipped[0][:39] == shipped[1][:39]
    assert shipped[1][39:44] == [0] * 5 != shipped[0][39:44]
    assert positions[0][-1].net_worth != positions[1][-1].net_worth


# -- score and statements --------------------------------------------------------------------------


def forced(success: bool, kind: str) -> tuple[Company, Episode]:  # noqa: FBT001 (a test)
    """Play a group whose treasury asks once for a million, with a given outcome."""
    model = catalog.changed(
        SMALL, {"treasury.forced_funding": f"[[0, {str(success).lower()}, 1.0, 2]]"}
    )
    ask = FundRaisingRequest(type=kind, amount=1_000_000.0)

    @define
    class AskOnce(Policy):
        asked: bool = False

        def decide(self, month: Any) -> Any:
            if self.asked:
                return Pass()
            self.asked = True
            return ask

    _, company, episode = played({}, model, {**QUIET, "treasury.cfo": AskOnce()})
    return company, episode


def test_equity_that_is_raised_is_owed_to_its_holders() -> None:
    """A million in cash, and no cent of net worth."""
    (without, alone), (raised, funded) = (forced(success, "equity") for success in (False, True))
    assert raised.cash[-1] - without.cash[-1] == 100_000_000
    assert [e.amounts["cash"] for e in raised.book.journal if e.kind == RAISED] == [10**18]
    assert funded.score == alone.score


def test_the_score_is_the_equity_of_the_consolidated_balance_sheet() -> None:
    """Without new equity, and beside the sum of the parts' own books."""
    model = GROUP
    _, company, episode = played(
        {1: [SetLimits("plant", 40_000, 60_000)]}, model, lineups(GROUP)["tuned"]
    )
    sheet = {row["line"]: row["month 60"] for row in model.statements(company)["balance_sheet"]}
    raised = sum(e.amounts["cash"] for e in company.book.journal if e.kind == RAISED) / 10**12
    assert sheet["total_equity"] - raised == pytest.approx(episode.score, abs=0.01)
    assert sheet["intercompany"] == 0
    held = [company.group.cash(name) for name in company.group.parts]
    assert sheet["cash"] == pytest.approx(sum(held) / 100, abs=0.04)


def test_statements_have_a_column_for_each_year() -> None:
    """The cash flow explains the change of cash, and income the change of equity."""
    _, company, _ = played(
        {1: [SetLimits("startup", 100_000, 200_000)]}, GROUP, lineups(GROUP)["tuned"]
    )
    tables = GROUP.statements(company)
    sheet, income, flows = (
        {row["line"]: row for row in tables[name]}
        for name in ("balance_sheet", "income_statement", "cash_flow")
    )
    columns = [name for name in sheet["cash"] if name != "line"]
    assert columns == ["opening", *(f"month {12 * year}" for year in range(1, 6))]
    for before, after in pairwise(columns):
        assert sheet["cash"][after] - sheet["cash"][before] == pytest.approx(
            flows["net_change"][after]
        )
        gained = income["net_income"][after] + flows[RAISED][after]
        change = sheet["total_equity"][after] - sheet["total_equity"][before]
        assert change == pytest.approx(gained)


def test_random_groups_articulate_every_month() -> None:
    """`support/articulated.py` checks every month of every test; these are wild ones."""
    check_random(range(12), SMALL)


def check_random(seeds: Iterable[int], model: Enterprise) -> None:
    """Play with random policies in all seats; the controller also moves random amounts."""
    for seed in seeds:
        draw = Random(seed)  # noqa: S311 (a test)
        names = [name for name in ("plant", "consultancy", "startup") if name in model.models]
        commands = {
            month: [
                Transfer(draw.choice(names), round(draw.uniform(-60_000, 60_000), 2)),
                SetLimits(draw.choice(names), floor := draw.randrange(90_000), floor + 5_000),
            ]
            for month in range(1, model.months)
            if draw.random() < 0.4
        }
        seats = {role: "random" for role in model.roles if role != "controller"}
        played(commands, model, seats, seed)


# -- records ---------------------------------------------------------------------------------------


def test_a_group_is_recorded_replayed_and_resumed(tmp_path: Path) -> None:
    """A record that is cut anywhere goes on to the same result."""
    file, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    whole = play(evolve(SMALL, months=4), "tuned", 3, record=file)
    assert replay(file).result == whole.result
    lines = file.read_bytes().splitlines(keepends=True)
    for kept in (2, len(lines) // 3, len(lines) - 1):
        cut.write_bytes(b"".join(lines[:kept]))
        assert resume(cut).result == whole.result


def test_parameters_of_departments_are_parameters_of_the_group() -> None:
    """From text, with near misses for names that do not exist."""
    changed = catalog.changed(GROUP, {"plant.horizon": "9", "consultancy.scenario.fixed_cost": "5"})
    assert (changed.plant.horizon, changed.consultancy.loaded_scenario.fixed_cost) == (9, 5.0)
    with pytest.raises(UsageError, match=r"plant\.horizon"):
        catalog.changed(GROUP, {"plant.horizn": "9"})


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"plant.unit_margin": "0", "plant.opening_cash": "none"},
            "opening_cash=None was given; a department keeps cash",
        ),
        ({"startup.episodes": "2"}, "startup: episodes=2 was given; it opens once"),
        ({"months": "61"}, "months=61 was given; the treasury plans 60"),
        ({"start": "2025-01-02"}, "it is the first day of a month"),
        ({"start": "soon"}, "it is a date such as 2025-01-01"),
        ({"months": "0"}, "months"),
        ({"reserve": "nan"}, "reserve"),
    ],
)
def test_wrong_parameters_are_refused(changes: Mapping[str, str], why: str) -> None:
    """One sentence says what was given."""
    with pytest.raises(UsageError, match=why):
        catalog.changed(GROUP, changes)


def test_a_line_up_lets_no_label_of_a_record_be_built(tmp_path: Path) -> None:
    """A role that the line-up does not name has a label that a stranger may have written."""
    file = tmp_path / "cut.jsonl"
    play(SMALL, "laissez_faire", 1, record=file)
    header, first, *_ = file.read_text().splitlines(keepends=True)
    evil = header.replace('"controller":"let_run"', '"controller":"let_run","x.y":"evil:World"')
    assert evil != header
    file.write_text(evil + first)
    for policies in ("laissez_faire", {"": "laissez_faire", "controller": "let_run"}):
        with pytest.raises(UsageError, match=r"x\.y|evil"):
            resume(file, policies)
