"""World files: what they tell, and how a faulty one is refused."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desim.schema import from_plain, to_plain
from models.yc_bench.generation import clients, employees, market, replacement
from models.yc_bench.rules import Generation
from models.yc_bench.world_file import Replacement, WorldFile, given, read, write

GAME = Generation(num_employees=2, num_clients=2, num_market_tasks=3)


def small(seed: int = 1) -> WorldFile:
    """Draw a small world."""
    among = clients(GAME, seed)
    tasks = market(GAME, seed, among)
    new = replacement(GAME, seed, tasks[1], among, 1000)
    return WorldFile(
        clients=among,
        employees=employees(GAME, seed),
        tasks=tasks,
        replacements=(Replacement(0, new),),
        start="2025-01-01T09:00:00",
        seed=seed,
    )


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    """The small world as a file holds it."""
    write(str(tmp_path / "small.json"), small())
    told: dict[str, Any] = json.loads((tmp_path / "small.json").read_text())
    return told


@pytest.mark.traces("ycbench/traces/world_seed*.json.gz")
def test_published_worlds_are_what_is_drawn(trace: Path, tmp_path: Path) -> None:
    """A file of the reference data tells the world that its seed draws; packed or not."""
    world = given(str(trace))
    game = Generation()
    assert world is not None
    assert world.seed is not None
    among = clients(game, world.seed)
    assert world.clients == among
    assert world.employees == employees(game, world.seed)
    assert world.tasks == market(game, world.seed, among)
    assert len(world.foreseen) == 400
    for (slot, generation), task in world.foreseen.items():
        number = 1000 * slot + generation
        assert task == replacement(game, world.seed, world.tasks[slot], among, number)
    plain = tmp_path / "world.json"
    plain.write_bytes(gzip.decompress(trace.read_bytes()))
    assert read(str(plain)) == world


@pytest.mark.parametrize("name", ["world.json", "world.json.gz"])
def test_a_world_is_written_and_read(name: str, tmp_path: Path) -> None:
    """Nothing is lost, and the same world gives the same bytes."""
    file = tmp_path / name
    write(str(file), small())
    first = file.read_bytes()
    assert (first[:2] == b"\x1f\x8b") == name.endswith(".gz")
    assert read(str(file)) == given(file) == small()
    write(str(file), read(str(file)))
    assert file.read_bytes() == first


def test_a_world_comes_back_from_a_record() -> None:
    """Its plain fields, and a file's own object, are as good as the world."""
    world = small()
    told = json.loads(json.dumps(to_plain(world)))
    assert from_plain(told, WorldFile) == world
    assert given(told) == world


def test_a_world_may_be_none_or_itself(document: dict[str, Any]) -> None:
    """What needs no reading is taken as it is; a file's object is read."""
    world = small()
    assert given(None) is None
    assert given(world) is world
    assert given(document) == world


def test_what_a_file_need_not_tell(document: dict[str, Any]) -> None:
    """Seed, times, trust and replacements may be left out."""
    for name in ("seed", "start", "horizon_end", "replacement_fields", "replacements"):
        del document[name]
    world = given(document)
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
        (lambda d: d.update(initial_trust=1), "initial_trust=1.0 was given; trust starts at 0"),
        (lambda d: d.update(start="soon"), "start='soon' was given; it is like 2025-01-01"),
        (lambda d: d.update(start="2025-01-01T09:00Z"), "it is like 2025-01-01T09:00:00"),
        (lambda d: d.update(clients=[], tasks=[], replacements=[]), "clients is empty"),
        (lambda d: d["clients"].append(d["clients"][0]), "clients: two are named"),
        (lambda d: d["clients"][0].update(loyalty=float("nan")), "loyalty"),
        (lambda d: d["clients"][0].update(specialties=["cooking"]), "there is no 'cooking'"),
        (lambda d: d["employees"][1]["rates"].pop("research"), "rates.research=NaN was given"),
        (lambda d: d["employees"][1]["rates"].update(research=-1), "rates.research=-1.0000"),
        (lambda d: d["employees"][1].update(salary_cents=1.5), "got `float`"),
        (lambda d: d.update(task_fields=["title"]), "task_fields=.* they are"),
        (lambda d: d["tasks"][0].pop(), r"at `\$.tasks\[0\]`"),
        (lambda d: d["tasks"][0].__setitem__(2, "Helix"), "there is no client 'Helix'"),
        (lambda d: d["tasks"][0].__setitem__(slice(3, 4), [True]), "got `bool`"),
        (
            lambda d: d["tasks"][0].__setitem__(5, 10**400),
            r"tasks\[0\].reward_cents=1000.* was given; it lies between 0 and",
        ),
        (lambda d: d["tasks"][0].__setitem__(7, "0.999"), "prestige_delta_effective='0.999'"),
        (lambda d: d["tasks"][0].__setitem__(10, 0), r"tasks\[0\].required_qty=0 was given"),
        (lambda d: d["replacements"][0].__setitem__(1, -1), "generation=-1 was given"),
        (lambda d: d["replacements"].append(d["replacements"][0]), "generation twice"),
    ],
)
def test_a_faulty_world_is_refused_in_one_sentence(
    change: Change, text: str, document: dict[str, Any], tmp_path: Path
) -> None:
    """The fault and the file are named, whether it is read or given."""
    change(document)
    file = tmp_path / "faulty.json"
    file.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=text) as told:
        given(document)
    assert str(told.value).startswith("world: ")
    with pytest.raises(ValueError, match=r"world: .*faulty\.json") as read_fault:
        read(str(file))
    assert "\n" not in str(read_fault.value)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "the file is empty"),
        (b"\n", "the file is empty"),
        (b"{", "Expecting property name"),
        (b"[1]", "this is no world file"),
        (b'{"kind": "world", "funds_cents": NaN}', "NaN is no number"),
        (b"\xff\xfe\x00", "it is cut, or no text"),
        (b"\x1f\x8b\x08\x00", "it is cut, or no text"),
        (gzip.compress(b"{}" * 100)[:-9], "it is cut, or no text"),
        (b"[" * 100_000, "recursion"),
    ],
)
def test_a_file_of_another_kind_is_refused(content: bytes, text: str, tmp_path: Path) -> None:
    """Empty, cut, foreign, binary: one sentence with the file's name."""
    file = tmp_path / "odd.json"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=text) as told:
        read(str(file))
    assert "odd.json" in str(told.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A path that leads nowhere or to a folder, and a value that is no path."""
    with pytest.raises(ValueError, match=r"cannot read 'nowhere\.json': No such file"):
        given("nowhere.json")
    with pytest.raises(ValueError, match="cannot read"):
        given(tmp_path)
    with pytest.raises(ValueError, match="world=5 was given; it is a world"):
        given(5)
    with pytest.raises(ValueError, match=r"world: .*clients"):
        given({"tasks": []})
