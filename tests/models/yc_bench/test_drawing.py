"""Worlds are drawn as published, to the bit, and by the rules that parameters change."""

import gzip
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from models.yc_bench import YCBenchParams
from models.yc_bench.specs import DOMAINS, ClientSpec, TaskSpec, stored
from models.yc_bench.world import (
    draw_clients,
    draw_employees,
    draw_market,
    draw_replacement,
    stream,
    triangular,
)

PUBLISHED = YCBenchParams()
STANDARD = draw_clients(PUBLISHED, 1)


def row(task: TaskSpec, among: tuple[ClientSpec, ...]) -> list[Any]:
    """Write a task as the reference worlds do."""
    head = [task.slot, task.title, among[task.client].name, task.required_prestige]
    head += [task.required_trust, task.reward_cents, task.prestige_delta]
    effective = str(stored(task.prestige_delta, 3))
    return [*head, effective, task.skill_boost, task.domain, task.required_qty]


# -- as published ----------------------------------------------------------------------------------


@pytest.mark.traces("ycbench/traces/world_seed*.json.gz")
def test_worlds_are_the_published_ones(trace: Path) -> None:
    """Clients, staff, market and two replacements of every slot agree field by field."""
    trace_world = json.loads(gzip.decompress(trace.read_bytes()))
    seed = trace_world["seed"]
    among = draw_clients(PUBLISHED, seed)
    tasks = draw_market(PUBLISHED, seed, among)
    assert [client_row(each) for each in among] == trace_world["clients"]
    for who, expected in zip(
        draw_employees(PUBLISHED, seed), trace_world["employees"], strict=True
    ):
        assert (who.name, who.tier, who.salary_cents) == (
            expected["name"],
            expected["tier"],
            expected["salary_cents"],
        )
        assert {domain: float(rate) for domain, rate in who.rates.items()} == expected["rates"]
    assert [row(task, among) for task in tasks] == trace_world["tasks"]
    for slot, generation, *body in trace_world["replacements"]:
        number = 1000 * slot + generation
        new = draw_replacement(PUBLISHED, seed, tasks[slot], among, number)
        assert row(new, among) == [slot, *body]


def client_row(client: ClientSpec) -> dict[str, Any]:
    """Write a client as the reference worlds do."""
    return {
        "name": client.name,
        "reward_multiplier": client.reward_multiplier,
        "tier": client.tier,
        "specialties": list(client.specialties),
        "loyalty": client.loyalty,
        "adversarial": client.adversarial,
    }


def test_the_published_people() -> None:
    """The clients and staff of all published runs are the same for every seed."""
    assert [(each.name, each.reward_multiplier, each.loyalty) for each in STANDARD] == [
        ("Helix Systems", 2.09, 0.056),
        ("Cortex Intelligence", 2.01, -0.176),
        ("Prism Analytics", 1.71, -0.009),
        ("Vanguard ML", 1.875, -0.718),
        ("Equinox Labs", 1.875, -0.562),
        ("Stratos Cloud", 1.71, 0.059),
    ]
    assert [each.name for each in STANDARD if each.adversarial] == ["Vanguard ML", "Equinox Labs"]
    staff = draw_employees(PUBLISHED, 99)
    assert sum(each.salary_cents for each in staff) == 3_800_503
    assert staff[3].rates == {
        "research": Decimal("6.3217"),
        "inference": Decimal("5.8460"),
        "data_environment": Decimal("4.1649"),
        "training": Decimal("4.1966"),
    }
    assert (draw_clients(PUBLISHED, 99), draw_employees(PUBLISHED, 1)) == (STANDARD, staff)


def test_the_published_first_task() -> None:
    """Seed 1, `Task-7`: the worked example of the SPEC."""
    assert draw_market(PUBLISHED, 1, STANDARD)[6] == TaskSpec(
        6, "Task-7", 0, 1, 0, 888_808, 0.056, 0.1674, "research", 1054
    )


def test_a_triangle_stays_between_its_ends() -> None:
    """A mode outside would leave them."""
    drawn = [triangular(stream(n, "triangle"), -0.3, 1.0, -1.6) for n in range(500)]
    assert min(drawn) == -0.3
    assert max(drawn) <= 1.0


# -- by other rules --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "expected"), [(8, (4, 3, 1)), (1, (1, 0, 0)), (3, (2, 1, 0)), (20, (10, 7, 3))]
)
def test_a_roster_by_shares(size: int, expected: tuple[int, ...]) -> None:
    """Each tier's share of the staff, rounded by largest remainders."""
    staff = draw_employees(YCBenchParams(roster="shares", num_employees=size), 1)
    tiers = Counter(each.tier for each in staff)
    assert tuple(tiers[name] for name in ("junior", "mid", "senior")) == expected


def test_spiky_skills() -> None:
    """Some seniors work like juniors in some domain; no rate exceeds the person's tier."""
    game = YCBenchParams(roster="shares", spiky_skills=True, num_employees=2_000)
    bands = {tier.name: tier.rate for tier in game.tiers}
    weak = Counter[str]()
    staff = draw_employees(game, 1)
    for who in staff:
        low, high = bands[who.tier]
        assert all(1 <= rate <= high for rate in who.rates.values())
        weak[who.tier] += sum(rate < low for rate in who.rates.values())
    # Of 300 seniors' 1200 domains a quarter is weak, two thirds of those in a lower band: 200,
    # with a standard deviation of 13; of 700 mids' 2800, an eighth: 350, with one of 18.
    assert weak["junior"] == 0
    assert 200 - 65 < weak["senior"] < 200 + 65
    assert 350 - 90 < weak["mid"] < 350 + 90


def test_trust_by_share() -> None:
    """The share of tasks that need trust is the parameter, for any reward."""
    tasks = draw_market(YCBenchParams(trust_gate="share", num_market_tasks=4_000), 1, STANDARD)
    gated = sum(task.required_trust > 0 for task in tasks)
    # 1200, with a standard deviation of 29.
    assert 1200 - 145 < gated < 1200 + 145
    assert {task.required_trust for task in tasks} == {0, 1, 2, 3, 4}


def test_gated_tasks_may_pay_more() -> None:
    """By a share a level, before the client's multiplier."""
    plain = draw_market(PUBLISHED, 1, STANDARD)
    boosted = draw_market(YCBenchParams(trust_gated_reward_boost=0.5), 1, STANDARD)
    for before, after in zip(plain, boosted, strict=True):
        ratio = 1 + 0.5 * before.required_trust
        # Both are truncated once more.
        assert after.reward_cents == pytest.approx(before.reward_cents * ratio, abs=12)


def test_rewards_where_the_company_s_prestige_scales_them() -> None:
    """The required prestige then leaves rewards alone; quantities it scales as ever."""
    plain = draw_market(PUBLISHED, 1, STANDARD)
    bare = draw_market(YCBenchParams(payout_prestige="company"), 1, STANDARD)
    for before, after in zip(plain, bare, strict=True):
        scale = 1 + 0.3 * (before.required_prestige - 1)
        assert after.reward_cents == pytest.approx(before.reward_cents / scale, abs=3)
        assert after.required_qty == before.required_qty


def test_replacements_of_a_run() -> None:
    """One counter for the run: the title's number, and no slot."""
    game = YCBenchParams(replacement_stream="run")
    taken = draw_market(game, 1, STANDARD)[40]
    new = draw_replacement(game, 1, taken, STANDARD, 0)
    assert (new.slot, new.title, new.client) == (-1, "Task-0", taken.client)
    assert evolve(new, slot=0) == evolve(
        draw_replacement(PUBLISHED, 1, evolve(taken, slot=0), STANDARD, 0)
    )


def test_replacements_may_pay_the_multiplier() -> None:
    """What initial tasks of the same client pay."""
    taken = draw_market(PUBLISHED, 1, STANDARD)[0]
    plain = draw_replacement(PUBLISHED, 1, taken, STANDARD, 0)
    paid = draw_replacement(YCBenchParams(replacements_multiplied=True), 1, taken, STANDARD, 0)
    assert paid == evolve(plain, reward_cents=int(plain.reward_cents * 2.09))


@examples(50)
@given(st.integers(0, 2**64), st.integers(1, 15), st.integers(1, 40), st.booleans())
def test_any_world_is_whole(seed: int, many: int, size: int, spiky: bool) -> None:  # noqa: FBT001
    """Whatever the seed and the size, every figure is in its range, and draws repeat."""
    game = YCBenchParams(
        people_seed=None, num_clients=many, num_market_tasks=size, spiky_skills=spiky
    )
    among = draw_clients(game, seed)
    tasks = draw_market(game, seed, among)
    assert len({each.name for each in among}) == many
    assert any(each.loyalty <= -0.3 for each in among)
    assert [task.client for task in tasks] == [slot % many for slot in range(size)]
    for task in tasks:
        assert task.domain in DOMAINS
        assert 1 <= task.required_prestige <= 5
        assert 400 <= task.required_qty <= 1500 * 2.2
        assert task.required_trust in {0, 2, 3, 4}
        assert 0 <= task.prestige_delta <= 0.35
        assert 0.01 <= task.skill_boost <= 0.4
    again = evolve(game, num_market_tasks=size)
    assert (draw_clients(again, seed), draw_market(again, seed, among)) == (among, tasks)
