"""Honest entries of a small suite: rules, one with its code, and a model through three methods."""

import gzip
import shutil
from pathlib import Path

from desim.cli.main import main
from desim.episodes.series import episode_file
from desim.jobs.keep.record_folder import RecordFolder, series_folder
from desim.suites.suite_plan import read_plan
from desim.verification.entries.entry_folder import record_files
from desim.verification.signed.keys import new_key
from desim.verification.submit import Submission, submit
from experiments.attacks import endpoint

#: The suite, with the address of the scripted model.
_SUITE = """
title = "Worlds in which entries are forged"
seeds = "0:3"

[worlds.game]
model = "beer_game/poisson"
set = {{ horizon = 8 }}

[worlds.row]
model = "beer_game/poisson"
set = {{ horizon = 5 }}
episodes = 2
seeds = [10, 20]

[worlds.lender]
model = "enterprise_arena/capped"
set = {{ horizon = 6 }}

[entries.rule]
policy = "order_up_to"
worlds = ["game", "row"]

[entries.treasurer]
policy = "treasurer"
worlds = ["lender"]

[entries.own]
policy = "experiments.forging.own_rule:Cover,weeks=5"
worlds = ["game"]

[entries.model]
model = "scripted"
base_url = "{url}"
price_in = 1.0
price_out = 2.0
options = {{ mode = "json" }}
worlds = ["game", "row"]

[entries.refine]
model = "scripted"
base_url = "{url}"
price_in = 1.0
price_out = 2.0
method = "self_refine"
options = {{ mode = "json" }}
worlds = ["game"]

[entries.reflexion]
model = "scripted"
base_url = "{url}"
price_in = 1.0
price_out = 2.0
method = "reflexion"
options = {{ mode = "json" }}
worlds = ["row"]
"""

#: The entries: shipped rules, a rule of the submitter's own, and language models.
RULES, OWN, MODELS = ("rule", "treasurer"), "own", ("model", "refine", "reflexion")


def scripted_reply(number: int) -> str:
    """Return an order of beer, and now and then a text without a decision."""
    return "I do not know." if number % 7 == 3 else f'{{"order_qty": {number % 9}}}'


def honest_entries(folder: Path) -> dict[str, Path]:
    """Play the suite and return the folder of each entry, signed, with all its records.

    Args:
        folder: An empty folder.
    """
    suite, results = folder / "suite.toml", folder / "results"
    with endpoint(scripted_reply) as url:
        suite.write_text(_SUITE.format(url=url), encoding="utf-8")
        main(["bench", str(suite), "--out", str(results), "--yes"], standalone_mode=False)
    key = new_key("honest", folder)
    entries = {name: folder / "entries" / name for name in (*RULES, OWN, *MODELS)}
    for name, path in entries.items():
        submit(results, path, Submission(name, key=key))
        _add_records(results, suite, name, path)
    return entries


def _add_records(results: Path, suite: Path, entry: str, out: Path) -> None:
    """Copy the records of rules too, which an entry may hold."""
    folder = RecordFolder(results)
    for job in read_plan(suite, keys=False).jobs:
        if job.entry != entry or entry in MODELS:
            continue
        record = folder.record(job.name)
        files = [record]
        if job.is_series:
            files = [episode_file(series_folder(record), n) for n in range(1, job.episodes + 1)]
        for name, file in zip(record_files(job), files, strict=True):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(gzip.compress(file.read_bytes(), mtime=0))


def copied(entry: Path, to: Path) -> Path:
    """Copy an entry to a new folder."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(entry, to)
    return to
