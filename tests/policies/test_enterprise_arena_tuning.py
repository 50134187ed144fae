"""Tuning of EnterpriseArena's rules: what is searched, what is reported, what is kept apart."""

from collections.abc import Iterator
from typing import Any

import pytest

from desim import Rows, sweep
from desim.errors import UsageError
from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.articulation import checked
from policies.heuristics.enterprise_arena import tuning
from policies.heuristics.enterprise_arena.tuning import Sample, Tuned, tune

#: A year, in which nobody goes bankrupt and every dollar raised is a dollar of score.
YEAR = EnterpriseArena(horizon=12)
BOX = {"amount": (5e6, 50e6)}


@pytest.fixture(autouse=True)
def books_articulate() -> Iterator[None]:
    """Verify section 7.3 of the SPEC at the end of every month of every episode."""
    with checked():
        yield


def tuned(**changes: Any) -> Tuned:
    """Tune the amount of a rule on three seeds, and report on four others."""
    given = {"training": range(3), "held_out": range(50, 54), "generations": 2, **changes}
    return tune(YEAR, "raise_when_free,amount=20_000_000", BOX, **given)


def test_held_out_seeds_are_played_after_the_search_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The search sees training seeds; the others are played once, by the start and the found."""
    played: list[tuple[tuple[str, ...], tuple[int, ...]]] = []

    def spied(model: Any, specs: Any, seeds: Any, **others: Any) -> Rows:
        played.append((tuple(specs), tuple(seeds)))
        return sweep(model, specs, seeds, **others)

    monkeypatch.setattr(tuning, "sweep", spied)
    found = tuned()
    assert [seeds for _, seeds in played] == [(0, 1, 2)] * (len(played) - 1) + [(50, 51, 52, 53)]
    assert played[-1][0] == (found.start, found.found)
    assert not set(found.training.seeds) & set(found.held_out.seeds)


def test_the_figures_are_those_of_a_sweep() -> None:
    """Scores of the start and the found on both sets of seeds."""
    found = tuned()
    for sample in (found.training, found.held_out):
        for spec, scores in ((found.start, sample.start), (found.found, sample.found)):
            rows = sweep(YEAR, spec, sample.seeds)
            assert tuple(rows.values("score")) == scores


def test_tuning_is_no_worse_than_its_start_on_training_seeds() -> None:
    """More is better here, so more is found."""
    found = tuned()
    assert found.training.gain.mean > 0
    assert float(found.found.rpartition("=")[2]) > 20e6
    assert found.start == "raise_when_free,amount=20_000_000"


def test_what_the_range_alone_bounds_is_said() -> None:
    """A start on the end of its range cannot be beaten, and stays there."""
    found = tune(YEAR, "raise_when_free", {"amount": (5e6, 20e6)}, range(3), range(50, 53))
    assert found.found == found.start
    assert found.edges == ("amount",)
    assert found.held_out.gain.mean == 0


def test_the_same_call_finds_the_same_policy() -> None:
    """The search has a seed of its own."""
    assert tuned() == tuned()


def test_progress_tells_the_best_so_far() -> None:
    """Means never fall from one generation to the next."""
    heard: list[float] = []
    found = tuned(progress=lambda _, mean: heard.append(mean))
    assert heard == sorted(heard)
    assert heard[-1] == found.training.score.mean


def test_optimism_is_training_less_held_out() -> None:
    """Of the score, with the seeds' own luck; of the gain, without."""
    known = Sample((0, 1), start=(1.0, 3.0), found=(6.0, 8.0))
    unseen = Sample((5, 6), start=(2.0, 2.0), found=(3.0, 5.0))
    found = Tuned("a", "b", (), known, unseen, 1)
    assert found.optimism == 7 - 4
    assert found.optimism_of_gain == 5 - 2
    assert (found.held_out.gain.mean, found.held_out.gain.n) == (2.0, 2)


@pytest.mark.parametrize(
    ("policy", "box", "held_out", "text"),
    [
        ("raise_below", BOX, range(2, 5), "seed 2 is among training and held-out seeds"),
        ("raise_below", {"amounts": (1e6, 2e6)}, [9], "no argument 'amounts'.*amount"),
        ("raise_below", {"amount": (1e6, 2e6)}, [9], r"amount starts at 2e\+07"),
        ("raise_below", {"amount": (2e7, 2e7)}, [9], "give a range around it"),
        ("raise_below", {"instrument": (0, 1)}, [9], "starts at 'equity'; it is no number"),
    ],
)
def test_what_cannot_be_tuned_is_refused(policy: str, box: Any, held_out: Any, text: str) -> None:
    """Before anything is played."""
    with pytest.raises(UsageError, match=text):
        tune(YEAR, policy, box, range(3), held_out)


def test_an_episode_that_fails_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mean over the episodes that are left would favour what fails."""

    def broken(*given: Any, **others: Any) -> Rows:
        return Rows([{**row, "error": "PolicyFailed: why"} for row in sweep(*given, **others)])

    monkeypatch.setattr(tuning, "sweep", broken)
    with pytest.raises(UsageError, match="an episode failed: PolicyFailed: why"):
        tuned()
