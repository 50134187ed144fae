"""`desim audit`: the exploits of a world, of ours or of a user."""

import json
import sys
from pathlib import Path

import pytest
from support.command_line import Desim, refused
from support.piggy_bank import BANK, copied

SHORT = ("--episodes", "200", "--seeds", "50:54", "--held-out", "0:6", "--jobs", "1")


def test_an_exploit_of_a_users_world_fails_until_it_is_listed(desim: Desim, folder: Path) -> None:
    """`--write` lists it in the folder of the model."""
    copied(folder)
    found = desim("audit", BANK, *SHORT)
    assert found.code == 1
    assert "a plan outranks the honest rules of bank:PiggyBank/default" in found.err
    assert desim("audit", BANK, *SHORT, "--write", "debt counts").code == 0
    (listed,) = json.loads((folder / "exploits.json").read_text())["default"]
    assert (listed["score"], listed["honest"], listed["seeds"]) == (500, "greedy", "0:6")
    again = desim("audit", BANK, *SHORT, "--json")
    assert again.code == 0
    assert json.loads(again.out)["listed"] == [listed["name"]] == ["debt counts"]


def test_each_preset_has_a_table(desim: Desim) -> None:
    """And none of these is outranked by the first plans."""
    done = desim("audit", "beer_game/paper", "beer_game/classic", *SHORT, "--episodes", "5")
    assert done.code == 0
    assert "beer_game/classic" in done.out
    assert "beer_game/paper" in done.out


def test_a_damaged_list_is_refused(
    desim: Desim, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence that names the file, before an episode is played."""
    monkeypatch.delitem(sys.modules, "bank", raising=False)
    copied(folder)
    (folder / "exploits.json").write_text("[]")
    refused(desim("audit", BANK, *SHORT), "exploits.json holds no exploits")
