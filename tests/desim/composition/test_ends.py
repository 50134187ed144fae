"""When parts begin, when the episode ends, and what is reported of a part that was cut."""

from typing import Any

import pytest
from support.companies import Firm, Hike, figures, played
from support.part_results import part_results

from desim import play
from desim.composition import AFTER_PARTS, Composite, PartSpec, part_seed
from desim.errors import ModelFailed

LONG, SHORT = Firm(periods=9), Firm(periods=2)


def ends(ends: str, **parts: Any) -> tuple[str, dict[str, str]]:
    """Return why a composite ended, and why each of its parts did."""
    episode, _ = played(Composite(parts, ends=ends), "greedy", 1)
    return episode.ended, {name: episode.metrics[f"{name}.ended"] for name in parts}


@pytest.mark.parametrize(
    ("when", "reason", "cut"),
    [
        ("all", "long: closed; short: closed; middle: closed", []),
        ("any", "short: closed", ["long", "middle"]),
        ("short", "short: closed", ["long", "middle"]),
        ("middle,short", "middle: closed; short: closed", ["long"]),
    ],
)
def test_the_episode_ends_with_all_any_or_named_parts(
    when: str, reason: str, cut: list[str]
) -> None:
    """The reason names the parts that have ended, with their own reasons."""
    ended, parts = ends(when, long=LONG, short=SHORT, middle=Firm(periods=5))
    assert ended == reason
    assert [name for name, why in parts.items() if why == "still running"] == cut


def test_a_part_that_is_cut_has_a_score_and_no_metrics() -> None:
    """Its metrics may need an end; its ledgers are in the digest."""
    episode, group = played(Composite({"long": LONG, "short": SHORT}, ends="any"), "greedy", 1)
    assert [name for name in episode.metrics if name.startswith("long.")] == [
        "long.score",
        "long.ended",
    ]
    long = group.part("long")
    assert len(long.state.cash) == 2
    assert part_results(group)["long"].score == episode.metrics["long.score"] != 0
    assert not long.world.ended


def test_what_happens_at_the_last_instant_is_part_of_the_episode() -> None:
    """Parts of a higher rank, and links, although a part of a lower rank has ended there."""
    linked: list[int] = []

    def at_the_end(world: Any, group: Any) -> Any:
        yield world.timeout(group.until(group.clock.moment(14 * 86_400_000_000)), rank=AFTER_PARTS)
        linked.append(len(group.part("second").state.cash))

    parts = {"first": SHORT, "second": Firm(periods=9)}
    played(Composite(parts, links=at_the_end, ends="first"), "greedy", 1)
    assert linked == [2]


def test_a_part_may_begin_later() -> None:
    """It is what it would be alone, and is asked from its own start on."""
    later = PartSpec(model=SHORT, start="2025-02-03")
    episode, group = played(Composite({"long": LONG, "later": later}), "greedy", 1)
    single = play(SHORT, "greedy", part_seed(1, "later")).result
    assert single is not None
    assert figures(part_results(group)["later"]) == figures(single)
    day = 86_400_000_000
    assert [step.t for step in episode.steps if step.role == "later.boss"] == [33 * day, 40 * day]


def test_a_part_that_begins_after_the_end_never_begins() -> None:
    """It has no score, and says so."""
    late = PartSpec(model=SHORT, start="2030-01-01")
    composite = Composite({"late": late, "short": SHORT}, ends="short")
    episode, group = played(composite, "greedy", 1)
    assert {k: v for k, v in episode.metrics.items() if k.startswith("late.")} == {
        "late.score": 0.0,
        "late.ended": "not begun",
    }
    assert list(part_results(group)) == ["short"]
    assert composite.tables(group, "late.boss") == {}
    assert episode.score == episode.metrics["short.score"]


def test_the_score_is_a_weighted_sum() -> None:
    """Of the scores of the parts."""
    parts = {"a": PartSpec(model=LONG, weight=0.5), "b": PartSpec(model=SHORT, weight=-2.0)}
    metrics = play(Composite(parts), "greedy", 1)
    assert metrics.score == 0.5 * metrics.metrics["a.score"] - 2.0 * metrics.metrics["b.score"]


@pytest.mark.parametrize("ticks", ["days", "months"])
def test_repetitions_follow_each_other_in_time(ticks: str) -> None:
    """Each begins at the next moment at which its calendar can."""
    firm = PartSpec(model=Firm(periods=2, ticks=ticks), times=3)
    episode, _ = played(Composite({"firm": firm}), "greedy", 1)
    composite = Composite({"firm": firm})
    assert [str(composite.time.calendar.moment(step.t)) for step in episode.steps] == {
        "days": [f"2025-01-0{day} 09:00:00" for day in (1, 2, 3, 4, 5, 6)],
        "months": [f"2025-{month:02}-01 00:00:00" for month in (2, 3, 5, 6, 8, 9)],
    }[ticks]


def test_the_score_of_a_part_is_a_number() -> None:
    """One that is none fails the episode, and the error names the part."""
    with pytest.raises(ModelFailed, match=r"Error: no scales \(in part 'odd' at its t=3"):
        play(Composite({"odd": Firm(fault="score"), "firm": Firm()}), "greedy")
    with pytest.raises(ModelFailed, match=r"score is nan; .* \(in part 'odd' at its t=3\)"):
        play(Composite({"odd": Firm(fault="nan"), "firm": Firm()}), "greedy")
    with pytest.raises(ModelFailed, match=r"no figures \(in part 'odd' at its t=3\)"):
        play(Composite({"odd": Firm(fault="metrics"), "firm": Firm()}), "greedy")


def test_an_unlinked_walk_has_no_cash() -> None:
    """A part needs a calendar, and nothing else."""
    assert played(Composite({"walk": Hike(), "firm": SHORT}), "greedy", 1)[0].score
