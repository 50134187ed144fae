"""`desim list`: tables for people, one JSON object for programs."""

import json

import pytest
from support.command_line import Desim, refused
from support.two_questions import WORKSHOP

from desim import catalog


def test_list_shows_a_line_for_each_world(desim: Desim, monkeypatch: pytest.MonkeyPatch) -> None:
    """In 80 columns, then the policies of every world."""
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = desim("list")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[1:8]] == list(catalog.models())
    assert lines[8].strip() == ""
    assert max(map(len, lines)) <= 80
    assert "policies of every world: greedy, random, rollout, script, replay, llm" in out


def test_list_shows_one_model(desim: Desim) -> None:
    """Its presets, roles, actions, policies and parameters, and the policies of every model."""
    code, out, err = desim("list", "beer_game/classic")
    assert (code, err) == (0, "")
    for text in ("firmbench, classic, poisson", "factory", "Stage", "Order goods", "base_stock"):
        assert text in out
    assert "script" in out
    assert "edt" not in out
    lines = [line.split() for line in out.splitlines()]
    assert ["horizon", "36", "Weeks,", "1", "to", "10,000."] in lines


def test_list_shows_the_revision_of_one_model(
    desim: Desim, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a model with parts those of the parts, and in JSON by part."""
    monkeypatch.setattr(catalog.model_class("beer_game"), "revision", 7)
    lines = desim("list", "beer_game").out.splitlines()
    assert ["revision", "7"] in [line.split() for line in lines]
    shown = json.loads(desim("list", "enterprise", "--json").out)["models"]["enterprise"]
    assert shown["revision"] == {"": 1, "treasury": 2, "plant": 7, "startup": 2}


def test_list_warns_of_a_preset_whose_scores_compare_with_no_others(desim: Desim) -> None:
    """Beside the presets, and in JSON by the preset's name."""
    assert "four times" in " ".join(desim("list", "yc_bench").out.split())
    warned = json.loads(desim("list", "yc_bench", "--json").out)["models"]["yc_bench"]["warnings"]
    assert {*warned} == {"default", "direct", "paper"}


def test_list_shows_a_model_of_the_users_own(desim: Desim) -> None:
    """Which has no policies of its own."""
    code, out, err = desim("list", "mine:World")
    assert (code, err) == (0, "")
    for text in ("The same game under another name.", "retailer", "Order", "greedy"):
        assert text in out
    assert "policies of mine:World" not in out


def test_list_names_all_classes_that_a_role_observes(desim: Desim) -> None:
    """The table has one column for them."""
    code, out, err = desim("list", WORKSHOP)
    assert (code, err) == (0, "")
    assert "Closing | Breakdown" in out


def test_list_as_json_is_one_object(desim: Desim) -> None:
    """With models, roles, actions, policies and their arguments."""
    code, out, err = desim("list", "--json")
    assert (code, err, out.count("\n")) == (0, "", 1)
    listed = json.loads(out)
    assert listed["models"].keys() == catalog.models().keys()
    assert {"greedy", "random", "script", "replay"} <= listed["policies"].keys()
    model = listed["models"]["beer_game"]
    assert model["presets"] == ["firmbench", "classic", "poisson", "paper"]
    retailer = model["roles"]["retailer"]
    assert (retailer["default"], retailer["observation"]) == (True, "Stage")
    assert retailer["actions"]["Order"].startswith("Order goods")
    assert model["policies"]["constant"]["arguments"] == [
        {"name": "quantity", "required": True, "default": None, "text": "Units, at least 0."}
    ]
    assert model["policies"]["constant"]["knows"] == "rules"
    assert listed["policies"]["random"]["draws"] is True
    assert "base_stock" in model["baselines"]


def test_list_shows_the_arguments_of_one_policy(desim: Desim) -> None:
    """Each with its default and what its docstring says, and those that a model adds."""
    code, out, err = desim("list", "--policy", "llm")
    assert (code, err) == (0, "")
    rows = {line.split()[0]: line for line in out.splitlines() if line}
    assert rows["knows"].startswith("knows observation: ")
    assert "required" in rows["model"]
    assert "300" in rows["timeout"]
    assert "Seconds for a whole call" in rows["timeout"]
    assert "In edt: Whether the prompt contains" in rows["feedback"]
    refused(desim("list", "--policy", "lm"), "did you mean 'llm'?")


def test_list_marks_what_a_policy_says_of_itself(
    desim: Desim, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a column of a table that has any, with the meaning below."""
    monkeypatch.setenv("COLUMNS", "80")
    out = desim("list", "beer_game").out
    assert [line.split()[:3] for line in out.splitlines() if line.startswith("constant")] == [
        ["constant", "quantity", "rules,"]
    ]
    assert "rules: uses constants of the world" in out
    assert "future: uses future events" in out
    assert max(map(len, out.splitlines())) <= 80


def test_list_says_what_has_lanes(desim: Desim) -> None:
    """The model in a line, its policies by a mark; other worlds and policies have none."""
    models = json.loads(desim("list", "--json").out)["models"]
    lanes = {name for name, model in models.items() if model["lanes"]}
    assert lanes == {"beer_game"}
    rules = models["beer_game"]["policies"]
    assert (rules["base_stock"]["lanes"], rules["perfect"]["lanes"]) == (True, False)
    out = desim("list", "beer_game").out
    assert "many seeds at once, with policies marked so" in out
    assert "lanes: its episodes of many seeds can be played at once" in out
    assert "lanes: " not in desim("list", "edt").out


def test_list_of_one_model_as_json(desim: Desim) -> None:
    """Has the same form with one model in it."""
    listed = json.loads(desim("list", "mine:World", "--json").out)
    assert [*listed["models"]] == ["mine:World"]


def test_list_of_an_unknown_model_is_refused(desim: Desim) -> None:
    """With the nearest name."""
    refused(desim("list", "beer_gam"), "did you mean 'beer_game'?")


@pytest.mark.parametrize(("columns", "width"), [("90", 90), (None, 200), ("0", 200), ("x", 200)])
def test_a_pipe_is_as_wide_as_columns_says(
    desim: Desim, monkeypatch: pytest.MonkeyPatch, columns: str | None, width: int
) -> None:
    """Without a width in the environment variable COLUMNS it has 200 columns."""
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    longest = max(map(len, desim("list", "beer_game").out.splitlines()))
    assert width - 20 < longest <= width
