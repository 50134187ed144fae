"""`check` names every promise that a world breaks, and passes a world that keeps them all."""

from collections.abc import Mapping
from random import random
from typing import Any

import pytest
from attrs import frozen
from support.faulty_world import (
    CHECK_OF,
    FAULTS,
    FAULTY,
    STALL,
    Bake,
    BrokenStall,
    BurningStall,
    LooseStall,
    Morning,
    RefusingStall,
    RigidStall,
    SilentStall,
    SmallStall,
    Stall,
)

from desim import Role, UsageError, World, check
from desim.core.reported import Figures
from desim.show.column import Column
from desim.studies.checks import CHECKS, FURTHER_CHECKS


def failures(model: object, outcome: str = "FAILED") -> dict[str, str]:
    """Return by name the sentences of the checks with an outcome."""
    found = check(model, seeds=[0]).findings
    return {one.check: one.text for one in found if one.outcome == outcome}


def test_a_sound_world_passes_every_check() -> None:
    """The stall has all optional members that are checked."""
    found = check(Stall)
    assert {one.outcome for one in found.findings} == {"ok"}
    assert [one.check for one in found.findings] == [
        "builds",
        *(one.__name__ for one in (*CHECKS, *FURTHER_CHECKS)),
    ]
    assert not found.failed


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_fails_its_own_check_alone(fault: str) -> None:
    """So that a reader mends one thing for each line of the table."""
    found = failures(Stall((fault,)))
    (name,) = found
    assert name == CHECK_OF.get(fault, fault)
    assert FAULTS[fault] in found[name]


def test_all_faults_are_found_at_once() -> None:
    """But not what can be said only of an episode that repeats itself."""
    assert set(failures(FAULTY)) == {"repeats", "observations", "results", "ledgers"}


def test_a_failed_check_names_the_function() -> None:
    """Where the sentence alone does not say where to look."""
    assert "RigidStall._observed" in failures(Stall(("futures",)))["futures"]


def test_parameters_that_can_be_changed_are_found() -> None:
    """Episodes share a model."""
    assert "an episode can change 'faults'" in failures(LooseStall)["parameters"]


@frozen
class Misspelled(Stall):
    """Means `statements`."""

    def statement(self, _state: object) -> None:
        """Return nothing."""


def test_a_name_that_is_nearly_that_of_a_member_is_advice() -> None:
    """The member would be left out in silence."""
    text = failures(Misspelled, "advice")["parameters"]
    assert text == "'statement' is no member of desim.Model; did you mean 'statements'?"


@frozen
class Global(Stall):
    """Draws from a generator that others share, and describes a metric that it does not report."""

    @property
    def figures(self) -> Figures:
        """Describe the loaves sold, and the loaves lost."""
        return Figures(columns={"sold": Column("loaves"), "lost": Column("loaves")})

    def begin(self, world: World) -> Any:
        """Waste a draw."""
        random()  # noqa: S311 (no secret)
        return super().begin(world)


def test_global_generators_and_columns_that_nothing_fills_are_advice() -> None:
    """Of the model itself; parts are checked by their own names."""
    found = failures(Global, "advice")
    assert "draws from random or numpy.random" in found["repeats"]
    assert found["results"] == "`figures` names 'lost', which is no metric"


def test_a_demand_drawn_ahead_is_advice() -> None:
    """A model without `redraw` has one future, which the world may want; it passes."""
    assert failures(RigidStall) == {}
    assert (
        "futures after decision 5 of 16 do not differ" in failures(RigidStall, "advice")["futures"]
    )


def test_a_model_that_fails_is_one_finding() -> None:
    """The checks that need an ended episode are not made."""
    found = check(BrokenStall)
    (failed,) = found.failed
    assert (failed.check, found.findings[-1]) == ("plays", failed)
    assert "RuntimeError: the oven is cold" in failed.text
    assert "BrokenStall._observed (faulty_world.py, line " in failed.text


def test_an_option_that_breaks_the_model_is_found() -> None:
    """It is taken at random, or tried at the first decisions."""
    (text,) = failures(BurningStall).values()
    assert "the oven burns" in text
    assert "BurningStall._days (faulty_world.py, line " in text


@frozen
class MuteStall(Stall):
    """Offers no options."""

    @property
    def roles(self) -> Mapping[str, Role]:
        """The seller alone."""
        return {"seller": Role(Morning, Bake)}


def test_a_role_without_options_is_found() -> None:
    """Nothing can be played then, as by `random` and `greedy`."""
    found = failures(MuteStall)
    assert [*found] == ["plays"]
    assert "options" in found["plays"]


def test_an_option_that_is_refused_is_found() -> None:
    """Where an observation has the field `refusal`, as on the page of the Python API."""
    text = failures(RefusingStall)["options"]
    assert text.startswith("'helper' took the option {")
    assert text.endswith(" at t=1, which was refused: 'no flour'")


def test_an_action_at_its_limit_that_breaks_the_model_is_found() -> None:
    """The smallest and the largest action of each role are tried."""
    text = failures(SmallStall)["actions"]
    assert "'seller' took Bake(loaves=1000) at t=0, and the model failed" in text
    assert "SmallStall._days (faulty_world.py, line " in text


def test_a_field_without_description_or_limit_is_advice() -> None:
    """Language models and forms show descriptions, and agents read the limits of a schema."""
    text = failures(SilentStall, "advice")["schema"]
    assert text.startswith("Rest.why: no description in the docstring")
    assert "; Rest.why: no limit; a validator states one" in text


def test_the_table_has_a_line_for_each_check() -> None:
    """With its sentence; presets with the same outcome share it."""
    shown = str(check("support.small_worlds:Walk"))
    assert "Walk/short, support.small_worlds:Walk/long" in shown
    assert shown.count("\nplays ") == 1
    assert "advice" in shown


def test_a_preset_that_cannot_be_built_is_a_finding() -> None:
    """The others are checked."""

    class Bad(Stall):
        presets = {"good": {}, "bad": {"flour": 3}}  # noqa: RUF012 (a class of one test)

    found = check(Bad)
    (failed,) = (one for one in found.failed if one.check == "builds")
    assert "Bad has no parameter 'flour'" in failed.text


def test_an_unknown_preset_is_wrong_usage() -> None:
    """No check is made."""
    with pytest.raises(UsageError, match="has no preset 'nine'"):
        check(f"{STALL}/nine")
