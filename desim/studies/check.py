"""`check` plays a world in the ways in which desim does, and names its faults."""

import inspect
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from traceback import walk_tb
from typing import Any

from attrs import field, frozen

from desim import catalog
from desim.catalog.presets import presets
from desim.core.model import Model
from desim.engine.grid import checked_seeds
from desim.episodes.lineup import Policies, lineup_knows
from desim.errors import DesimError, UsageError
from desim.faults import RAISED, fault_text, function_name, place
from desim.schema import to_plain
from desim.schema.signatures import takes
from desim.show.progress import shown_progress
from desim.show.table import Table, Tabular
from desim.studies import checks
from desim.studies.checked_episodes import CheckedWorld, CheckFault, Outcome
from desim.studies.options import CheckOptions

#: By name, in the order of the table, a function of a world: it returns what it has found, or
#: raises `CheckFault`.
CHECKS: Mapping[str, Callable[[CheckedWorld], str]] = {
    "parameters": checks.parameters,
    "schema": checks.schema,
    "plays": checks.plays,
    "repeats": checks.repeats,
    "seeds": checks.seeds,
    "observations": checks.observations,
    "options": checks.options,
    "limits": checks.limits,
    "resumes": checks.resumes,
    "redraws": checks.redraws,
    "futures": checks.futures,
    "results": checks.results,
    "ledgers": checks.ledgers,
}

#: The check that each preset can be built.
_BUILDS = "builds"


@frozen
class CheckFinding:
    """The outcome of one check of one preset.

    Attributes:
        world: The name of the model, with its preset if it has several.
        check: The name of the check.
        outcome: "ok", "FAILED", "advice" for a world that works and could offer more, or "skipped"
            where there is nothing to check.
        text: What was found, in one sentence.
        place: The class or function that it is about, with file and line; may be empty.
    """

    world: str
    check: str
    outcome: Outcome
    text: str
    place: str = ""


@frozen(repr=False)
class Checks(Tabular):
    """The outcomes of all checks of a model.

    Attributes:
        name: The name of the model.
        findings: Those of the first preset, then those of the next one.
    """

    name: str
    findings: tuple[CheckFinding, ...] = field(repr=False)

    @property
    def failed(self) -> tuple[CheckFinding, ...]:
        """The findings of the checks that failed."""
        return tuple(one for one in self.findings if one.outcome == "FAILED")

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return not self.failed

    def plain(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {**to_plain(self), "ok": self.ok}

    def tables(self) -> tuple[Table]:
        """Return the table of all checks; presets with the same outcome share a line."""
        worlds = list(dict.fromkeys(one.world for one in self.findings))
        lines: dict[tuple[str, ...], list[CheckFinding]] = {}
        for one in self.findings:
            alone = (one.text,) if one.outcome in ("FAILED", "advice") else ()
            lines.setdefault((one.check, one.outcome, *alone), []).append(one)
        heads = ["check", "result", "what was found"]
        cells = [[*key[:2], _found_text(same, worlds)] for key, same in lines.items()]
        title = f"{self.name}: {len(self.failed) or 'none'} of {len(self.findings)} checks failed"
        notes = []
        if len(worlds) > 1:
            names = ", ".join(worlds)
            notes = [f"{len(worlds)} presets were checked, figures of the first: {names}"]
        return (Table(heads, cells, range(len(heads)), title, notes),)


def _found_text(same: Sequence[CheckFinding], worlds: Sequence[str]) -> str:
    """Return the sentence of findings with one outcome, with their presets and the place."""
    named = [one.world.partition("/")[2] or one.world for one in same]
    where = f" ({', '.join(named)})" if len(named) < len(worlds) else ""
    at = f" - {same[0].place}" if same[0].place else ""
    return f"{same[0].text}{at}{where}"


@takes(CheckOptions)
def check(options: CheckOptions) -> Checks:
    """Play a model in the ways in which desim does, and name its faults.

    Episodes are played with options taken at random; a role without options takes its default
    action, or the least one that its schema allows. `desim/docs/check.md` lists the checks.

    Returns:
        The findings: a check that fails has a sentence, and a place in the model where one is
        known.

    Raises:
        UsageError: The model, the preset or a policy does not exist, or no seed is given.
    """
    seeds = checked_seeds(options.seeds)
    worlds = _worlds(options)
    findings: list[CheckFinding] = []
    each = 1 + len(CHECKS) + (options.policies is not None)
    total = len(worlds) * each
    with shown_progress(options.progress, "checks") as progress:
        for number, (name, build) in enumerate(worlds.items()):
            for found in checked(name, build, seeds, options.policies):
                findings.append(found)
                progress(len(findings), total)
            progress((number + 1) * each, total)
    return Checks(next(iter(worlds)).partition("/")[0], tuple(findings))


def checked(
    name: str, build: Callable[[], Model[Any]], seeds: Sequence[int], policies: Policies = None
) -> Iterator[CheckFinding]:
    """Yield the findings of one preset; only that it cannot be built, where this is so."""
    try:
        model = build()
    except UsageError as fault:
        yield CheckFinding(name, _BUILDS, "FAILED", str(fault))
        return
    lineup_knows(model, policies)
    yield CheckFinding(name, _BUILDS, "ok", "the preset was built")
    with tempfile.TemporaryDirectory() as folder:
        world = CheckedWorld(model, seeds, Path(folder))
        for check_name, function in CHECKS.items():
            yield _finding(name, check_name, partial(function, world))
        if policies is not None:
            yield _finding(name, "policy", partial(checks.policy, world, policies))


def _finding(name: str, check_name: str, function: Callable[[], str]) -> CheckFinding:
    """Make one check and return its outcome."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return CheckFinding(name, check_name, "ok", function())
    except CheckFault as fault:
        at = _fault_place(fault) if fault.at is None else _source_place(fault.at)
        return CheckFinding(name, check_name, fault.outcome, str(fault), at)
    except DesimError as fault:
        return CheckFinding(name, check_name, "FAILED", str(fault), _fault_place(fault))
    except RAISED as fault:
        return CheckFinding(name, check_name, "FAILED", fault_text(fault), _fault_place(fault))


def _source_place(thing: Any) -> str:
    """Return the name, file and line of a class or function; empty for a thing without source."""
    inner: Any = thing.fget if isinstance(thing, property) else thing
    while hasattr(inner, "func"):
        inner = inner.func
    try:
        lines, first = inspect.getsourcelines(inner)
        file = Path(inspect.getsourcefile(inner) or "").name
    except (OSError, TypeError):
        return ""
    # The decorators of a definition come first.
    offset = next((n for n, line in enumerate(lines) if not line.lstrip().startswith("@")), 0)
    return f"{function_name(inner)} ({file}, line {first + offset})"


def _fault_place(fault: BaseException) -> str:
    """Return where the innermost cause of an exception was raised; empty for a place in desim."""
    while fault.__cause__ is not None:
        fault = fault.__cause__
    frames = [frame for frame, _ in walk_tb(fault.__traceback__)]
    own = not frames or str(frames[-1].f_globals.get("__name__", "")).startswith("desim.")
    return "" if own or isinstance(fault, DesimError) else place(fault)


def _worlds(options: CheckOptions) -> dict[str, Callable[[], Model[Any]]]:
    """Return by name functions that build the presets that are checked."""
    given = options.model
    if not isinstance(given, str | type):
        model = catalog.model(given)
        return {catalog.model_name(type(model)): lambda: model}
    name = given if isinstance(given, str) else catalog.model_name(given)
    name, _, preset = name.partition("/")
    if isinstance(given, str) and catalog.builder(name) is not None:
        return {name: lambda: catalog.model(given)}
    cls = given if isinstance(given, type) else catalog.model_class(name)
    wanted = preset or options.preset
    if wanted:
        catalog.model(cls, wanted)
    names = [wanted] if wanted else presets(cls)
    return {f"{name}/{one}": partial(catalog.model, cls, one) for one in names}
