"""`audit` finds what a world rewards by mistake, from the schema and the observations alone."""

from functools import cache
from math import nan
from pathlib import Path
from typing import Any

import pytest
from support.piggy_bank import PiggyBank

from desim.errors import UsageError
from desim.records.episode import Episode
from desim.studies.audit.audit import audit
from desim.studies.audit.audited import Audited


@cache
def bank_audited() -> Audited:
    """Return the short audit of the piggy bank that several tests look at."""
    return audited()


def audited(model: Any = PiggyBank(), **given: Any) -> Audited:  # noqa: B008 (frozen)
    """Return a short audit."""
    return audit(model, **{"episodes": 300, "seeds": range(50, 54), "held_out": range(6), **given})


def test_a_plan_that_borrows_outranks_work() -> None:
    """Its action is the largest one, with a word that the description of its field quotes."""
    found = bank_audited()
    assert (found.honest, found.outranked) == ("greedy", True)
    assert found.scores == (500,) * 6
    assert "borrow(amount=50&lender=~uncle)" in found.lines[0].plan
    assert found.gain.low > 350
    assert "a plan outranks the best honest rule" in str(found)


def test_a_world_that_counts_debt_is_not_outranked() -> None:
    """The best plan is the honest rule itself."""
    found = audited(PiggyBank(counts_debt=False))
    assert (found.beaten, found.gain.mean) == (False, 0)


def test_one_plan_alone_is_compared_on_held_out_seeds() -> None:
    """The others have their means on the training seeds only."""
    lines = bank_audited().tables()[0].plain()["lines"]
    assert [line[2] is None for line in lines] == [False, False, *[True] * (len(lines) - 2)]


def test_an_audit_is_the_same_again_and_goes_on_from_its_folder(tmp_path: Path) -> None:
    """With the record of the best plan, which replays to its score."""
    first = audited(out=tmp_path / "kept")
    again = audited(out=tmp_path / "kept")
    assert again == first
    assert Episode.read(first.record).score == first.scores[0]


def test_a_stopped_audit_says_how_it_goes_on(tmp_path: Path) -> None:
    """With a folder by the same command; it then ends as one that was not stopped."""

    def stop(done: int, _total: int) -> None:
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"^stopped; the same command goes on$"):
        audited(out=tmp_path / "kept", progress=stop)
    assert audited(out=tmp_path / "kept").lines == bank_audited().lines
    with pytest.raises(
        KeyboardInterrupt, match=r"^stopped; with --out FOLDER the same command goes"
    ):
        audited(progress=stop)


def test_an_exploit_names_the_seeds_that_were_played() -> None:
    """As a range only where they are one."""
    assert bank_audited().exploit("debt").seeds == "0:6"
    assert audited(held_out=[2, 9, 7]).exploit("debt").seeds == "2,9,7"


def test_a_search_ends_in_time() -> None:
    """No plan is played when no minute is left."""
    found = audited(minutes=1e-9)
    assert (found.plans, found.lines, found.beaten) == (0, (), False)
    assert "no plan was played in this time, so the audit states nothing" in str(found)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"held_out": range(50, 60)}, "seed 50 is in both training and held-out seeds"),
        (
            {"model": "beer_game", "honest": ["greedy", "perfect"]},
            "rule 'perfect' was given, which",
        ),
        ({"episodes": 0}, "episodes=0 was given; an audit plays at least 1"),
        ({"minutes": 0}, "minutes=0 was given; it is above 0"),
        ({"minutes": nan}, "minutes=nan was given; it is above 0"),
        ({"held_out": [7]}, "1 held-out seed was given; an interval takes at least 2"),
    ],
)
def test_wrong_arguments_are_refused(given: dict[str, Any], says: str) -> None:
    """Before an episode is played; an informed rule is not an honest one."""
    with pytest.raises(UsageError, match=says):
        audited(**given)


def test_the_policies_of_other_roles_are_those_of_the_honest_rule() -> None:
    """Every default role has plans of its own."""
    found = audited(PiggyBank(children=("ann", "bob")))
    assert {line.role for line in found.lines} <= {"ann", "bob"}
    assert found.outranked
    assert 550 < found.scores[0] < 650


def test_a_search_of_the_only_episode_is_not_compared() -> None:
    """It may learn that episode by heart, so the best degenerate plan is."""
    found = audited("edt/interactive", episodes=60, held_out=[0], honest=["greedy"])
    assert found.fixed
    assert found.lines[0].name != "found by search"
    assert "found by search" in {line.name for line in found.lines}
    assert not found.beaten
