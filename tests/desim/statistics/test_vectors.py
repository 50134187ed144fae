"""The methods of boards, stopping, selection and bounds equal other implementations of them."""

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.paths import REFERENCE
from support.until_narrow import until_chosen, until_narrow

from desim.errors import UsageError
from desim.statistics.clusters import clustered_mean, clustered_share
from desim.statistics.elimination import Elimination
from desim.statistics.intervals import seeds_for_difference
from desim.statistics.normalised import normalised
from desim.statistics.pairing import difference
from desim.statistics.ranks import ranked
from desim.statistics.sequences import ScoreRange, betting, t_sequence
from desim.statistics.shape import shape
from desim.statistics.stopping import Goal

VECTORS = REFERENCE / "statistics" / "vectors"

Given = dict[str, Any]


def _range(given: Given) -> ScoreRange | None:
    return ScoreRange(*given["range"]) if given["range"] else None


def _betting(given: Given) -> Given:
    ends = betting(given["values"], ScoreRange(given["low"], given["high"]), given["alpha"])
    return dict(zip(("low", "high"), ends, strict=True))


def _clusters(given: Given) -> Given:
    found = clustered_mean(given["values"], given["cluster"], given["level"])
    names = ("mean", "se", "low", "high", "clusters")
    return {"df": found.freedom} | {name: getattr(found, name) for name in names}


def _shares(given: Given) -> Given:
    found = clustered_share(given["values"], given["cluster"], given["level"])
    ends = {"low": found.low, "high": found.high}
    return {"p": found.mean, "n_eff": found.effective, "df": found.freedom, **ends}


def _comparisons(given: Given) -> Given:
    lines = ranked(given["values"], given["alpha"], paired=given["paired"])
    ends = [line.to_best or (0.0, 0.0) for line in lines]
    return {
        "means": [line.mean for line in lines],
        "rank_low": [line.ranks[0] for line in lines],
        "rank_high": [line.ranks[1] for line in lines],
        "order_by_mean": sorted(range(len(lines)), key=lambda i: -lines[i].mean),
        "to_best_low": [low for low, _ in ends],
        "to_best_high": [high for _, high in ends],
        "possibly_best": [i for i, line in enumerate(lines) if line.may_be_best],
    }


def _normalised(given: Given) -> Given | None:
    found = normalised(given["scores"], given["floor"], given["ceiling"], given["level"])
    if found is None:
        return None
    return {"z": found.z, "low": found.low, "high": found.high, "se": found.se}


def _pairing(given: Given) -> Given:
    found = difference(given["mine"], given["theirs"], given["level"])
    halves = {"half": found.paired.half, "half_with_different_seeds": found.unpaired}
    return {"mean": found.paired.mean, **halves}


def _seeds_for_difference(given: Given) -> Given:
    if "mine" in given:
        pairs = zip(given["mine"], given["theirs"], strict=True)
        given = {"differences": [a - b for a, b in pairs], **given}
    return {"seeds": seeds_for_difference(given["differences"], given["level"])}


def _select(given: Given) -> Given:
    assert given["most"] == len(given["values"][0])
    begun = Elimination(len(given["values"]), given["delta"], _range(given), given["alpha"])
    found = until_chosen(given["values"], begun, given["first"])
    dropped = [list(one) for one in found.dropped]
    return {"chosen": found.chosen, "seeds": found.seeds, "dropped": dropped, "left": found.left}


def _shape(given: Given) -> Given:
    found = shape(given["values"])
    names = ("n", "skew", "needed", "constant", "atom", "atom_share", "unseen")
    return {name: getattr(found, name) for name in names}


def _t_sequence(given: Given) -> Given:
    half = t_sequence(given["sd"], given["n"], given["alpha"], given["tuned_for"])
    return {"half": None if math.isinf(half) else half}


def _until(given: Given) -> Given:
    assert given["most"] == len(given["values"])
    goal = Goal(given["half"], alpha=given["alpha"], bounds=_range(given))
    found = until_narrow(given["values"], goal, given["first"])
    return {
        "method": "betting" if goal.bounds else "t sequence",
        "seeds": found.seeds,
        "reached": found.reached,
        "reason": found.reason,
        "low": found.low,
        "high": found.high,
    }


METHODS: dict[str, Callable[[Given], Given | None]] = {
    "betting": _betting,
    "clusters": _clusters,
    "comparisons": _comparisons,
    "normalised": _normalised,
    "pairing": _pairing,
    "seeds_for_difference": _seeds_for_difference,
    "select": _select,
    "shape": _shape,
    "shares": _shares,
    "t_sequence": _t_sequence,
    "until": _until,
}


#: What no table shows: whether shared seeds narrow an interval.
UNSHOWN = {"use", "note"}


def _cases() -> Iterator[Any]:
    for name in METHODS:
        path = VECTORS / f"{name}.json"
        if not path.exists():
            missing = pytest.mark.skip(reason=f"the reference data are not at {REFERENCE}")
            yield pytest.param(name, {}, id=name, marks=missing)
            continue
        for case in json.loads(path.read_text())["cases"]:
            yield pytest.param(name, case, id=f"{name}: {case['name']}")


def _assert_close(found: Any, expected: Any, tolerance: float) -> None:
    """Compare the members of *expected*: integers and lists of them exactly."""
    if isinstance(expected, dict):
        for key in expected.keys() - UNSHOWN:
            _assert_close(found[key], expected[key], tolerance)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            _assert_close(mine, theirs, tolerance)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, abs=tolerance, rel=0)
    else:
        assert found == expected


@pytest.mark.parametrize(("name", "case"), [*_cases()])
def test_the_method_equals_the_vector(name: str, case: Given) -> None:
    """Every vector is met to its tolerance; one that is an error raises a usage error."""
    if case["expected"] == {"error": True}:
        with pytest.raises(UsageError):
            METHODS[name](case["input"])
        return
    _assert_close(METHODS[name](case["input"]), case["expected"], case["tolerance"])
