"""`check` plays a world in the ways in which desim does, and names its faults."""

import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from attrs import field, frozen

from desim import catalog
from desim.catalog.model_finder import everything
from desim.catalog.presets import presets
from desim.core.model import Model
from desim.engine.grid import checked_seeds
from desim.errors import DesimError, UsageError
from desim.faults import RAISED, fault_text, place
from desim.schema import to_plain
from desim.show.progress import ProgressOption, shown_progress
from desim.show.table import Table, Tabular
from desim.studies.checks import CHECKS, FURTHER_CHECKS, Advice, CheckedWorld, plays


@frozen
class CheckFinding:
    """The outcome of one check of one preset; "advice" where the world could offer more."""

    world: str
    check: str
    outcome: Literal["ok", "FAILED", "advice"]
    text: str


@frozen(repr=False)
class Checks(Tabular):
    """The findings of all checks of a model, preset by preset."""

    name: str
    findings: tuple[CheckFinding, ...] = field(repr=False)

    @property
    def failed(self) -> tuple[CheckFinding, ...]:
        """The findings of the checks that failed."""
        return tuple(one for one in self.findings if one.outcome == "FAILED")

    def plain(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {**to_plain(self), "ok": not self.failed}

    def tables(self) -> tuple[Table]:
        """Return the table of all checks; presets with the same outcome share a line."""
        worlds = list(dict.fromkeys(one.world for one in self.findings))
        lines: dict[tuple[str, ...], list[CheckFinding]] = {}
        for one in self.findings:
            alone = () if one.outcome == "ok" else (one.text,)
            lines.setdefault((one.check, one.outcome, *alone), []).append(one)
        heads, cells = ("check", "result", "what was found"), []
        for (check_name, outcome, *_), same in lines.items():
            named = ", ".join(one.world.partition("/")[2] or one.world for one in same)
            where = f" ({named})" if len(same) < len(worlds) else ""
            cells.append([check_name, outcome, same[0].text + where])
        title = f"{self.name}: {len(self.failed) or 'none'} of {len(self.findings)} checks failed"
        several = f"{len(worlds)} presets were checked, figures of the first: {', '.join(worlds)}"
        return (Table(heads, cells, range(3), title, [several] * (len(worlds) > 1)),)


def check(model: Any, seeds: Iterable[int] = range(3), progress: ProgressOption = None) -> Checks:
    """Play a model in the ways in which desim does, and name its faults.

    Episodes are played by `random`, and some by `greedy`. `desim/docs/check.md` lists the checks.
    Those that need an episode are not made where one fails, and some not where it does not repeat
    itself.

    Args:
        model: A name (without `/preset` all presets are checked), a model class or a model.
        seeds: The seeds of the episodes; of a single one, it and the next.
        progress: As for `sweep`; it counts presets.

    Raises:
        UsageError: The model or the preset does not exist, or no seed is given.
    """
    given = checked_seeds(seeds)
    worlds, findings = _worlds(model), list[CheckFinding]()
    with shown_progress(progress, "presets") as shown:
        for number, (name, build) in enumerate(worlds.items(), 1):
            # Whether seeds differ is checked.
            findings += _checked(name, build, given if given[1:] else (*given, given[0] + 1))
            shown(number, len(worlds))
    return Checks(next(iter(worlds)).partition("/")[0], tuple(findings))


def _checked(
    name: str, build: Callable[[], Model[Any]], seeds: Sequence[int]
) -> Iterator[CheckFinding]:
    """Yield the findings of one preset; only that it cannot be built, where this is so."""
    try:
        model = build()
    except UsageError as fault:
        yield CheckFinding(name, "builds", "FAILED", str(fault))
        return
    yield CheckFinding(name, "builds", "ok", "the preset was built")
    with tempfile.TemporaryDirectory() as folder:
        world = CheckedWorld(model, seeds, Path(folder))
        for function in (*CHECKS, *FURTHER_CHECKS):
            yield (found := _finding(name, function, world))
            if found.outcome == "FAILED" and function in (plays, CHECKS[-1]):
                return


def _finding(
    name: str, function: Callable[[CheckedWorld], str], world: CheckedWorld
) -> CheckFinding:
    finding = partial(CheckFinding, name, function.__name__)
    try:
        with warnings.catch_warnings(action="ignore"):
            return finding("ok", function(world))
    except Advice as fault:
        return finding("advice", str(fault))
    except DesimError as fault:
        return finding("FAILED", str(fault))
    except RAISED as fault:
        return finding("FAILED", f"{fault_text(fault)} in {place(fault)}")


def _worlds(given: Any) -> dict[str, Callable[[], Model[Any]]]:
    """Return by name functions that build the presets that are checked."""
    if isinstance(given, str):
        return {name: partial(catalog.model, name) for name in everything([given])}
    if isinstance(given, type):
        name = catalog.model_name(given)
        return {f"{name}/{one}": partial(catalog.model, given, one) for one in presets(given)}
    model = catalog.model(given)
    return {catalog.model_name(type(model)): lambda: model}
