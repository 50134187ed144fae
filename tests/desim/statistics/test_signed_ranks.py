"""Wilcoxon's signed-rank test: the p-values of scipy."""

import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from desim.statistics.signed_ranks import signed_rank_p


def reference(differences: list[float]) -> float:
    """The p-value that scipy returns for the alternative that differences are below 0."""
    found = scipy.stats.wilcoxon(differences, alternative="less", zero_method="zsplit")
    return float(found.pvalue)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=50, unique=True), st.randoms())
def test_differences_without_ties_have_the_exact_value(sizes: list[int], chance: object) -> None:
    """Up to 50 pairs."""
    signed = [size * chance.choice((1, -1)) for size in sizes]  # type: ignore[attr-defined]
    assert signed_rank_p(signed) == pytest.approx(reference(signed), rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=2, max_size=8))
def test_ties_and_zeros_have_the_value_of_all_signs(differences: list[int]) -> None:
    """As a permutation test counts them."""
    assert signed_rank_p(differences) == pytest.approx(reference(differences), rel=1e-9)


def test_many_pairs_have_a_value_near_the_exact_one() -> None:
    """Just beyond the limit, the normal distribution is close to the exact one."""
    signed = [(-1 if place % 3 else 1) * (place + 0.5) for place in range(50)]
    more = [*signed, -0.25]
    assert signed_rank_p(more) == pytest.approx(reference(more), rel=0.05)
    assert signed_rank_p(more) == pytest.approx(signed_rank_p(signed), rel=0.2)
