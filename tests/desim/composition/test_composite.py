"""A composite's parameters: what it takes and refuses, and what is changed inside its parts."""

import pickle
from typing import Any

import msgspec
import pytest
from support.companies import FIRM, Firm, Hike
from support.small_worlds import Walk

from desim import Role, Run, catalog, play
from desim.composition import Composite, PartSpec
from desim.errors import Stuck, UsageError
from desim.schema import from_plain, to_plain

FIRMS = Composite({"north": Firm(), "south": PartSpec(model=Firm(periods=5), times=2)}, ends="any")


@pytest.mark.parametrize(
    "given",
    [
        Firm(),
        PartSpec(model=Firm()),
        FIRM,
        {"model": FIRM},
        {"model": FIRM, "params": {"periods": 3}},
        PartSpec(model=FIRM),
    ],
)
def test_a_part_is_a_model_its_name_or_its_plain_values(given: Any) -> None:
    """All of these are the same part, with all its parameters."""
    composite = Composite({"firm": given})
    assert composite == Composite({"firm": Firm()})
    assert composite.models == {"firm": Firm()}
    assert composite.parts["firm"].params == to_plain(Firm())


def test_a_preset_is_named_behind_a_slash() -> None:
    """Parameters that are given replace its own."""
    part = PartSpec(model="beer_game/classic", params={"horizon": 3})
    assert part.built == catalog.model("beer_game/classic", changes={"horizon": "3"})
    assert (part.model, part.params["horizon"]) == ("beer_game", 3)


@pytest.mark.parametrize("model", [FIRMS, Composite({"inside": FIRMS, "firm": FIRM})])
def test_a_composite_survives_pickling_and_json(model: Composite) -> None:
    """Also one inside another."""
    assert pickle.loads(pickle.dumps(model)) == model  # noqa: S301 (our own bytes)
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(model)))
    assert from_plain(plain, Composite) == model
    assert from_plain(plain, Composite).models == model.models


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({}, "parts={} was given; it maps 1 to 1,000 names to models"),
        ({f"p{n}": FIRM for n in range(1_001)}, "it maps 1 to 1,000 names to models"),
        ([Firm()], "it maps 1 to 1,000 names to models"),
        ({"a b": Firm()}, "'a b' was given as a part's name; it consists of letters"),
        ({"a.b": Firm()}, "'a.b' was given as a part's name"),
        ({"": Firm()}, "'' was given as a part's name"),
        ({7: Firm()}, "7 was given as a part's name"),
        ({"all": Firm()}, "is none of all, any, parts, links, start, ends"),
        ({"ends": Firm()}, "is none of all, any, parts, links, start, ends"),
        ({"firm": Firm}, r"part firm: <class .*> is no model"),
        ({"firm": 7}, "part firm: 7 is no model"),
        ({"firm": "beer_gam"}, "part firm: there is no model 'beer_gam'; did you mean 'beer_game'"),
        ({"firm": "support.companies:company"}, "part firm: .* is no model"),
        ({"firm": {"model": FIRM, "params": {"period": 3}}}, "part firm: .*did you mean 'periods'"),
        ({"firm": {"model": FIRM, "params": {"periods": -1}}}, "part firm: .*periods"),
        ({"firm": {"modle": FIRM}}, "part firm: .*'modle'"),
        ({"firm": {"model": FIRM, "weight": float("nan")}}, "part firm: weight=nan"),
        ({"firm": {"model": FIRM, "weight": float("inf")}}, "part firm: weight=inf"),
        ({"firm": {"model": FIRM, "times": 0}}, "part firm: .*times"),
        ({"firm": {"model": FIRM, "times": 1_001}}, "part firm: .*times"),
        ({"firm": {"model": FIRM, "times": True}}, "part firm: times=True"),
        (
            {"firm": {"model": FIRM, "start": "2025-13-01"}},
            "start='2025-13-01' was given",
        ),
        ({"firm": {"model": FIRM, "start": ""}}, "part firm: start='' was given"),
        ({"firm": {"model": "beer_game/classik"}}, "did you mean 'classic'"),
    ],
)
def test_parts_that_are_none_are_refused(parts: Any, says: str) -> None:
    """With the part, what was given and what is possible."""
    with pytest.raises((TypeError, ValueError), match=says):
        Composite(parts)


def test_a_part_whose_ticks_have_no_dates_does_not_begin() -> None:
    """It cannot be placed on the common clock."""
    with pytest.raises(UsageError, match="part 'walk', Walk, has no calendar for its ticks"):
        play(Composite({"walk": Walk()}), "greedy")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"ends": "firms"}, "no part 'firms'; did you mean 'firm'? Possible: all, any, firm"),
        ({"ends": ""}, "there is no part ''"),
        ({"ends": "firm,"}, "there is no part ''"),
        ({"ends": 7}, "there is no part '7'"),
        ({"start": "tomorrow"}, "start='tomorrow' was given; it is a date such as 2025-01-01"),
        ({"start": ""}, "start='' was given"),
        ({"start": None}, "start=None was given"),
    ],
)
def test_other_parameters_are_checked(options: Any, says: str) -> None:
    """When the composite is made."""
    with pytest.raises(ValueError) as refused:  # noqa: PT011 (the text is compared below)
        Composite({"firm": Firm()}, **options)
    assert says in str(refused.value)


def test_a_part_cannot_begin_before_the_group() -> None:
    """It would have to be played in the past."""
    early = Composite({"firm": PartSpec(model=Firm(), start="2024-12-31")})
    with pytest.raises(UsageError, match="begins on 2024-12-31, before the start on 2025-01-01"):
        Run(early)


def test_an_event_without_a_date_is_an_error() -> None:
    """The calendar ends with the year 9999."""
    with pytest.raises(UsageError, match=r"'firm' has an event at its t=1000001, which has"):
        play(Composite({"firm": Firm(fault="far")}), "greedy")


# -- parameters inside -----------------------------------------------------------------------------


def test_a_parameter_of_a_part_is_changed_by_its_path() -> None:
    """Also of a part of a part; the rest of the part stays."""
    nested = Composite({"west": FIRMS, "east": Firm()})
    changed = catalog.changed(nested, {"west.south.periods": "7", "east.ticks": "days"})
    west = changed.models["west"]
    assert isinstance(west, Composite)
    assert west.models == {"north": Firm(), "south": Firm(periods=7)}
    assert (west.parts["south"].times, west.ends) == (2, "any")
    assert changed.models["east"] == Firm(ticks="days")
    assert catalog.changed(nested, {"west.ends": "all"}).models["west"].ends == "all"  # type: ignore[attr-defined]


def test_a_field_inside_a_parameter_of_a_part_is_changed() -> None:
    """As in the model alone."""
    plain = Composite({"plant": "edt", "lender": Firm()})
    changed = catalog.changed(plain, {"plant.scenario.fixed_cost": "5"})
    assert changed.models["plant"] == catalog.model("edt", changes={"scenario.fixed_cost": "5"})


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("nort.periods", "3", "has no parameter 'nort'; did you mean 'north'"),
        ("north.period", "3", "has no parameter 'north.period'; did you mean 'north.periods'"),
        ("north.periods", "-1", "north: .*periods"),
        ("north.ticks", "years", "north: .*ticks"),
        ("north", "3", "has no parameter 'north'"),
        ("north.periods.deep", "3", "has no parameters inside"),
        ("ends", "nobody", "no part 'nobody'"),
    ],
)
def test_a_change_that_does_not_fit_is_refused(name: str, value: str, says: str) -> None:
    """With the whole path."""
    with pytest.raises(UsageError, match=says):
        catalog.changed(FIRMS, {name: value})


# -- what it offers --------------------------------------------------------------------------------


def test_roles_are_those_of_the_parts() -> None:
    """Under the names of the parts; the default roles are theirs."""
    model = Composite({"west": FIRMS, "walk": Hike()})
    assert list(model.roles) == [
        "west.north.boss",
        "west.north.auditor",
        "west.south.boss",
        "west.south.auditor",
        "walk.walker",
        "walk.helper",
    ]
    assert model.default_roles == ("west.north.boss", "west.south.boss", "walk.walker")
    assert isinstance(model.roles["walk.walker"], Role)


def test_a_role_of_a_part_may_be_asked_as_often_as_alone() -> None:
    """The limit is that of the part's model, and the error names the part and the role."""
    model = Composite({"firm": Firm(fault="nag"), "walk": Hike()})
    with pytest.raises(Stuck, match=r"'firm.boss' was asked 21 times .*per_tick is 20"):
        play(model, "greedy")


def test_series_tables_and_statements_are_those_of_the_parts() -> None:
    """Under their names."""
    episode = play(Composite({"north": Firm(), "walk": Hike()}), "greedy", series=True)
    assert list(episode.series()) == ["north.cash"]
    assert len(episode.series()["north.cash"]) == 3
    run = Run(FIRMS)
    run.advance()
    assert FIRMS.tables(run.state, "north.boss") == {"cash of the boss": []}
    assert list(FIRMS.statements(run.state)) == ["north.income", "south.income"]
