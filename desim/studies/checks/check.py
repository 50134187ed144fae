"""`check` plays a world in all the ways in which desim does, and names its faults."""

import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from desim import catalog
from desim.catalog.presets import presets
from desim.core.model import Model
from desim.engine.grid import checked_seeds
from desim.episodes.lineup import Policies, lineup_knows
from desim.errors import UsageError
from desim.faults import RAISED
from desim.schema.signatures import takes
from desim.show.progress import shown_progress
from desim.studies.checks import (
    book_checks,
    class_checks,
    decision_checks,
    episode_checks,
    future_checks,
    limit_checks,
    result_checks,
    wait_checks,
)
from desim.studies.checks.check_findings import CheckFinding, Checks
from desim.studies.checks.checked_world import CheckedWorld
from desim.studies.checks.outcomes import CheckFailed, NotChecked, fault_place, fault_sentence
from desim.studies.study_options import CheckOptions

#: By name, in the order of the table, a function of a world: it returns what it has found, or
#: raises `CheckFailed` or `NotChecked`.
CHECKS: Mapping[str, Callable[[CheckedWorld], str]] = {
    "parameters": class_checks.parameters,
    "schema": class_checks.schema,
    "rules": class_checks.rules,
    "calendar": class_checks.calendar,
    "plays": episode_checks.plays,
    "random": episode_checks.random_play,
    "repeats": episode_checks.repeats,
    "seeds": episode_checks.seeds,
    "observations": decision_checks.observations,
    "options": decision_checks.options,
    "limits": limit_checks.limits,
    "replays": episode_checks.replays,
    "resumes": episode_checks.resumes,
    "branches": episode_checks.branches,
    "redraws": future_checks.redraws,
    "futures": future_checks.futures,
    "waits": wait_checks.waits,
    "score": result_checks.score,
    "metrics": result_checks.metrics,
    "series": result_checks.series,
    "ledgers": book_checks.ledgers,
    "statements": book_checks.statements,
    "exports": book_checks.exports,
}

#: The check that each preset can be built.
_BUILDS = "builds"


@takes(CheckOptions)
def check(options: CheckOptions) -> Checks:
    """Play a model in all the ways in which desim does, and name its faults.

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
            yield finding(name, check_name, function, world)
        if policies is not None:
            yield finding(name, "policy", partial(episode_checks.policy, policies), world)


def finding(
    name: str, check_name: str, function: Callable[[CheckedWorld], str], world: CheckedWorld
) -> CheckFinding:
    """Make one check and return its outcome."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return CheckFinding(name, check_name, "ok", function(world))
    except NotChecked as reason:
        return CheckFinding(name, check_name, "skipped", str(reason))
    except CheckFailed as fault:
        at = fault.place or fault_place(fault)
        return CheckFinding(name, check_name, fault.outcome, str(fault), at)
    except RAISED as fault:
        return CheckFinding(name, check_name, "FAILED", fault_sentence(fault), fault_place(fault))


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
    return {f"{name}/{one}": lambda one=one: catalog.model(cls, one) for one in names}  # type: ignore[misc]
