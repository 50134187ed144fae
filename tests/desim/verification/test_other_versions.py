"""An entry that differs is refused only where it was made with the versions here."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from desim.cli.main import main
from desim.verification import checked_jobs, played_again

SUITE = """
seeds = "0:2"

[worlds.game]
model = "beer_game/poisson"
set = { horizon = 6 }

[entries.order]
policy = "order_up_to"
"""

OTHER = {"python": "3.99.0", "numpy": "9.0", "simpy": "4.1.1"}


def run(*arguments: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    """An honest entry of a rule, whose records are not in it."""
    (tmp_path / "suite.toml").write_text(SUITE, encoding="utf-8")
    run("bench", tmp_path / "suite.toml", "--out", tmp_path / "results")
    run("submit", tmp_path / "results", "--out", tmp_path / "entry")
    return tmp_path / "entry"


def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make verification believe that it runs with other versions."""
    for module in (checked_jobs, played_again):
        monkeypatch.setattr(module, "versions", lambda: OTHER)


def test_a_record_made_with_other_versions_is_accepted_where_it_is_the_same(
    entry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions are evidence, not a condition."""
    elsewhere(monkeypatch)
    assert run("verify", entry).exit_code == 0


def test_an_entry_that_differs_is_not_decidable_with_other_versions(
    entry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its records are not in the folder: the manifest states the versions."""
    monkeypatch.setattr(checked_jobs, "content_digest", lambda _: "0" * 64)
    assert run("verify", entry).exit_code == 1
    elsewhere(monkeypatch)
    done = run("verify", entry)
    assert done.exit_code == 2
    assert "is not what its policy plays; it was made with python 3.1" in done.output
    assert "here are python 3.99.0, numpy 9.0, simpy 4.1.1: verify it there" in done.output


def test_entries_share_processes_also_after_a_refusal(entry: Path, tmp_path: Path) -> None:
    """Nothing of one entry is left in them for the next."""
    suite = (entry / "suite.toml").read_text(encoding="utf-8")
    (tmp_path / "many.toml").write_text(suite.replace("0:2", "0:20"), encoding="utf-8")
    run("bench", tmp_path / "many.toml", "--out", tmp_path / "many")
    run("submit", tmp_path / "many", "--out", tmp_path / "honest")
    run("submit", tmp_path / "many", "--out", tmp_path / "false")
    manifest = tmp_path / "false" / "manifest.json"
    records = json.loads(manifest.read_bytes())["records"]
    manifest.write_text(
        manifest.read_text(encoding="utf-8").replace(next(iter(records.values())), "0" * 64),
        encoding="utf-8",
    )
    done = run("verify", tmp_path / "false", tmp_path / "honest", "--jobs", "2")
    assert done.exit_code == 1
    assert done.stdout.count(" is not what its policy plays") == 1
    assert "accepted: 20 episodes" in done.stdout
