"""Entries whose suite names a rule of the submitter's own."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.page_blocks import importable

from desim.cli.main import main
from desim.verification.entries.entry_folder import EntryFolder
from desim.verification.rule_code import code_digest
from desim.verification.signed.canonical import canonical

#: A seed that a rule would recognise in memory.
SEED = 918273645

#: Covers `weeks` of demand, as in the README.
COVER = '''
from attrs import frozen
from models.beer_game import Order, Stage


@frozen
class Cover:
    """Keep `weeks` of demand on hand and under way."""

    weeks: int = 4

    def decide(self, stage: Stage) -> Order:
        want = self.weeks * stage.incoming_order
        return Order(max(0, want - stage.inventory - stage.supply_line + stage.backlog))
'''

_SUITE = """
title = "A rule in a short game"
seeds = [{seed}]

[worlds.game]
model = "{world}"
set = {{ horizon = 6 }}
episodes = {episodes}

[entries.own]
policy = "{policy}"
"""


def run(*words: object) -> str:
    """Run a command that must succeed, and return what it prints."""
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


def own_entry(
    folder: Path,
    policy: str,
    files: Mapping[str, str],
    *options: object,
    episodes: int = 1,
    world: str = "beer_game/poisson",
) -> Path:
    """Play a suite with a rule of one's own, and return the folder of its entry.

    Args:
        folder: An empty folder.
        policy: The spec of the rule.
        files: Its modules by path; none of them can be imported afterwards.
        options: More words for `desim submit`.
        episodes: Episodes in a row.
        world: The world.
    """
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    suite = folder / "game.toml"
    text = _SUITE.format(seed=SEED, episodes=episodes, policy=policy, world=world)
    suite.write_text(text, encoding="utf-8")
    before = {*sys.modules}
    with importable(folder):
        run("bench", suite, "--out", folder / "results", "--yes")
        run("submit", folder / "results", "--out", folder / "entry", *options)
    assert not {name.split("/")[0].removesuffix(".py") for name in files} & {*sys.modules} - before
    return folder / "entry"


def with_code(entry: Path, path: str, source: str) -> Path:
    """Write a file of code into an entry, and the digest of its code into the manifest."""
    (entry / "code" / path).write_text(source, encoding="utf-8")
    manifest = json.loads((entry / "manifest.json").read_bytes())
    manifest["code"] = code_digest(EntryFolder.opened(entry).code())
    (entry / "manifest.json").write_bytes(canonical(manifest))
    return entry


@pytest.fixture(scope="module")
def covered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An honest entry of `cover_rule:Cover,weeks=5`."""
    folder = tmp_path_factory.mktemp("covered")
    return own_entry(folder, "cover_rule:Cover,weeks=5", {"cover_rule.py": COVER})
