"""Plays every model with every policy on every seed; the sweep may be text or a TOML file.

A file has the fields of `SweepSpec`, with a list of policies, and perhaps a table `design`.
"""

import itertools
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from desim.catalog.policy_spec import read_policies
from desim.engine.grid import grid
from desim.engine.plan import RECORD, RECORDS, Grid
from desim.engine.run.playing import Playing
from desim.errors import BadRecord, SchemaError, UsageError
from desim.rows.compare import reference_groups
from desim.rows.rows import Rows, policy_label
from desim.schema import from_plain
from desim.schema.signatures import given, takes
from desim.show.files import read_text
from desim.studies.designs import DesignSpec, Point, planned
from desim.studies.options import FIRST_SEEDS, SweepOptions, SweepSpec, refuse_score

#: Most bytes of the file of a sweep.
_MAX_BYTES = 1_000_000

#: Joins the roles of one way to play; does not match the + of the number 1e+5.
_PLUS = re.compile(r"\+(?=[a-zA-Z_][\w.]*=)")

#: A policy as text, or a mapping of roles to such texts.
_Policies = str | dict[str, str]


@takes(SweepOptions)
def sweep(options: SweepOptions) -> Rows:
    """Play every model with every policy on every seed.

    An episode that fails becomes a row with its `error`, and the sweep continues. Rows are the
    same for any executor, and for a sweep that was interrupted and continued. Classes and functions
    of a script or a notebook, and those made inside functions, are sent to the workers with the
    globals that they use.

    Where a model does not depend on the seed and no policy draws, one seed is played, and the other
    rows are copies of its row (see `policies.is_fixed`), unless each has a record.

    Episodes whose policies wait for a host, as language models do, are played in one event loop of
    this process, 8 at once, unless they keep what they learn in a file; a policy class declares
    that it waits by `base_url` in its `reaches`.

    Returns:
        Rows in the order of model variants, then points, then policies, then seeds.

    Raises:
        UsageError: A name does not exist, an argument is wrong, *out* holds something else,
            *records* are wanted without *out*, or *series* of a model that reports none, or there
            are more than 10 million episodes.
        WorkerDied: Worker processes cannot start or keep dying, or a cluster was lost.
        BadRecord: The record of a row in *out* is missing.
        DesimError: An executor failed otherwise, or lost episodes.
        KeyboardInterrupt: On Ctrl-C; with *out*, its text says how many episodes are finished.

    Warns:
        SweepWarning: Rows in *out* were damaged, and are played again, or were discarded.
    """
    refuse_score(options.minimise)
    points: list[Point] = []
    changes = options.set
    if options.design is not None:
        points, changes = planned(options.design, options.set or {})
    if options.records and options.out is None:
        raise UsageError("records need the folder of the sweep; give out")
    folder = Path(options.out).absolute() if options.records and options.out is not None else None
    plan = grid(
        options.model,
        options.policies,
        options.seeds,
        options.preset,
        changes,
        options.limits,
        points,
    )
    for model in plan.models if options.series else ():
        if model.series is None:
            name = type(model).__name__
            raise UsageError(f"{name} reports no series: it has no method series(state)")
    plan = plan.changed(series=options.series, out=folder)
    with options.playing(plan, retry_failed=options.retry_failed) as started:
        if folder is not None:
            _prepare_records(started, folder / RECORDS, restart=options.restart)
        started.play(range(len(plan)))
        rows = started.finish()
        rows.better = _directions(plan, options.minimise)
        return rows


def _directions(plan: Grid, minimise: str) -> Mapping[str, str]:
    """Return which values of metrics are better, where the models of a sweep agree."""
    declared = [model.figures for model in plan.models]
    names = dict.fromkeys(name for figures in declared for name in figures.columns)
    found = {name: {figures.better(name) for figures in declared} for name in names}
    return {name: of.pop() for name, of in found.items() if len(of) == 1} | (
        {minimise: "lower"} if minimise else {}
    )


def _prepare_records(started: Playing, folder: Path, *, restart: bool) -> None:
    """Make the folder of the records; on a restart, remove those whose rows were discarded."""
    plan, jobs = started.plan, sorted(started.kept)
    try:
        folder.mkdir(exist_ok=True)
        for number in {*range(len(plan))}.difference(jobs) if restart else ():
            if record := plan.job(number).record:
                record.unlink(missing_ok=True)
    except OSError as fault:
        raise UsageError(f"cannot write {folder}: {fault.strerror}") from None
    for number, result in zip(jobs, started.kept.results(jobs), strict=True):
        record = plan.job(number).record
        # An episode that failed before its first line has none.
        if msgspec.json.decode(result)[RECORD] and not (record and record.is_file()):
            raise BadRecord(
                f"{record} is missing; put the record back, or play the sweep anew (--restart)"
            )


# -- text ------------------------------------------------------------------------------------------


def read_config(text: SweepSpec) -> dict[str, Any]:
    """Return the arguments of `sweep` that options describe; seeds are None if none are given.

    The options take precedence over a TOML file, which *model* may name.
    """
    own = {name: value for name, value in given(text).items() if value}
    file = _from_file(Path(own.pop("model"))) if text.model.endswith(".toml") else {}
    if text.policies:
        own["policies"] = read_entries(text.policies)
    usual = {"preset": "", "policies": ["greedy"], "seeds": None, "design": None}
    found = {**usual, **file, **own}
    found["set"] = file.get("set", {}) | {name: _values(each) for name, each in text.set.items()}
    if isinstance(found["seeds"], str):
        found["seeds"] = read_seeds(found["seeds"])
    if isinstance(found["design"], str):
        found["design"] = DesignSpec.read(found["design"])
    return found


def check_reference(how: Mapping[str, Any], against: str) -> None:
    """Refuse a policy to compare with that is not played, before anything is played."""
    cells = grid(how["model"], how["policies"], [0], how["preset"], how["set"]).cells
    others = {one for cell in cells for one in (cell.name, cell.preset)}
    others |= {str(value) for cell in cells for value in cell.params.values()}
    if against not in others:
        labels = dict.fromkeys((cell.entry.label,) for cell in cells)
        reference_groups([*labels], ("policy",), policy_label(against))


def read_entries(texts: Sequence[Any]) -> list[_Policies]:
    """Return the ways to play that several `--policy` texts describe.

    Texts that name different roles are one way to play, like those of `desim run`. Texts that name
    the same role, or no role, are several ways to play. `+` joins the roles of one way within a
    text.

    >>> read_entries(["base_stock,target=20", "greedy"])
    ['base_stock,target=20', 'greedy']
    >>> read_entries(["retailer=base_stock", "factory=greedy"])
    [{'retailer': 'base_stock', 'factory': 'greedy'}]
    >>> read_entries(["retailer=base_stock", "retailer=greedy+factory=greedy"])
    [{'retailer': 'base_stock'}, {'retailer': 'greedy', 'factory': 'greedy'}]

    Raises:
        UsageError: A text is wrong, or it is not clear which texts belong together.
    """
    policies: list[_Policies] = [read_policies(_PLUS.split(text)) for text in texts]
    roles = [one for one in policies if isinstance(one, dict)]
    if not any(a.keys().isdisjoint(b) for a, b in itertools.combinations(roles, 2)):
        return policies
    if len(roles) < len(policies) or sum(map(len, roles)) > len(set().union(*roles)):
        options = " ".join(f"--policy {text}" for text in texts)
        joined = "+".join(f"{role}=SPEC" for role in dict.fromkeys(itertools.chain(*roles)))
        raise UsageError(
            f"{options} may be read as one way to play or as several; join the roles of each way "
            f"with +, as in --policy {joined}, or list the ways in a TOML file"
        )
    return [{role: spec for one in roles for role, spec in one.items()}]


def read_seeds(text: str) -> Sequence[int]:
    """Return the seeds of `A:B` (without B) or `A,B,...`; an empty text means 0:20."""
    if not text:
        return range(FIRST_SEEDS)
    start, colon, stop = text.partition(":")
    try:
        seeds = range(int(start), int(stop)) if colon else [int(n) for n in text.split(",")]
    except ValueError:
        raise UsageError(f"seeds {text!r} were given; write A:B (without B) or A,B,...") from None
    if not seeds:
        raise UsageError(f"seeds {text!r} were given; in A:B, A is below B")
    return seeds


def _from_file(path: Path) -> dict[str, Any]:
    try:
        plain = tomllib.loads(read_text(path, _MAX_BYTES))
        spec: SweepSpec = from_plain(plain, SweepSpec)
        design = {"design": from_plain(spec.design, DesignSpec)} if spec.design else {}
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, SchemaError, RecursionError) as fault:
        raise UsageError(f"{path} describes no sweep: {fault}") from None
    return {**{name: value for name, value in given(spec).items() if value}, **design}


def _values(text: str) -> str | list[str]:
    """Split V1,V2,... into texts; a JSON list or object is one value."""
    return text if text[:1] in {"[", "{"} or "," not in text else text.split(",")
