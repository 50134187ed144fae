"""The board of all worlds: scales by seed, the best policies, and what is above a bound."""

import pytest
from support.known_worlds import MEASURED, ROUND, WRONG, Measured
from support.small_worlds import WALK

from desim.catalog import policy_finder
from desim.catalog.known_scores import known_scores_of
from desim.errors import UsageError
from desim.rows.samples import Sample
from desim.studies.boards.overview import NormalisedBoards, normalised_boards, on_scale, world_scale

SHORT = f"{MEASURED}/short"


def played(*names: str, seeds: int = 3) -> NormalisedBoards:
    """Return the normalised boards of some presets."""
    return normalised_boards(names, range(seeds), 1)


def test_a_score_is_a_share_of_the_room_on_the_same_seeds() -> None:
    """A ratio of means: seeds with more room count more, and nothing is clipped."""
    scale = world_scale(SHORT, range(4))
    assert scale.kind == "2 best known, 1 relaxation, 1 proved"
    assert (scale.floor, scale.bound) == (3.25, None)
    found = on_scale(Sample({0: 4.0, 1: -6.0, 3: 5.0}), scale)
    assert found
    assert (found.z, found.n) == (pytest.approx((4 - 8 + 0) / (8 + 4 + 0.5)), 3)
    assert on_scale(Sample({2: 5.0}), scale) is None
    clustered = on_scale(Sample({0: 4.0, 1: 5.0, 3: 5.0}, {0: "a", 1: "b", 3: "a"}), scale)
    assert clustered
    assert clustered.n == 2


def test_the_floor_policy_itself_scores_0() -> None:
    """A policy that draws, too: scores below the floor are not raised to it."""
    (world,) = played("beer_game/poisson", seeds=20).worlds
    random, order = world.of("random"), world.of("order_up_to")
    assert random
    assert random.score
    assert order
    assert order.score
    assert random.score.z == pytest.approx(0, abs=1e-9)
    assert random.score.low is not None
    assert random.score.low < 0 < order.score.z < 1


@pytest.mark.parametrize(
    ("name", "seeds", "text"),
    [
        (f"{WALK}/short", range(2), "nothing is known of the scores of"),
        (f"{MEASURED}/long", range(2), "no policy can gain anything in"),
        (SHORT, range(3, 12), "seed 4, 5, 6, 7, 8 and more; known are 4 seeds from 0 to 3"),
        ("support.known_worlds:Stale/short", [0], "were made with other parameters"),
    ],
)
def test_a_world_without_a_scale_is_refused(name: str, seeds: range, text: str) -> None:
    """The sentence says why."""
    with pytest.raises(UsageError) as refused:
        world_scale(name, seeds)
    assert text in str(refused.value)


def test_policies_are_normalised_by_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best of those that know what they observe, and the best of the rest."""
    seer = "support.small_worlds:Seer"
    monkeypatch.setattr(policy_finder, "baselines", lambda _model: ("greedy", seer, "random"))
    (world,) = played(SHORT).worlds
    best, rest = world.best(observes=True), world.best(observes=False)
    assert best is not None
    assert rest is not None
    assert (best.policy, rest.policy) == ("greedy", seer)
    assert best.score
    assert rest.score
    # 6 of 8, 4 of 4, and 0 of 0.
    assert (best.score.z, best.score.n) == (pytest.approx(10 / 12), 3)
    assert rest.score.z == pytest.approx((3 + 1 + 0) / 12)


def test_the_tables_say_what_1_is_and_what_is_left_out() -> None:
    """The worlds without a scale are left out."""
    found = played(SHORT, f"{MEASURED}/long", f"{ROUND}/short")
    assert [world.name for world in found.worlds] == [SHORT, f"{ROUND}/short"]
    text = str(found)
    assert "relaxation: no policy can score more than 1" in text
    assert "best known: 1 is only the best run so far" in text
    assert f"left out: no policy can gain anything in {MEASURED}/long" in text


def test_scores_above_what_is_known_are_told() -> None:
    """Above the best run it is news, above a bound a fault."""
    (news,) = played(SHORT, seeds=4).worlds
    assert news.above() == ([], ["greedy"])
    wrong = played(f"{WRONG}/short", seeds=2)
    assert f"greedy in {WRONG}/short" in wrong.faults
    assert f"FAULT: greedy in {WRONG}/short scores more than the bound" in wrong.notes()
    # Never clipped above.
    first = wrong.worlds[0].scores[0].score
    assert first
    assert first.z == pytest.approx(6 / 5)


def test_all_worlds_without_a_scale_are_refused() -> None:
    """Before anything is played."""
    with pytest.raises(UsageError, match="no world has a scale: nothing is known of"):
        played(f"{WALK}/short")
    assert known_scores_of(Measured, "long") is not None


def test_without_seeds_nothing_is_said_about_worlds() -> None:
    """No world is blamed for it."""
    with pytest.raises(UsageError, match="no seed was given"):
        normalised_boards(["beer_game/poisson"], [], 1)
