"""Tuning: the search, the report on held-out seeds, and refused requests."""

from typing import Any

import pytest

from desim import Rows, sweep
from desim.errors import UsageError
from experiments import tuning
from experiments.tuning import Sample, Tuned, tune
from models.enterprise_arena import EnterpriseArena

#: Twelve months without a bankruptcy: every dollar raised is a dollar of score.
YEAR = EnterpriseArena(horizon=12)
BOX = {"amount": (5e6, 50e6)}


def tuned(**changes: Any) -> Tuned:
    """Tune the amount of a rule on three seeds, with four held-out seeds."""
    arguments = {"training": range(3), "held_out": range(50, 54), "generations": 2, **changes}
    return tune(YEAR, "raise_when_free,amount=20_000_000", BOX, **arguments)


def test_held_out_seeds_are_played_after_the_search_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The search plays training seeds alone; held-out seeds are played once, by start and best."""
    played: list[tuple[tuple[str, ...], tuple[int, ...]]] = []

    def recorded(model: Any, specs: Any, seeds: Any, **others: Any) -> Rows:
        played.append((tuple(specs), tuple(seeds)))
        return sweep(model, specs, seeds, **others)

    monkeypatch.setattr(tuning, "sweep", recorded)
    found = tuned()
    assert [seeds for _, seeds in played] == [(0, 1, 2)] * (len(played) - 1) + [(50, 51, 52, 53)]
    assert played[-1][0] == (found.start, found.best)
    assert not set(found.training.seeds) & set(found.held_out.seeds)


def test_the_figures_are_those_of_a_sweep() -> None:
    """Scores of start and best on both sets of seeds equal those of a sweep."""
    found = tuned()
    for sample in (found.training, found.held_out):
        for spec, scores in ((found.start, sample.start), (found.best, sample.best)):
            rows = sweep(YEAR, spec, sample.seeds)
            assert tuple(rows.values("score")) == scores


def test_tuning_is_no_worse_than_its_start_on_training_seeds() -> None:
    """Larger amounts score more here, so the search returns a larger one."""
    found = tuned()
    assert found.training.gain.mean > 0
    assert float(found.best.rpartition("=")[2]) > 20e6
    assert found.start == "raise_when_free,amount=20_000_000"


def test_arguments_on_the_edge_of_their_range_are_reported() -> None:
    """A start on the end of its range that scores best is kept."""
    found = tune(YEAR, "raise_when_free", {"amount": (5e6, 20e6)}, range(3), range(50, 53))
    assert found.best == found.start
    assert found.edges == ("amount",)
    assert found.held_out.gain.mean == 0


def test_the_same_call_finds_the_same_policy() -> None:
    """The search is seeded."""
    assert tuned() == tuned()


def test_progress_reports_the_best_so_far() -> None:
    """The best mean never falls from one generation to the next."""
    means: list[float] = []
    found = tuned(progress=lambda _, mean: means.append(mean))
    assert means == sorted(means)
    assert means[-1] == found.training.score.mean


def test_optimism_is_training_less_held_out() -> None:
    """Of the score, and of the gain, which is paired by seed."""
    known = Sample((0, 1), start=(1.0, 3.0), best=(6.0, 8.0))
    unseen = Sample((5, 6), start=(2.0, 2.0), best=(3.0, 5.0))
    found = Tuned("a", "b", (), known, unseen, 1)
    assert found.optimism == 7 - 4
    assert found.optimism_of_gain == 5 - 2
    assert (found.held_out.gain.mean, found.held_out.gain.n) == (2.0, 2)


@pytest.mark.parametrize(
    ("policy", "box", "held_out", "text"),
    [
        ("raise_below", BOX, range(2, 5), "seed 2 is in both training and held-out seeds"),
        ("raise_below", {"amounts": (1e6, 2e6)}, [9], "no argument 'amounts'.*amount"),
        ("raise_below", {"amount": (1e6, 2e6)}, [9], r"amount starts at 2e\+07"),
        ("raise_below", {"amount": (2e7, 2e7)}, [9], "give a range around it"),
        ("raise_below", {"instrument": (0, 1)}, [9], "starts at 'equity'; it is not a number"),
    ],
)
def test_a_wrong_request_is_refused(policy: str, box: Any, held_out: Any, text: str) -> None:
    """Shared seeds, unknown arguments and wrong ranges raise before an episode is played."""
    with pytest.raises(UsageError, match=text):
        tune(YEAR, policy, box, range(3), held_out)


def test_an_episode_that_fails_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mean over the remaining episodes would favour policies that fail."""

    def broken(*arguments: Any, **others: Any) -> Rows:
        rows = sweep(*arguments, **others)
        return Rows([{**row, "error": "PolicyFailed: why"} for row in rows])

    monkeypatch.setattr(tuning, "sweep", broken)
    with pytest.raises(UsageError, match="an episode failed: PolicyFailed: why"):
        tuned()
