"""What do the shipped baselines look like as the first entries of a board, and what does it cost?

A suite of all worlds and presets is played by the policies of `desim baselines`, on its seeds. Each
policy is then an entry for all worlds that list it, signed, verified and put on a board. The same
command goes on where it was stopped, and prints the processor seconds of each step.

    python experiments/baseline_entries.py FOLDER --jobs 2
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click
from attrs import frozen

from desim.catalog.policy_spec import read_policies
from desim.cli.main import main as desim
from desim.jobs.keep.outcome import JobOutcome
from desim.jobs.keep.record_folder import RecordFolder
from desim.jobs.plan.record_job import safe_name
from desim.studies.boards.leaderboard import Entrant, entrants_of, everything
from desim.suites.results import results
from desim.suites.suite_plan import read_plan
from desim.verification.figures import outcome_of

#: The names of the keys of the entries and of the board.
OWNER, BOARD = "baselines", "board"

#: The seeds on which a rule was tuned, where its module states them.
TUNED_ON = {"order_up_to": "10000:10100"}


def suite_toml(presets: Mapping[str, tuple[Entrant, ...]]) -> str:
    """Return the suite in which the entrants of each preset play their seeds.

    Entrants of a preset that play fewer seeds, such as rules whose episodes are all the same, do so
    in a world of their own.
    """
    worlds: dict[str, tuple[str, tuple[int, ...]]] = {}
    entries: dict[str, list[str]] = {}
    tuned = {spec: f"tuned_on = {_quoted(seeds)}" for spec, seeds in TUNED_ON.items()}
    for preset, entrants in presets.items():
        most = max(len(one.seeds) for one in entrants)
        for one in entrants:
            count = len(one.seeds)
            short = f", {count} seed{'s' if count > 1 else ''}" if count < most else ""
            worlds[f"{preset}{short}"] = preset, one.seeds
            entries.setdefault(one.spec, []).append(f"{preset}{short}")
    lines = ['title = "The baselines of all worlds"', ""]
    for name, (model, seeds) in worlds.items():
        lines += [
            f"[worlds.{_quoted(name)}]",
            f"model = {_quoted(model)}",
            f"seeds = {[*seeds]}",
            "",
        ]
    for spec, names in entries.items():
        lines += [f"[entries.{_quoted(spec)}]", f"policy = {_policy(spec)}"]
        lines += [f"worlds = {json.dumps(names)}", tuned.get(spec, ""), ""]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return json.dumps(text)


def _policy(spec: str) -> str:
    read = read_policies([spec])
    if isinstance(read, str):
        return _quoted(read)
    return (
        "{ " + ", ".join(f"{_quoted(role)} = {_quoted(one)}" for role, one in read.items()) + " }"
    )


@frozen
class FirstEntries:
    """The folder of the suite, its results, the entries and the board.

    Attributes:
        folder: The folder.
        jobs: Episodes played at once.
    """

    folder: Path
    jobs: int

    def steps(self) -> Iterator[tuple[str, Path, Callable[[], object]]]:
        """Yield each step with its name and the path that it makes."""
        folder = self.folder
        yield "played", folder / "played.txt", self.play
        yield "tables from last lines", folder / "tables.csv", self.tabulate
        yield "submitted", folder / "entries", self.submit
        yield "verified", folder / "verdicts.txt", self.verify
        yield "on the board", folder / "board", self.enter
        yield "page", folder / "site", self.show

    def write_suite(self, names: tuple[str, ...], seeds: int) -> None:
        """Write the suite of presets, all of them if none is named."""
        presets = {name: entrants_of(name, range(seeds)) for name in everything(names)}
        self.suite.write_text(suite_toml(presets), encoding="utf-8")

    @property
    def suite(self) -> Path:
        """The suite's file."""
        return self.folder / "suite.toml"

    @property
    def results(self) -> Path:
        """The folder of its results."""
        return self.folder / "results"

    def play(self) -> None:
        """Play the suite."""
        _desim("bench", self.suite, "--out", self.results, "--jobs", self.jobs)
        (self.folder / "played.txt").write_text("whole\n", encoding="utf-8")

    def tabulate(self) -> None:
        """Write each mean score, read from the last lines of the records alone."""
        plan, folder = read_plan(self.suite), RecordFolder(self.results)
        found: dict[str, JobOutcome] = {
            job.name: outcome_of(job, [folder.record(job.name)]) for job in plan.jobs
        }
        rows = [
            f"{line.world}\t{line.entry}\t{line.n}\t{line.main.estimate.mean!r}"
            for line in results(plan, found)
            if line.main.estimate
        ]
        (self.folder / "tables.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")

    def submit(self) -> None:
        """Write the folder of each entry, signed with one key."""
        for name in (OWNER, BOARD):
            if not (self.folder / f"{name}.pem").exists():
                _desim("key", "new", name, "--out", self.folder)
        for entry in read_plan(self.suite).entries:
            out = self.folder / "entries" / safe_name(entry)
            out.parent.mkdir(exist_ok=True)
            key = self.folder / f"{OWNER}.pem"
            _desim("submit", self.results, "--out", out, "--entry", entry, "--key", key)

    @property
    def entries(self) -> list[Path]:
        """The folders of the entries."""
        return sorted((self.folder / "entries").iterdir())

    def verify(self) -> None:
        """Play every episode of every entry again."""
        _desim("verify", *self.entries, "--jobs", self.jobs)
        (self.folder / "verdicts.txt").write_text("accepted\n", encoding="utf-8")

    def enter(self) -> None:
        """Put the entries on a board, which verifies them itself."""
        board, key = self.folder / "board", ("--key", self.folder / f"{BOARD}.pem")
        _desim("board", "new", board, "--title", "The baselines of all worlds", *key)
        _desim("board", "add", board, *self.entries, *key, "--jobs", self.jobs)

    def show(self) -> None:
        """Write the page of the board."""
        _desim("board", "show", self.folder / "board", "--out", self.folder / "site")


def _desim(*arguments: object) -> None:
    """Run a command of desim in this process, and stop if its exit code is not 0."""
    code = desim([str(one) for one in arguments], standalone_mode=False)
    if code:
        raise SystemExit(int(code))


def _processor_seconds() -> float:
    return sum(os.times()[:4])


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--preset", "presets", multiple=True, help="MODEL or MODEL/PRESET; default: all.")
@click.option("--seeds", default=20, show_default=True, help="Seeds of each policy, from 0.")
@click.option("--jobs", default=2, show_default=True, help="Episodes played at once.")
def main(folder: Path, presets: tuple[str, ...], seeds: int, jobs: int) -> None:
    """Make the first entries of a board in FOLDER, and print what each step took."""
    folder.mkdir(parents=True, exist_ok=True)
    first = FirstEntries(folder, jobs)
    if not first.suite.exists():
        first.write_suite(presets, seeds)
    for name, made, step in first.steps():
        if made.exists():
            continue
        wall, used = time.perf_counter(), _processor_seconds()
        step()
        wall, used = time.perf_counter() - wall, _processor_seconds() - used
        click.echo(f"{name}: {used:,.1f} processor seconds in {wall:,.1f} s", err=True)


if __name__ == "__main__":
    main()
