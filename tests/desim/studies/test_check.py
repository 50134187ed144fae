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
from support.small_worlds import STRIDE, WALK, Stride, Tally

from desim import Role, UsageError, World, check
from desim.core.reported import Figures
from desim.show.column import Column
from desim.studies.check import CHECKS


def failures(model: object, outcome: str = "FAILED") -> dict[str, tuple[str, str]]:
    """Return by name the sentences and places of the checks with an outcome."""
    found = check(model, seeds=[0]).findings
    return {one.check: (one.text, one.place) for one in found if one.outcome == outcome}


def test_a_sound_world_passes_every_check() -> None:
    """None is skipped, as the stall has all optional members that are checked."""
    found = check(Stall)
    assert {one.outcome for one in found.findings} == {"ok"}
    assert [one.check for one in found.findings] == ["builds", *CHECKS]
    assert found.ok


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_fails_its_own_check_alone(fault: str) -> None:
    """So that a reader mends one thing for each line of the table."""
    found = failures(Stall((fault,)))
    (name,) = found
    assert name == CHECK_OF.get(fault, fault)
    assert FAULTS[fault] in found[name][0]


def test_all_faults_are_found_at_once() -> None:
    """But not what can be said only of an episode that repeats itself."""
    found = failures(FAULTY)
    assert set(found) == {"repeats", "observations", "options", "results", "ledgers"}


@pytest.mark.parametrize(
    ("fault", "place"),
    [
        ("options", "RigidStall._options"),
        ("redraws", "RigidStall._observed"),
        ("series", "RigidStall.series"),
        ("ledgers", "Crumbs"),
    ],
)
def test_a_failed_check_names_the_place(fault: str, place: str) -> None:
    """The class or function with its file and line."""
    (_, found) = failures(Stall((fault,)))[CHECK_OF.get(fault, fault)]
    assert found.startswith(f"{place} (faulty_world.py, line ")


def test_parameters_that_can_be_changed_are_found() -> None:
    """Episodes share a model."""
    assert "an episode can change 'faults'" in failures(LooseStall)["parameters"][0]


@frozen
class Misspelled(Stall):
    """Means `trace_spans`."""

    def trace_span(self, _state: object) -> None:
        """Return nothing."""


def test_a_name_that_is_nearly_that_of_a_member_is_advice() -> None:
    """The member would be left out in silence."""
    text, _ = failures(Misspelled, "advice")["parameters"]
    assert text == "'trace_span' is no member of desim.Model; did you mean 'trace_spans'?"


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
    assert "draws from random or numpy.random" in found["repeats"][0]
    assert found["results"][0] == "`figures.columns` names 'lost', which is no metric"


def test_a_demand_drawn_ahead_is_advice() -> None:
    """A model without `redraw` has one future, which the world may want; it passes."""
    assert failures(RigidStall) == {}
    text, _ = failures(RigidStall, "advice")["futures"]
    assert "futures after decision 5 of 16 do not differ" in text


def test_a_model_that_fails_is_one_finding() -> None:
    """The checks that need an ended episode are skipped."""
    found = check(BrokenStall)
    (failed,) = found.failed
    assert failed.check == "plays"
    assert "RuntimeError: the oven is cold" in failed.text
    assert failed.place.startswith("BrokenStall._observed (faulty_world.py, line ")
    skipped = {one.check for one in found.findings if one.outcome == "skipped"}
    assert {"repeats", "resumes", "redraws", "results", "ledgers"} <= skipped


def test_an_option_that_breaks_the_model_is_found() -> None:
    """Each option of the first decisions is tried."""
    text, place = failures(BurningStall)["options"]
    assert "'seller' took the option Bake(loaves=-1) at t=0, and the model failed" in text
    assert place.startswith("BurningStall._days (faulty_world.py, line ")


@frozen
class MuteStall(Stall):
    """Offers no options."""

    @property
    def roles(self) -> Mapping[str, Role]:
        """The seller alone."""
        return {"seller": Role(Morning, Bake)}


def test_a_role_without_options_is_found() -> None:
    """The least action of its schema plays the rest."""
    found = failures(MuteStall)
    assert [*found] == ["options"]
    assert found["options"][0].startswith("the role 'seller' has no options, so `random`")
    assert found["options"][1].startswith("MuteStall.roles (test_check.py, line ")


def test_an_option_that_is_refused_is_found() -> None:
    """Where an observation has the field `refusal`, as on the page of the Python API."""
    text, place = failures(RefusingStall)["options"]
    assert text.startswith("'helper' took the option {")
    assert text.endswith(" at t=1, which was refused: 'no flour'")
    assert place.startswith("RigidStall._options (faulty_world.py, line ")


def test_an_action_at_its_limit_that_breaks_the_model_is_found() -> None:
    """The smallest and the largest action of each role are tried."""
    text, place = failures(SmallStall)["limits"]
    assert "'seller' took Bake(loaves=1000) at t=0, and the model failed" in text
    assert place.startswith("SmallStall._days (faulty_world.py, line ")


def test_a_field_without_limit_is_advice() -> None:
    """Agents read the limits of a schema."""
    text, _ = failures(SilentStall, "advice")["limits"]
    assert text.startswith("why of Rest ('seller') has no limit")


def test_a_field_without_description_is_advice() -> None:
    """Language models and forms show descriptions."""
    text, place = failures(SilentStall, "advice")["schema"]
    assert text.startswith("why of Rest ('seller') has no description in the docstring")
    assert place.startswith("Rest (faulty_world.py, line ")


def test_a_policy_that_keeps_state_in_its_class_is_found() -> None:
    """The check of a policy is made where one is given."""
    ok, failed = (check(WALK, policies=one, preset="short").findings[-1] for one in (STRIDE, Tally))
    assert (ok.check, ok.outcome, failed.outcome) == ("policy", "ok", "FAILED")
    assert "keep no state in its class" in failed.text


class Seeted(Stride):
    """Means `seated`."""

    def seted(self, _seat: object) -> None:
        """Take no seat."""


def test_a_name_that_is_nearly_that_of_a_member_of_a_policy_is_advice() -> None:
    """The member would be left out in silence."""
    found = check(WALK, policies=Seeted, preset="short").findings[-1]
    assert (found.check, found.outcome) == ("policy", "advice")
    assert found.text == "'seted' is no member of desim.Policy; did you mean 'seated'?"


def test_the_table_has_a_line_for_each_check() -> None:
    """With the sentence and the place; presets with the same outcome share it."""
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
