"""`desim list`: tables for people, one JSON object for programs."""

import json

import pytest
from support.command_line import Desim, refused

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


def test_list_shows_a_model_of_the_users_own(desim: Desim) -> None:
    """Which has no policies of its own."""
    code, out, err = desim("list", "mine:World")
    assert (code, err) == (0, "")
    for text in ("The same game under another name.", "retailer", "Order", "greedy"):
        assert text in out
    assert "policies of mine:World" not in out


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
