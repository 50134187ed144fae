"""The known scores that are shipped: of the presets' present parameters, and true of the worlds."""

import inspect
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from golden.known_scores import GONE
from support.paths import TESTS

from desim import catalog
from desim.catalog.known_scores import KnownScores, read_known_scores
from desim.catalog.presets import from_preset, presets
from desim.episodes.lineup import lineup_knows
from desim.episodes.replay import replay
from desim.rows.known_means import known_scores, read_label

PRESETS = [
    pytest.param(cls, preset, id=f"{name}/{preset}")
    for name, cls in catalog.models().items()
    for preset in presets(cls)
]

#: Of these the floor is a mean over seeds.
DRAWING_FLOORS = {"random"}
#: Seeds of the boards.
SEEDS = range(20)
#: The score of every baseline of every preset, by seed.
GOLDEN = [
    line.split("\t")
    for line in (TESTS / "golden" / "digests.tsv").read_text(encoding="utf-8").splitlines()
]


@cache
def known(cls: type, preset: str) -> tuple[Any, KnownScores]:
    """Return a preset's model and what is known of it; fails where it is stale."""
    model = from_preset(cls, preset)
    found = known_scores(model, preset)
    assert found is not None
    return model, found


@pytest.mark.parametrize(("cls", "preset"), PRESETS)
def test_every_preset_has_known_scores_of_its_parameters(cls: Any, preset: str) -> None:
    """Of all seeds of the boards; `tests/golden/known_scores.py` makes them again."""
    model, found = known(cls, preset)
    assert found.all_of(SEEDS) is not None
    assert (found.every is not None) == model.deterministic
    assert {*found.played} >= {*catalog.baselines(model)}
    for policy in {*found.played} - GONE:
        level = lineup_knows(model, read_label(policy))
        assert found.knows.get(policy, "observation") == level, "known_scores.py --levels"


@pytest.mark.parametrize(("cls", "preset"), PRESETS)
def test_no_baseline_scores_more_than_is_known(cls: Any, preset: str) -> None:
    """Neither more than a bound nor more than the best run, which scores as it did.

    The scores are those of the golden file, which the tests of digests compare with the worlds.
    """
    _, found = known(cls, preset)
    world = f"{cls.__module__.split('.')[1]}/{preset}"
    scores = {
        spec: float(score) for name, spec, seed, score, _ in GOLDEN if (name, seed) == (world, "0")
    }
    one = found.of(0)
    assert one is not None
    assert max(scores.values()) <= one.best <= one.ceiling
    assert scores.get(one.policy, one.best) == one.best
    if found.floor not in DRAWING_FLOORS:
        assert scores[found.floor] == one.floor


RECORDS = [
    pytest.param(Path(inspect.getfile(cls)).parent / one.record, one.best, id=one.record)
    for cls in catalog.models().values()
    for found in read_known_scores(inspect.getfile(cls)).values()
    for one in ([found.every] if found.every else found.scores.values())
    if one.record
]


@pytest.mark.parametrize(("record", "score"), RECORDS)
def test_every_record_of_a_best_run_replays(record: Path, score: float) -> None:
    """It opens and imports nothing, and has the score of the book."""
    assert replay(record).score == score
