"""The debriefing of an episode: costs of all years by cause, without the closings of the years."""

import pytest

from desim import play
from desim.core.ledger_protocols import statements_of


def test_costs_by_cause_are_those_of_the_income_statements() -> None:
    """The sum over the years of each line."""
    episode = play("enterprise_arena", "raise_below", 1, series=True)
    assert episode.inside is not None
    model, state = episode.inside.model, episode.inside.state
    found = model.debriefing(state)
    lines = {row["line"]: row for row in statements_of(model, state)["income_statement"]}
    years = [amount for name, amount in lines["payroll"].items() if name != "line"]
    assert found.costs["lender"]["Payroll"] == pytest.approx(sum(years))
    assert found.overlays[0].lines["cash"] == pytest.approx(episode.series()["cash"])
    assert " months. The worst was month " in found.revealed.text
    assert "20" not in found.revealed.text  # no year of the data
