"""Suites for tests: a file with all worlds and scripted language models, and the command."""

import contextlib
import csv
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

from support.forked import desim_process
from support.paths import PYTHONPATH
from support.stub import Served, call, text

from desim.suites.suite_folder import Played, read_folder

#: Every world, made short.
WORLDS = """
[worlds.beer]
model = "beer_game"
set = { horizon = 6 }
columns = ["score", "usage.calls"]

[worlds.edt]
model = "edt"

[worlds.arena]
model = "enterprise_arena"
set = { horizon = 4 }

[worlds.yc]
model = "yc_bench"

[worlds.interview]
model = "consulting"

[worlds.questions]
model = "reasoning/small"
set = { limit = 4 }

[worlds.group]
model = "enterprise/small"
set = { months = 3 }
"""


def answer(_: int, body: dict[str, Any]) -> Served:
    """Answer in every world, by its tools; where text is no answer, the default action is taken."""
    names = {tool["function"]["name"] for tool in body.get("tools", ())}
    return call(("sim_resume", {})) if "sim_resume" in names else text('{"order_qty": 120}')


def suite_file(
    folder: Path, url: str = "", worlds: str = WORLDS, head: str = "", **more: str
) -> Path:
    """Write a suite with a model as the entry `model`, and further entries by name."""
    entries = {
        "model": f'model = "m"\nbase_url = "{url}"\nprice_in = 100\nprice_out = 100\n'
        "options = { max_calls = 12 }",
        **more,
    }
    tables = "\n".join(f"[entries.{name}]\n{table}" for name, table in entries.items() if table)
    path = folder / "suite.toml"
    path.write_text(f"{head}\n{worlds}\n{tables}\n", encoding="utf-8")
    return path


def started(suite: Path, out: Path, *options: str) -> "subprocess.Popen[str]":
    """Start `desim bench`, without a question unless *options* hold "--ask"."""
    silent = [] if "--dry-run" in options or "--ask" in options else ["--yes"]
    given = [*(option for option in options if option != "--ask"), *silent]
    return desim_process(
        *("bench", str(suite), "--out", str(out), *given),
        cwd=suite.parent,
        env={"PYTHONPATH": PYTHONPATH, "COLUMNS": "200"},
    )


def bench(suite: Path, out: Path, *options: str) -> tuple[int, str, str]:
    """Run `desim bench` to its end; return the exit code, the output, and the errors."""
    process = started(suite, out, *options)
    printed, errors = process.communicate(timeout=300)
    return process.returncode, printed, errors


def outcomes(out: Path) -> dict[str, Played]:
    """Return the outcomes in a folder by job; of episodes in a row the last."""
    return {str(job): each[-1] for job, each in read_folder(out)[1].items()}


def table(out: Path, world: str = "") -> dict[str, dict[str, dict[str, Any]]]:
    """Return the rows of `table.csv` by entry and column; of one world if it is named."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    with (out / "table.csv").open(encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            if world in ("", row["world"]):
                of_entry = found.setdefault(row["entry"], {})
                of_entry[row["column"]] = {name: _value(text) for name, text in row.items()}
    return found


def _value(text: str) -> Any:
    with contextlib.suppress(ValueError):
        return float(text)
    return text or None


def record_of(out: Path, job: str) -> Path:
    """Return the record of a job, or the folder of its records."""
    (found,) = (path for path in (out / "records").iterdir() if path.name.startswith(f"{job}__"))
    return found


def lose_rows(out: Path, where: str = "true") -> None:
    """Remove results of the store, so that their jobs are read from the records again."""
    with contextlib.closing(sqlite3.connect(out / "sweep.sqlite", isolation_level=None)) as file:
        done = file.execute(f"DELETE FROM results WHERE {where}")  # noqa: S608 (ours)
        assert done.rowcount > 0
