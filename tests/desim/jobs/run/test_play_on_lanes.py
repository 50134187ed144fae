"""Jobs on lanes: the rows of jobs that are played one by one, but for digests of ledgers."""

from pathlib import Path
from typing import Any, ClassVar

import pytest
from support.bakery import Bakery, Cautious, Failing, Generous, Level, Smoothing
from support.small_worlds import STRIDE, WALK

from desim import catalog, sweep
from desim.catalog.policy_spec import read_policies
from desim.core.limits import Limits
from desim.jobs.keep.store import SweepWarning
from desim.jobs.rows.rows import Rows
from desim.jobs.run import play_job
from desim.lanes import play_lanes

POLICIES = ["support.bakery:Level,level=9", Level(20), Smoothing, {"baker": Smoothing(0.9)}]


def undigested(rows: Rows) -> list[str]:
    """Rows without digests and the mark of lanes, in a form that tells 1 from 1.0."""
    return [repr({**row, "ledger_digest": None, "on_lanes": None}) for row in rows]


def swept(**more: Any) -> Rows:
    """A sweep of several cells, some seeds of which go bankrupt."""
    given: dict[str, Any] = {"seeds": range(25), "set": {"cash": [90, 3_000]}, **more}
    return sweep(Bakery(), POLICIES, **given)


def test_rows_on_lanes_are_those_of_play_without_a_digest() -> None:
    """Every other key is equal and in the same order; the mark says why the digest is missing."""
    rows, played = swept(), swept(digests=True)
    assert undigested(rows) == undigested(played)
    assert [*rows[0]] == [*played[0], "on_lanes"]
    assert {row["ledger_digest"] for row in rows} == {None}
    assert None not in {row["ledger_digest"] for row in played}
    assert {*rows.column("on_lanes")} == {True}


@pytest.mark.parametrize("workers", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_rows_do_not_depend_on_workers(workers: int) -> None:
    """However chunks fall."""
    assert swept(jobs=workers) == swept()


def test_rows_do_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes are played in batches, also where seeds are not consecutive or time is short."""
    expected = swept()
    monkeypatch.setattr(play_job, "SECONDS_PER_CHUNK", -1)
    assert swept() == expected
    monkeypatch.setattr(play_job, "MOST_LANES", 7)
    assert swept() == expected
    some = swept(seeds=[5, 2, 24, 10**12])
    assert [row for row in some if row["seed"] == 24] == [
        row for row in expected if row["seed"] == 24
    ]


@pytest.mark.parametrize(("policy", "failed"), [(Failing(faulty=3), 16), (Failing(greedy=3), 0)])
def test_faults_on_lanes_leave_the_rows_of_play(policy: Failing, failed: int) -> None:
    """A failing episode has the same error; figures that lanes cannot hold are played."""
    rows, played = (sweep(Bakery(), policy, range(25), digests=each) for each in (False, True))
    assert undigested(rows) == undigested(played)
    assert {row["ledger_digest"] for row in rows} == {None}
    assert len(rows.failed) == failed


class _Itemised(Bakery):
    item_groups: ClassVar[dict[str, Any]] = {}

    def item_results(self, books: Any) -> Any:
        """Return no items."""
        return {}


@pytest.mark.parametrize(
    ("given", "more"),
    [
        ((Bakery(), Cautious()), {}),
        ((Generous(), Level()), {}),
        ((Bakery(loan=True), Level()), {}),
        ((_Itemised(), Level()), {}),
        ((Bakery(), lambda morning: Level().decide(morning)), {}),
        ((Bakery(), Level()), {"limits": Limits(decisions=100)}),
        ((WALK, STRIDE), {}),
    ],
)
def test_episodes_without_lanes_have_digests(given: tuple[Any, Any], more: Any) -> None:
    """A policy, a model, parameters or options without lanes: nothing changes."""
    rows = sweep(*given, range(3), **more)
    assert not rows.failed
    assert "on_lanes" not in rows.columns
    assert "on_lanes" not in rows[0]
    if given[0] != WALK:
        assert None not in rows.column("ledger_digest")


def test_records_and_digests_are_played(tmp_path: Path) -> None:
    """Every record has a digest of its own."""
    rows = sweep(Bakery(), Level(), range(3), out=tmp_path, records=True)
    assert None not in rows.column("ledger_digest")


def test_a_folder_serves_sweeps_that_want_less(tmp_path: Path) -> None:
    """Kept digests serve a sweep without; rows without are played again where they are wanted."""
    played: list[int] = []

    def count(done: int, total: int) -> None:
        played.append(total - done)

    def again(*, digests: bool) -> Rows:
        played.clear()
        seeds = [0, 1, 2, 10**15]
        return sweep(Bakery(), Level(), seeds, out=tmp_path, digests=digests, progress=count)

    first = again(digests=False)
    assert again(digests=False) == first
    assert played[0] == 0
    with_digests = again(digests=True)
    assert played[0] == 4
    assert with_digests == sweep(Bakery(), Level(), [0, 1, 2, 10**15], digests=True)
    assert Rows.read(tmp_path) == with_digests
    assert again(digests=False) == first == Rows.read(tmp_path)
    assert played[0] == 0


def test_lanes_that_fail_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of `decide_all` that `decide` does not have loses time, so a warning names it."""

    def failing(self: Level, mornings: Any) -> Any:
        raise TypeError("no array")

    monkeypatch.setattr(Level, "decide_all", failing)
    with pytest.warns(SweepWarning, match=r"lanes failed.*Level.*TypeError: no array"):
        rows = sweep(Bakery(), Level(), range(4))
    assert not rows.failed


class Other(Level):
    """Bakes one loaf more on lanes."""

    def decide(self, morning: Any) -> Any:
        """Fill the shelf."""
        return super().decide(morning)

    def decide_all(self, mornings: Any) -> Any:
        """Bake one loaf too many."""
        return {"loaves": super().decide_all(mornings)["loaves"] + 1}


def test_lanes_that_decide_otherwise_are_reported() -> None:
    """One seed of a line-up is played alone as well; the rows are those of `decide`."""
    with pytest.warns(SweepWarning, match="score is .* on lanes and .* played alone"):
        rows = sweep(Bakery(), Other, range(4))
    assert rows.column("score") == sweep(Bakery(), Level(), range(4)).column("score")


def test_policies_are_new_for_every_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """An instance that remembers is copied, as it is for every episode."""
    policy = Smoothing()
    monkeypatch.setattr(play_job, "MOST_LANES", 2)
    rows = sweep(Bakery(), policy, range(6))
    assert policy.usual == 12.0
    assert undigested(rows) == undigested(sweep(Bakery(), policy, range(6), digests=True))


def test_lanes_take_the_seeds_of_a_whole_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds are played together, not one by one."""
    counts: list[int] = []
    original = play_lanes.lanes_of

    def counted(model: Any, roles: Any, seeds: Any) -> Any:
        counts.append(len(seeds))
        return original(model, roles, seeds)

    monkeypatch.setattr("desim.jobs.run.play_job.lanes_of", counted)
    sweep(Bakery(), Level(), range(300))
    assert counts == [300]


@pytest.mark.parametrize(
    ("model", "changes"),
    [("beer_game/poisson", {"horizon": 20}), ("enterprise_arena", {"horizon": 24})],
)
def test_rows_of_our_worlds_are_those_of_play(model: str, changes: dict[str, int]) -> None:
    """Those of every baseline with lanes, with the types of all metrics."""
    given = [read_policies([spec]) for spec in catalog.baselines(catalog.model(model))]
    rows, played = (
        sweep(model, given, [3, 4], set=changes, digests=each) for each in (False, True)
    )
    assert len([row for row in rows if "on_lanes" in row]) > len(given)
    assert undigested(rows) == undigested(played)
