"""The episodes in suites' folders that a figure shows, by entry."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from attrs import frozen

from desim.suites.suite_file import EntryTable
from desim.suites.suite_folder import Outcomes, Played, read_folder, record_in
from desim.suites.suite_plan import Plan


@frozen
class Suite:
    """A folder with its plan and the outcomes in it."""

    folder: Path
    plan: Plan
    outcomes: Outcomes

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read a folder of `desim bench`.

        Raises:
            UsageError: It holds no suite, or a damaged one.
        """
        return cls(path, *read_folder(path))


@frozen
class Ended:
    """An ended episode, the entry that played it, the name of its world, and its record."""

    entry: EntryTable
    world: str
    played: Played
    record: Path

    def value(self, name: str, factor: float = 1) -> float | None:
        """Return a figure of the episode times a factor; None if it has none."""
        found = self.played.figure(name)
        return None if found is None else factor * found


#: Episodes by the name of their entry.
Entries = Mapping[str, Sequence[Ended]]


def ended(suites: Sequence[Suite], world: str, *, windows: bool = False) -> Entries:
    """Return the episodes of a world without restarts.

    *windows* are those of entries whose options state the turns of history.
    """
    found: dict[str, list[Ended]] = {}
    for suite in suites:
        for job, of_job in suite.outcomes.items():
            worlds, entries = suite.plan.suite.worlds, suite.plan.suite.entries
            table, entry = worlds[job.world], entries[job.entry]
            chosen = table.model.partition("/")[0] == world and "episodes" not in table.set
            if chosen and ("history" in entry.options) is windows:
                for played in of_job:
                    if played.state == "done":
                        file = record_in(suite.folder, played)
                        its = found.setdefault(job.entry, [])
                        its.append(Ended(entry, table.model, played, file))
    return {name: its for name, its in found.items() if its}


def what(entries: Entries) -> str:
    """Return what was played, for a caption."""
    each = [one for its in entries.values() for one in its]
    return f"{len(each)} episodes of {', '.join(sorted({one.world for one in each}))}"


def labels_of(entry: EntryTable) -> list[str]:
    """Return the published labels of an entry."""
    given = entry.published
    return [given] if isinstance(given, str) else given
