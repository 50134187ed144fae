"""The calibration targets of EnterpriseArena: read from the reference, met by few seeds of ours."""

import json
import math
from pathlib import Path
from statistics import fmean

import pytest
from arena_targets import ANY, LOOKING, PROFILES, Target, pooled, targets, time_average, values

from desim import Rows, play, sweep

#: Of a band test: enough for a gross fault, and little beside the 200 of the experiment.
SEEDS = 12


@pytest.mark.traces("enterprise_arena/targets.json")
def test_every_target_of_the_reference_is_a_figure_of_ours(trace: Path) -> None:
    """Profile, prototype and acceptance band of all, in order; policies and metrics are known."""
    given = json.loads(trace.read_text())["targets"]
    found = targets()
    assert [target.prototype for target in found] == [each["achieved"] for each in given]
    assert [list(target.band or ()) for target in found] == [
        each.get("implementation_band", []) for each in given
    ]
    assert all(target.figure for target in found)
    unnamed = {
        each["policy"]
        for target, each in zip(found, given, strict=True)
        if target.policy == LOOKING
    }
    assert len(unnamed) == 1


@pytest.mark.slow
@pytest.mark.traces("enterprise_arena/targets.json")
def test_every_rule_lies_where_the_prototype_does(trace: Path) -> None:
    """Means of few seeds, within four standard errors of both means."""
    assert trace.exists()
    wanted = [t for t in targets() if t.figure != "time_average" and t.policy != ANY]
    played = {profile: _played(wanted, profile) for profile in PROFILES}
    early = sweep("enterprise_arena/paper", "never_raise", range(SEEDS), set={"horizon": 3})
    missed = []
    for target in wanted:
        ours = values(target, played[target.profile], early, SEEDS)
        gap = abs(fmean(ours) - target.prototype)
        if gap > 4 * _spread(target, ours) * math.sqrt(1 / SEEDS + 1 / 1000):
            missed.append((target, fmean(ours)))
    assert missed == []


def test_the_time_average_counts_every_call() -> None:
    """With 18.94 calls a month it is 5,000 dollars a call below that without, on one history."""
    assert time_average("snapshot", 0) == pytest.approx(29.6e6, abs=3e6)
    calls = play("enterprise_arena/snapshot", LOOKING, 0).metrics["tool_calls"]
    months = play("enterprise_arena/snapshot", "never_raise", 0).metrics["months"] + 1
    assert calls == math.floor(18.94 * months)


def test_a_ratio_spreads_as_the_delta_method_says() -> None:
    """Two of three and none of one: a half in all, not the mean of the two rates."""
    values_ = pooled([2.0, 0.0], [3.0, 1.0])
    assert values_ == pytest.approx([0.75, 0.25])
    assert fmean(values_) == 0.5


def _played(wanted: list[Target], profile: str) -> Rows:
    specs = list(dict.fromkeys(t.policy for t in wanted if t.profile == profile))
    return sweep(f"enterprise_arena/{profile}", specs, range(SEEDS))


def _spread(target: Target, ours: list[float]) -> float:
    """Return the standard deviation of one episode's figure: ours, or that of a share."""
    mean = fmean(ours)
    own = math.sqrt(sum((value - mean) ** 2 for value in ours) / (SEEDS - 1))
    if target.figure not in ("survived", "first_surge"):
        return own
    # Few seeds may all agree where a share is near 0 or 1.
    share = min(max(target.prototype, 1 / SEEDS), 1 - 1 / SEEDS)
    return math.sqrt(share * (1 - share))
