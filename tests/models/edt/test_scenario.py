"""Scenario documents: read, refused with their path, kept in the parameters."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desim import Episode, play, replay
from desim.catalog.changes import changed
from desim.errors import UsageError
from models.edt import EnterpriseDigitalTwin, Scenario
from models.edt.document import from_document, read, template

TEMPLATE = Path("models/edt/template.json").resolve()
INNER = "$.smEDT.scenarios.interactive"


def document() -> dict[str, Any]:
    """The template as plain JSON values."""
    plain: dict[str, Any] = json.loads(TEMPLATE.read_text())
    return plain


def inner(given: Any) -> Any:
    """The scenario inside a document."""
    return given["smEDT"]["scenarios"]["interactive"]


@pytest.mark.traces("edt/interactive.json")
def test_the_template_is_the_published_one(trace: Path) -> None:
    """Field by field."""
    published = json.loads(trace.read_text())
    assert from_document(published) == template()
    assert document() == published


def test_identical_agents_are_made_by_their_count() -> None:
    """`count` creates copies in place."""
    given = document()
    inner(given)["agents"][3]["count"] = 4
    scenario = from_document(given)
    assert len(scenario.consultants) == 15
    assert scenario.consultants[3:7] == (scenario.consultants[3],) * 4
    assert scenario.order[0] == ("consultant", 15)
    assert play(EnterpriseDigitalTwin(scenario=scenario), {}).metrics["consultants"] == 15


Fault = tuple[str, Callable[[Any], Any], str]


def consultant(s: Any) -> Any:
    """The properties of the second consultant."""
    return s["agents"][1]["properties"]


def project(s: Any) -> Any:
    """The properties of the first project."""
    return s["agents"][13]["properties"]


def put(where: Any, key: Any, value: Any) -> None:
    """Change one value."""
    where[key] = value


P = f"{INNER}.agents[13].properties"
FAULTS: list[Fault] = [
    ("missing required field `runspecs`", lambda s: s.pop("runspecs"), INNER),
    ("missing required field `dt`", lambda s: s["runspecs"].pop("dt"), f"{INNER}.runspecs"),
    ("'dt' must be > 0", lambda s: put(s["runspecs"], "dt", 0), f"{INNER}.runspecs.dt"),
    ("more than 100,000", lambda s: put(s["runspecs"], "dt", 1e-9), f"{INNER}.runspecs.dt"),
    (
        "Expected `float`",
        lambda s: put(s["runspecs"], "starttime", "1"),
        f"{INNER}.runspecs.starttime",
    ),
    ("'stoptime' must", lambda s: put(s["runspecs"], "stoptime", 0), f"{INNER}.runspecs.stoptime"),
    ("unknown field `dtt`", lambda s: put(s["runspecs"], "dtt", 1), f"{INNER}.runspecs"),
    (
        "'revenue_risk_level' must be <= 1",
        lambda s: put(s["properties"]["revenue_risk_level"], "value", 1.5),
        f"{INNER}.properties.revenue_risk_level.value",
    ),
    ("Expected `array`", lambda s: put(s, "agents", {}), f"{INNER}.agents"),
    (
        "'projct'; did you mean 'project'",
        lambda s: put(s["agents"][13], "name", "projct"),
        f"{INNER}.agents[13].name",
    ),
    ("`int` >= 0", lambda s: put(s["agents"][0], "count", -1), f"{INNER}.agents[0].count"),
    ("Expected `int`", lambda s: put(s["agents"][0], "count", not 0), f"{INNER}.agents[0].count"),
    ("more than 1,000 agents", lambda s: put(s["agents"][0], "count", 10**9), "agents[0].count"),
    ("exactly one controlling", lambda s: s["agents"].pop(12), INNER),
    ("exactly one controlling", lambda s: s["agents"].append(s["agents"][12]), INNER),
    (
        "missing required field `salary`",
        lambda s: consultant(s).pop("salary"),
        f"{INNER}.agents[1].properties",
    ),
    (
        "Invalid enum value 'String'",
        lambda s: put(consultant(s)["salary"], "type", "String"),
        f"{INNER}.agents[1].properties.salary.type",
    ),
    (
        "Expected `float`, got `str`",
        lambda s: put(consultant(s)["salary"], "value", "6"),
        ".value",
    ),
    (
        "Expected `float`, got `bool`",
        lambda s: put(consultant(s)["salary"], "value", not 0),
        ".value",
    ),
    ("'salary' must be >= 0", lambda s: put(consultant(s)["salary"], "value", -1), ".salary.value"),
    (
        "two consultants are named 'Consultant 1'",
        lambda s: put(consultant(s)["name"], "value", "Consultant 1"),
        f"{INNER}.agents[1].properties.name.value",
    ),
    ("at least one letter", lambda s: put(consultant(s)["name"], "value", ""), ".name.value"),
    (
        "'contracted_effort' must be >= 0",
        lambda s: put(project(s)["contracted_effort"], "value", -70.0),
        f"{P}.contracted_effort.value",
    ),
    (
        "'extension_probability' must be <= 1",
        lambda s: put(project(s)["extension_probability"], "value", 25),
        f"{P}.extension_probability.value",
    ),
    (
        "must not come before",
        lambda s: put(project(s)["deadline"], "value", 0.0),
        f"{P}.deadline.value",
    ),
    (
        "consultants=1.5 was given; it is a whole number",
        lambda s: put(project(s)["consultants"], "value", 1.5),
        f"{P}.consultants.value",
    ),
    ("'consultants' must be >= 1", lambda s: put(project(s)["consultants"], "value", 0), ".value"),
    ("Expected `bool`, got `int`", lambda s: put(project(s)["is_follow_on"], "value", 0), ".value"),
    ("Expected `object`, got `int`", lambda s: put(project(s), "deadline", 30), f"{P}.deadline"),
]


@pytest.mark.parametrize(("says", "spoil", "path"), FAULTS)
def test_a_malformed_scenario_is_one_clear_error_with_its_path(
    says: str, spoil: Callable[[Any], Any], path: str, tmp_path: Path
) -> None:
    """From a file and from the command line's parameters alike."""
    given = copy.deepcopy(document())
    spoil(inner(given))
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(given))
    with pytest.raises(ValueError, match=r"^scenario: ") as bad:
        EnterpriseDigitalTwin(scenario=str(file))
    text = str(bad.value)
    assert says in text
    assert f"{path}`" in text
    assert "\n" not in text
    with pytest.raises(UsageError, match=r"^scenario: "):
        changed(EnterpriseDigitalTwin(), {"scenario": str(file)})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, r"cannot read '.*': No such file"),
        ("", "Expecting value"),
        ("{", "Expecting property name"),
        ("[]", r"exactly one manager is expected, not \[\] - at `\$`"),
        ("{}", "exactly one manager is expected, not 0"),
        ('{"a": {}, "b": {}}', "not 2: a, b"),
        (
            '{"a": {"type": "sd", "name": "", "model": "", "scenarios": {}}}',
            "Invalid enum value 'sd'",
        ),
        ('{"a": {"type": "abm", "name": "", "model": "", "scenarios": {}}}', "one scenario is"),
        ('{"a": NaN}', "NaN is not a number"),
        ('{"a": 1, "a": 2}', "the key 'a' comes twice in one object"),
        ("[" * 100_000, "scenario: "),
        (b"\xff\xfe", "'utf-8' codec can't decode byte 0xff"),
    ],
)
def test_a_file_that_holds_no_scenario_is_refused(
    text: str | bytes | None, says: str, tmp_path: Path
) -> None:
    """In one sentence."""
    file = tmp_path / "scenario.json"
    if text is not None:
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ValueError, match=says):
        read(str(file))


def test_a_record_holds_all_it_needs(tmp_path: Path) -> None:
    """The file is read when the model is made, and may go."""
    given = document()
    inner(given)["properties"]["fixed_cost"]["value"] = 0
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(given))
    game = changed(EnterpriseDigitalTwin(), {"scenario": str(file)})
    play(game, "simple", record=tmp_path / "run.jsonl")
    file.unlink()
    assert Episode.read(tmp_path / "run.jsonl").header.build() == game
    episode = replay(tmp_path / "run.jsonl")
    assert episode.score == 7_116_500 + 95 * 20_000


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"consultants": ()}, "'order' must hold each agent once"),
        ({"order": (("consultant", 12), ("project", 10))}, "exactly one controlling"),
        ({"order": (("boss", 1),)}, "'order' must be runs of"),
        ({"order": (("consultant", 0),)}, "'order' must be runs of"),
        ({"stoptime": float("nan")}, "stoptime=nan was given; it is a finite number"),
        ({"revenue_risk_level": True}, "revenue_risk_level=True was given; it is a finite number"),
        ({"projects": template().projects[:9] * 2}, "two projects are named"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_scenario_that_is_built_wrong_is_refused(changes: dict[str, Any], says: str) -> None:
    """Classes hold themselves to what a document is held to."""
    import attrs

    if "projects" in changes:
        changes = {**changes, "order": (("consultant", 12), ("controlling", 1), ("project", 18))}
    with pytest.raises(ValueError, match=says):
        attrs.evolve(template(), **changes)


@pytest.mark.parametrize("dt", [1.0, 0.5, 0.25, 0.1, 0.3, 1 / 3, 7.0])
def test_steps_and_times_agree(dt: float) -> None:
    """Whatever binary fractions do."""
    import attrs

    scenario: Scenario = attrs.evolve(template(), dt=dt, stoptime=1 + 40 * dt)
    assert scenario.steps == 41
    for step in range(-3, 60):
        time = scenario.time(step)
        assert scenario.step_at(time) == scenario.first_step_from(time) == step
        assert scenario.last_step_until(time) == step
        assert scenario.step_at(time + dt / 3) is None
        assert scenario.first_step_from(time + dt / 3) == step + 1
