"""The report about a sweep.

It states what was played, as far as the folder of the sweep says: plan, limits, versions, files.
"""

import contextlib
import shlex
from collections.abc import Iterator, Mapping
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any

from desim.engine.store import FILE_NAME, Store
from desim.errors import BadRecord, UsageError
from desim.reports.page import Facts, Given, Page, Section, cleaned
from desim.reports.sweep.conclusion import conclusion
from desim.reports.sweep.endings import endings, failures
from desim.reports.sweep.factor_effects import interactions, main_effects, over_parameters
from desim.reports.sweep.fans import series_fans
from desim.reports.sweep.leaderboards import leaderboard
from desim.reports.sweep.varied import swept, varied
from desim.rows.rows import Rows
from desim.show.labels import is_number, label_text

#: The versions that a sweep's folder states.
_VERSIONS = ("desim", "python", "simpy", "numpy")


def plan(rows: Rows, path: Path) -> Iterator[Given]:
    """Yield what a sweep has played.

    Args:
        rows: Its rows.
        path: Its folder, or its rows.jsonl.
    """
    known = _identity(path if path.is_dir() else path.parent)
    yield Facts.of(_facts(rows, known, path))
    digests = {topic: text for topic, text in known.items() if text.startswith("sha256:")}
    if digests:
        yield cleaned(
            ["what the rows depend on", "SHA-256"],
            ([topic, text.partition(":")[2][:16]] for topic, text in digests.items()),
            left=(0, 1),
            notes=["the first 16 digits; the checkpoint of the sweep holds all of them"],
        )


def _facts(rows: Rows, known: dict[str, str], path: Path) -> Iterator[tuple[str, object]]:
    yield "read from", path
    if command := _command(rows, _seeds(rows)):
        yield "command", command
    yield "model", ", ".join(_distinct(rows, "model"))
    yield "preset", ", ".join(_distinct(rows, "preset"))
    varying = varied(rows)
    fixed = {name: value for name, value in rows[0]["params"].items() if name not in varying}
    if fixed:
        yield "parameters set", ", ".join(f"{name}={value}" for name, value in fixed.items())
    for name, column in varying.items():
        if name != column:  # model and preset are in the lines above
            yield f"{name} varies", ", ".join(_distinct(rows, column))
    yield "policies", "; ".join(_distinct(rows, "policy"))
    yield "seeds", _seeds(rows)
    yield "episodes", f"{len(rows):,}, of which {len(rows.failed):,} failed"
    if known:
        yield "limits of an episode", known.get("limits", "none")
        yield "versions", ", ".join(f"{one} {known[one]}" for one in _VERSIONS if one in known)
    else:
        yield "versions", f"not known: there is no {FILE_NAME} beside the rows"


def _command(rows: Rows, seeds: str) -> str:
    """Return a command that plays the same rows, with the specs of their labels.

    Empty if one command cannot do so: with several models or presets, values with commas, which
    would be read as lists, or rows that are not a full grid.
    """
    models, presets, policies = (_distinct(rows, one) for one in ("model", "preset", "policy"))
    values: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row["params"].items():
            if value not in (known := values.setdefault(name, [])):
                known.append(value)
    full = len(policies) * len(set(rows.column("seed"))) * prod(map(len, values.values()))
    texts = {name: list(map(_option_text, each)) for name, each in values.items()}
    plain = all(text is not None for each in texts.values() for text in each)
    if len(models) > 1 or len(presets) > 1 or len(rows) != full or not plain:
        return ""
    words = ["desim", "sweep", models[0]]
    words += ["--preset", presets[0]] if presets[0] else []
    for name, each in texts.items():
        words += ["--set", f"{name}={','.join(map(str, each))}"]
    for policy in policies:
        # A label joins the policies of several roles with spaces; an option joins them with +.
        words += ["--policy", policy.replace(" ", "+")]
    return shlex.join([*words, "--seeds", seeds])


def _option_text(value: object) -> str | None:
    """Return a value as `--set` reads it; None if it cannot."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float) or (isinstance(value, str) and "," not in value):
        return str(value)
    return None


def _identity(folder: Path) -> dict[str, str]:
    """Return what determines the rows, by topic; nothing if the checkpoint is not there."""
    if not (folder / FILE_NAME).is_file():
        return {}
    # A sweep that is being played holds the lock.
    with contextlib.suppress(UsageError, BadRecord), Store(folder, read=True) as store:
        return store.shown_topics()
    return {}


def _distinct(rows: Rows, name: str) -> list[str]:
    return [str(value) for value in dict.fromkeys(map(str, rows.column(name)))]


def _seeds(rows: Rows) -> str:
    seeds = sorted(set(rows.column("seed")))
    whole = len(seeds) == seeds[-1] - seeds[0] + 1
    return f"{seeds[0]}:{seeds[-1] + 1}" if whole else ",".join(map(str, seeds))


#: Worlds, which differ in model, preset or parameters, that have sections of their own.
_MOST_WORLDS = 12


def sweep_page(rows: Rows, path: Path, against: str = "", minimise: str = "") -> Page:
    """Return the report about a sweep.

    Args:
        rows: Its rows.
        path: Where they were read.
        against: The policy with which the others are compared; empty for the best mean.
        minimise: The figure that it is about, of which lower is better; empty for the score.

    Raises:
        UsageError: The rows are empty, *against* does not exist, or squares of figures overflow.
    """
    if not rows:
        raise UsageError(f"{path} holds no rows, so there is nothing to report")
    try:
        return _page(rows, path, against, minimise)
    except OverflowError:
        raise UsageError(f"{path} holds scores that are too large for a mean") from None


def _page(rows: Rows, path: Path, against: str, minimise: str) -> Page:
    factors, figure = swept(rows), minimise or "score"
    models = ", ".join(dict.fromkeys(map(str, rows.column("model"))))
    worlds = _by_world(rows)
    lead = (
        " ".join(conclusion(worlds, _levels(rows, worlds), minimise)),
        (
            f"{len(rows):,} episodes, of which {len(rows.failed):,} failed. "
            "Differences are paired by seed."
        ),
    )
    sections = [
        *_worlds(rows, against, minimise),
        Section.of(
            f"{label_text(figure)} against each parameter", over_parameters(rows, factors, figure)
        ),
        Section.of("Main effects", main_effects(rows, factors, figure)),
        Section.of("Interactions", interactions(rows, factors, figure)),
        *_fans(rows),
        Section.of("How episodes ended", endings(rows)),
        Section.of("Failures", failures(rows)),
        Section.of("What was played", plan(rows, path)),
    ]
    return Page.of(f"Sweep of {models}", filter(None, lead), sections)


def _levels(rows: Rows, worlds: Mapping[str, Rows]) -> dict[str, Any]:
    """Return by world the value of the only parameter that varies, if that is a number."""
    names = [*varied(rows).values()]
    if len(names) != 1 or len(worlds) == 1:
        return {}
    found = {world: each.column(names[0])[0] for world, each in worlds.items()}
    return found if all(map(is_number, found.values())) else {}


def _worlds(rows: Rows, against: str, minimise: str) -> Iterator[Section]:
    """Yield a leaderboard for each world; scores of different ones have no common rank."""
    worlds = _by_world(rows)
    for name, each in islice(worlds.items(), _MOST_WORLDS):
        title = f"Leaderboard, {name}" if name else "Leaderboard"
        yield Section.of(title, leaderboard(each, against, minimise))
    if len(worlds) > _MOST_WORLDS:
        more = ([name, f"{len(each):,}"] for name, each in worlds.items())
        table = cleaned(["world", "episodes"], islice(more, _MOST_WORLDS, None))
        yield Section.of("Worlds without a leaderboard of their own", [table])


def _fans(rows: Rows) -> Iterator[Section]:
    for name, each in islice(_by_world(rows).items(), _MOST_WORLDS):
        title = f"Series, {name}" if name else "Series"
        yield Section.of(title, series_fans(each), is_brief=True)


def _by_world(rows: Rows) -> dict[str, Rows]:
    """Return the rows of each world by the columns that distinguish it."""
    names = varied(rows)
    if not names:
        return {"": rows}
    return {
        ", ".join(f"{name}={value}" for name, value in zip(names, key, strict=True)): each
        for key, each in rows.groups(*names.values()).items()
    }
