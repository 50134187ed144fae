"""The debriefing of an episode: salaries and fines of the ledger."""

import pytest

from desim import play


def test_costs_by_cause_are_those_of_the_metrics() -> None:
    """In dollars; the funds are those of the series."""
    episode = play("yc_bench", "greedy", 1, series=True)
    assert episode.inside is not None
    found = episode.inside.model.debriefing(episode.inside.state)
    metrics = episode.metrics
    costs = {"salaries": metrics["payroll_cents"] / 100, "fines": metrics["fines_cents"] / 100}
    assert found.costs["company"] == pytest.approx(costs)
    assert found.overlays[0].lines["funds"][-1] == pytest.approx(episode.score)
