"""Scores and ledger digests of all baselines stay what they were, unless changed on purpose."""

import pytest
from golden.write import SEEDS, line
from support.cases import SEARCHES
from support.paths import TESTS

from desim import catalog
from desim.catalog.model_finder import everything

GOLDEN = (TESTS / "golden" / "digests.tsv").read_text(encoding="utf-8").splitlines()
ROWS = [one.split("\t") for one in GOLDEN]
CASES = sorted({(world, spec) for world, spec, *_ in ROWS})

FIRST_SEEDS = [
    pytest.param(*case, marks=pytest.mark.slow) if case[1] in SEARCHES else case for case in CASES
]


@pytest.mark.parametrize(("world", "spec"), FIRST_SEEDS, ids=str)
def test_the_first_seed_of_every_baseline_is_unchanged(world: str, spec: str) -> None:
    """One episode a baseline, compared to the last bit of its score and ledgers."""
    assert line(world, spec, 0) in GOLDEN


@pytest.mark.slow
@pytest.mark.parametrize(("world", "spec"), CASES, ids=str)
def test_further_seeds_of_every_baseline_are_unchanged(world: str, spec: str) -> None:
    """The other seeds of the golden file; of a search, or where all are equal, the second alone."""
    ends = {tuple(end) for name, one, _, *end in ROWS if (name, one) == (world, spec)}
    seeds = SEEDS[1:2] if spec in SEARCHES or len(ends) == 1 else SEEDS[1:]
    assert [one for seed in seeds if (one := line(world, spec, seed)) not in GOLDEN] == []


def test_the_golden_file_covers_every_baseline() -> None:
    """A new world or rule brings its lines."""
    known = {(w, s) for w in everything() for s in catalog.baselines(catalog.model(w))}
    assert known == set(CASES)
    assert len(GOLDEN) == len(CASES) * len(SEEDS)
