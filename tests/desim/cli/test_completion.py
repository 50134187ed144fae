"""A shell completes models, presets, roles and policies."""

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from desim import catalog
from desim.catalog import presets
from desim.cli.main import main
from models.beer_game import BeerGame


def completions(*typed: str) -> list[str]:
    """Return what a shell offers for the last word."""
    shell = ShellComplete(main, {}, "desim", "_DESIM_COMPLETE")
    return [item.value for item in shell.get_completions([*typed[:-1]], typed[-1])]


@pytest.mark.parametrize("command", ["run", "baselines", "sweep", "play", "schema", "list"])
def test_models_are_completed(command: str) -> None:
    """In every command that takes one; behind a slash, their presets."""
    assert "beer_game" in completions(command, "beer")
    assert completions(command, "beer_game/c")[:1] == ["beer_game/classic"]
    assert "classic" not in completions(command, "")


@pytest.mark.parametrize("model", ["beer_game", "beer_game/poisson"])
def test_presets_are_those_of_the_model(model: str) -> None:
    """That was typed before the option."""
    assert completions("run", model, "--preset", "") == list(presets(BeerGame))
    assert completions("run", model, "--seed", "1", "--preset", "cl") == ["classic"]


def test_policies_are_those_of_the_model_and_of_every_model() -> None:
    """Also behind a role."""
    offered = completions("run", "beer_game", "--policy", "")
    assert offered == [*catalog.policies(catalog.models()["beer_game"]), *catalog.policies()]
    assert completions("sweep", "beer_game", "--policy", "base") == ["base_stock"]
    assert completions("run", "beer_game", "--policy", "retailer=base") == ["retailer=base_stock"]
    assert "base_stock" not in completions("run", "edt", "--policy", "")


def test_roles_are_those_of_the_preset() -> None:
    """For the person who plays."""
    assert "brewery" in completions("play", "beer_game", "--seat", "")
    assert "factory" in completions("play", "beer_game", "--preset", "classic", "--seat", "")
    assert "factory" in completions("play", "beer_game/classic", "--seat", "")


def test_a_model_of_the_users_own_is_completed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the current folder; a module that fails to import offers nothing and is silent."""
    monkeypatch.syspath_prepend(str(folder))
    assert "classic" in completions("run", "mine:World", "--preset", "")
    assert completions("run", "absent:World", "--preset", "") == []
    assert "greedy" in completions("run", "absent:World", "--policy", "")


def test_without_a_model_there_is_no_preset_to_offer() -> None:
    """But there are the policies of every model, the commands and the options."""
    assert completions("run", "--preset", "") == []
    assert completions("run", "--policy", "") == [*catalog.policies()]
    assert completions("base") == ["baselines"]
    assert "--preset" in completions("run", "--")
