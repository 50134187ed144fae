"""A user's group of models, by the name of the function that returns it."""

import json
from pathlib import Path

import pytest
from support.command_line import Desim, refused

GROUP = '''
from desim.composition import Composite, AFTER_PARTS
from support.companies import Firm, pay_weekly
from models.beer_game import BeerGame


class Own(Firm):
    """A firm of the user's."""


def company():
    """A plant and two firms, of which one pays the other."""
    parts = {"plant": BeerGame.preset("poisson", horizon=6), "north": Firm(), "south": Own()}
    return Composite(parts, links=pay_weekly)


def game():
    return BeerGame.preset("poisson", horizon=4)


def sized(horizon):
    return BeerGame(horizon=horizon)


def broken():
    raise LookupError("no deed")


def nothing():
    return BeerGame
'''


@pytest.fixture(autouse=True)
def group(folder: Path) -> Path:
    """Put the user's module into the folder."""
    (folder / "my_group.py").write_text(GROUP)
    return folder


PLAYED = (
    *("--policy", "plant.retailer=order_up_to"),
    *("--policy", "north=greedy"),
    *("--policy", "south=random"),
)


def test_a_group_is_run_by_name(process: Desim) -> None:
    """With policies and parameters of its parts; a table shows a few figures of each part."""
    code, out, err = process("run", "my_group:company", *PLAYED, "--set", "plant.horizon=10")
    assert (code, err) == (0, "")
    lines = dict(line.split("  ", 1) for line in out.splitlines())
    assert lines["ended"].strip() == "plant: horizon; north: closed; south: closed"
    for part in ("plant", "north", "south"):
        assert {f"{part}.score", f"{part}.ended"} <= lines.keys()
    assert sum(name.startswith("plant.") for name in lines) == 4
    assert lines["more metrics"].strip() == "13; --json prints all"


def test_a_record_of_a_group_needs_its_module(process: Desim, shell: Desim) -> None:
    """It names the class and all parameters; the module of parts and links is named again."""
    assert process("run", "my_group:company", *PLAYED, "--record", "r.jsonl").code == 0
    # A new Python: what a forked one has imported already is not imported by the record.
    refused(shell("replay", "r.jsonl"), "call 'support.companies:pay_weekly'; import module")
    code, out, err = process("replay", "r.jsonl", "--trust")
    assert (code, err) == (0, "")
    assert "replayed, all the same" in out
    assert process("export", "r.jsonl", "--trust").code == 0


def test_a_group_is_swept_and_ranked(process: Desim) -> None:
    """Each by the name of the function."""
    sweep = ("sweep", "my_group:company", *PLAYED, "--set", "plant.horizon=4,8", "--seeds", "0:2")
    code, out, err = process(*sweep, "--jobs", "2", "--json")
    assert (code, err) == (0, "")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["metrics"]["plant.weeks_completed"] for row in rows] == [4, 4, 8, 8]
    code, out, err = process("baselines", "my_group:company", "--seeds", "0:2", "--jobs", "1")
    assert (code, err) == (0, "")
    assert out.startswith("my_group:company: 4 episodes over 2 seeds")


def test_a_group_is_listed(desim: Desim) -> None:
    """With its parts, their roles, and the policies of each part's model."""
    code, out, err = desim("list", "my_group:company")
    assert (code, err) == (0, "")
    for text in (
        "A plant and two firms, of which one pays the other.",
        "plant (beer_game), north (support.companies:Firm), south (my_group:Own)",
        "plant.retailer",
        "policies of plant, beer_game",
        "order_up_to",
        "north.boss",
    ):
        assert text in out
    listed = json.loads(desim("list", "my_group:company", "--json").out)
    plant = listed["models"]["my_group:company"]["parts"]["plant"]
    assert (plant["name"], "order_up_to" in plant["policies"]) == ("beer_game", True)


@pytest.mark.parametrize("command", ["run", "baselines", "sweep", "list"])
@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("sized", "my_group:sized needs arguments; a function that returns a model takes none"),
        ("broken", "my_group:broken failed in broken (my_group.py, line "),
        (
            "nothing",
            "returned <class 'models.beer_game.model.BeerGame'>, which is no model",
        ),
        ("compny", "no class or function 'compny' in 'my_group'; did you mean 'company'?"),
        (
            "company/classic",
            "preset 'classic' was given; the function my_group:company",
        ),
    ],
)
def test_a_function_that_returns_no_model_is_refused(
    desim: Desim, command: str, function: str, says: str
) -> None:
    """In one sentence, by every command that takes a model."""
    refused(desim(command, f"my_group:{function}"), says)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--policy", "plant=greedy"), "role 'north.boss' needs a policy"),
        (
            (*PLAYED, "--policy", "nort=greedy"),
            "there is no role 'nort'; Possible: plant.retailer",
        ),
        ((*PLAYED, "--policy", "plant=greedy"), "two policies for 'plant.retailer' were given"),
        (("--policy", "order_up_to"), "no policy 'order_up_to' for support.companies:Firm"),
        ((*PLAYED, "--set", "plan.horizon=4"), "no parameter 'plan'; did you mean 'plant'"),
        ((*PLAYED, "--set", "plant.horizn=4"), "did you mean 'plant.horizon'"),
        ((*PLAYED, "--set", "plant.horizon=x"), "plant.horizon"),
    ],
)
def test_wrong_names_of_parts_are_refused(
    desim: Desim, arguments: tuple[str, ...], says: str
) -> None:
    """With the nearest one."""
    refused(desim("run", "my_group:company", *arguments), says)
