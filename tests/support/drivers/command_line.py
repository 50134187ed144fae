"""`desim run`, where a script plays every seat."""

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from click.testing import CliRunner
from support.adapters import Case

from desim.cli.main import main

#: What must be installed.
REQUIRES: tuple[str, ...] = ()


def carries(case: Case) -> bool:
    """Return whether the adapter can play a case."""
    return True


def play(
    case: Case, seed: int, answers: Mapping[str, list[dict[str, Any]]]
) -> tuple[float, str | None]:
    """Play the answers through the adapter; return the score and the ledger digest."""
    with tempfile.TemporaryDirectory() as folder, patch.object(sys, "path", [*sys.path]):
        policies = {**case.setup().others, **_scripts(Path(folder), answers)}
        options = [f"--policy={role}={policy}" for role, policy in policies.items()]
        options += [f"--set={key}={value}" for key, value in case.params.items()]
        done = CliRunner().invoke(
            main,
            ["run", case.model, "--preset", case.preset, "--seed", str(seed), "--json", *options],
            prog_name="desim",
        )
    assert done.exit_code == 0, done.stderr
    row = json.loads(done.stdout)
    return row["score"], row["ledger_digest"]


def _scripts(folder: Path, answers: Mapping[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Write the answers of every seat into a script, and return the specs that play them."""
    specs = {}
    for seat, actions in answers.items():
        file = folder / f"{seat}.jsonl"
        file.write_text("".join(json.dumps(action) + "\n" for action in actions))
        specs[seat] = f"script,file={file}"
    return specs
