"""The debriefing of an episode: costs of the ledger by cause."""

import pytest

from desim import play


def test_costs_by_cause_are_the_expenses_of_the_episode() -> None:
    """All steps included, and the charts have one value a step."""
    episode = play("edt", "greedy", 1, series=True)
    assert episode.inside is not None
    found = episode.inside.model.debriefing(episode.inside.state)
    book = episode.inside.state.controlling.book
    earned = -book.money(book.balance("revenue"))
    assert earned - sum(found.costs["firm"].values()) == pytest.approx(
        episode.series()["accumulated_earnings"][-1]
    )
    assert {len(line) for one in found.overlays for line in one.lines.values()} == {96}
    assert found.revealed.text.startswith("Projects under way had more seats than the firm had")
