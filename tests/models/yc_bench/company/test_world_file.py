"""World files: their contents, and how a faulty one is refused."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import astuple

from desim.schema import to_plain
from models.yc_bench import YCBench
from models.yc_bench.formulas import trust_after_success
from models.yc_bench.params import YCBenchParams
from models.yc_bench.specs import TaskSpec
from models.yc_bench.world import draw_clients, draw_employees, draw_market, draw_replacement
from models.yc_bench.world_file import (
    _REPLACEMENT_FIELDS,
    _TASK_FIELDS,
    Replacement,
    WorldFile,
    as_world,
)

GAME = YCBenchParams(num_employees=2, num_clients=2, num_market_tasks=3)


def small(seed: int = 1) -> WorldFile:
    """Draw a small world."""
    among = draw_clients(GAME, seed)
    tasks = draw_market(GAME, seed, among)
    new = draw_replacement(GAME, seed, tasks[1], among, 1000)
    return WorldFile(
        clients=among,
        employees=draw_employees(GAME, seed),
        tasks=tasks,
        replacements=(Replacement(0, new),),
        start="2025-01-01T09:00:00",
        seed=seed,
    )


@pytest.fixture
def document() -> dict[str, Any]:
    """The small world as a file holds it."""
    world = small()
    plain = to_plain(world)
    employees = [
        {**each, "rates": {name: float(rate) for name, rate in each["rates"].items()}}
        for each in plain["employees"]
    ]
    kept = ("seed", "funds_cents", "start", "horizon_end", "initial_prestige", "clients")
    return {
        "kind": "world",
        **{name: plain[name] for name in kept},
        "employees": employees,
        "task_fields": list(_TASK_FIELDS),
        "tasks": [row(each, world) for each in world.tasks],
        "replacement_fields": list(_REPLACEMENT_FIELDS),
        "replacements": [
            [each.task.slot, each.generation, *row(each.task, world)[1:]]
            for each in world.replacements
        ],
    }


def row(task: TaskSpec, world: WorldFile) -> list[Any]:
    """Write a task as a file holds it."""
    slot, title, client, *body, _ = astuple(task)
    body.insert(4, f"{task.prestige_delta:.3f}")
    return [slot, title, world.clients[client].name, *body]


@pytest.mark.traces("ycbench/traces/world_seed*.json.gz")
def test_published_worlds_are_what_is_drawn(trace: Path, tmp_path: Path) -> None:
    """A file of the reference data holds the world that its seed draws; compressed or not."""
    world = as_world(str(trace))
    game = YCBenchParams()
    assert world is not None
    assert world.seed is not None
    among = draw_clients(game, world.seed)
    assert world.clients == among
    assert world.employees == draw_employees(game, world.seed)
    assert world.tasks == draw_market(game, world.seed, among)
    assert len(world.foreseen) == 400
    for (slot, generation), task in world.foreseen.items():
        number = 1000 * slot + generation
        assert task == draw_replacement(game, world.seed, world.tasks[slot], among, number)
    plain = tmp_path / "world.json"
    plain.write_bytes(gzip.decompress(trace.read_bytes()))
    assert as_world(str(plain)) == world


def test_what_a_file_may_leave_out(document: dict[str, Any]) -> None:
    """Seed, times, trust and replacements are optional."""
    for name in ("seed", "start", "horizon_end", "replacement_fields", "replacements"):
        del document[name]
    world = as_world(document)
    assert world is not None
    assert (world.seed, world.start, world.replacements) == (None, "", ())


Change = Callable[[dict[str, Any]], Any]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda d: d.pop("funds_cents"), "missing required field `funds_cents`"),
        (lambda d: d.update(colour="red"), "unknown field `colour`"),
        (lambda d: d.update(kind="episode"), "this is no world file"),
        (
            lambda d: d.update(funds_cents="many"),
            r"Expected `int`, got `str` - at `\$.funds_cents`",
        ),
        (lambda d: d.update(funds_cents=-1), "'funds_cents' must be >= 0"),
        (lambda d: d.update(initial_trust=1), r"<= 0.0 - at `\$.initial_trust`"),
        (lambda d: d.update(clients=[], tasks=[], replacements=[]), "clients is empty"),
        (lambda d: d["clients"].append(d["clients"][0]), "clients: two are named"),
        (lambda d: d["clients"][0].update(loyalty=float("nan")), "loyalty"),
        (lambda d: d["clients"][0].update(specialties=["cooking"]), "Invalid enum value 'cooking'"),
        (lambda d: d["employees"][1]["rates"].pop("research"), r"employees\[1\].rates are of \["),
        (
            lambda d: d["employees"][1]["rates"].update(research=-1),
            r"employees\[1\].rates.research=-1.0000 was given; it is at least 0",
        ),
        (lambda d: d["employees"][1].update(salary_cents=1.5), "got `float`"),
        (lambda d: d.update(task_fields=["title"]), "task_fields=.* they are"),
        (lambda d: d["tasks"][0].pop(), r"at `\$.tasks\[0\]`"),
        (lambda d: d["tasks"][0].__setitem__(2, "Helix"), "there is no client 'Helix'"),
        (lambda d: d["tasks"][0].__setitem__(slice(3, 4), [True]), "got `bool`"),
        (
            lambda d: d["tasks"][0].__setitem__(5, 10**400),
            r"at `\$.tasks\[0\].reward_funds_cents`",
        ),
        (lambda d: d["tasks"][0].__setitem__(7, "0.999"), "prestige_delta_effective='0.999'"),
        (lambda d: d["tasks"][0].__setitem__(10, 0), r">= 1 - at `\$.tasks\[0\].required_qty`"),
        (
            lambda d: d["replacements"][0].__setitem__(1, -1),
            r">= 0 - at `\$.replacements\[0\].generation`",
        ),
    ],
)
def test_a_faulty_world_is_refused_in_one_sentence(
    change: Change, text: str, document: dict[str, Any], tmp_path: Path
) -> None:
    """The fault and the file are named, whether it is read or given."""
    change(document)
    file = tmp_path / "faulty.json"
    file.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=text) as fault:
        as_world(document)
    assert str(fault.value).startswith("world: ")
    with pytest.raises(ValueError, match=r"world: .*faulty\.json") as read_fault:
        as_world(str(file))
    assert "\n" not in str(read_fault.value)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "the file is empty"),
        (b"\n", "the file is empty"),
        (b"{", "Expecting property name"),
        (b"[1]", "this is no world file"),
        (b'{"kind": "world", "funds_cents": NaN}', "NaN is not a number"),
        (b"\xff\xfe\x00", "it is cut, or no text"),
        (b"\x1f\x8b\x08\x00", "it is cut, or no text"),
        (gzip.compress(b"{}" * 100, mtime=0)[:-9], "it is cut, or no text"),
        (b"[" * 100_000, "more than 100 levels"),
        (gzip.compress(bytes(65 << 20), 1), "it holds more than 64 MiB, the limit"),
    ],
)
def test_a_file_of_another_kind_is_refused(content: bytes, text: str, tmp_path: Path) -> None:
    """Empty, cut, foreign, binary: one sentence with the file's name."""
    file = tmp_path / "foreign.json"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=text) as fault:
        as_world(str(file))
    assert "foreign.json" in str(fault.value)


def test_more_tasks_until_trust_build_it_more_slowly() -> None:
    """Twice as many halve the gain of the first success (SPEC 2.3)."""
    five, ten = (trust_after_success(YCBench(trust_build_tasks=n), 0.0) for n in (5.0, 10.0))
    assert [five, ten] == pytest.approx([1.6, 0.8])
