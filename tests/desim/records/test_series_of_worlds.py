"""Every world's series: declared, dated, at known ticks; recording them changes no episode."""

from typing import Any

import pytest

from desim import catalog, play
from desim.show.column import Column

WORLDS = catalog.models()

#: What a newcomer looks for in each kind of world, by a word of its name; each world has all words
#: of one line.
LOOKED_FOR = (
    {"orders", "inventory", "backlog", "cost"},
    {"cash", "staff", "projects_under_way", "utilisation"},
    {"funds", "staff", "tasks_under_way", "utilisation"},
    {"cash", "net_worth", "inventory", "tasks_under_way"},
    {"cash", "debt", "users", "closings"},
    {"words", "facts"},
    {"right"},
)


def first(name: str) -> tuple[Any, str]:
    """Return a world and its first baseline."""
    model = catalog.model(name)
    return model, catalog.baselines(model)[0]


@pytest.mark.parametrize("name", WORLDS)
def test_every_series_is_declared(name: str) -> None:
    """With a unit, at ticks that never decrease, and a date; so frames need no code of a user."""
    episode = play(*first(name), series=True)
    assert episode == play(*first(name)), "recording changes no episode"
    assert episode.inside is not None
    series, columns = episode.series(), episode.inside.model.figures.series
    ticks = episode.inside.series[1]
    assert series.keys() | episode.points().keys() <= columns.keys()
    assert all(column.unit and column.period != Column().period for column in columns.values())
    for each, values in series.items():
        assert len(ticks[each]) == len(values) > 0
        assert list(ticks[each]) == sorted(ticks[each])
    table = episode.columns()
    assert None not in table["time"]
    assert None not in table["date"]
    assert any(all(any(word in each for each in series) for word in line) for line in LOOKED_FOR)
