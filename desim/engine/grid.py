"""The plan of a sweep, models x policies x seeds, checked before the first episode starts."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from desim.core.limits import Limits
from desim.core.streams import check_seed, kept_globals
from desim.engine.opened_files import noting
from desim.engine.parameters import (
    from_numpy,
    named_models,
    refuse_duplicates,
    shown_parameters,
    value_text,
)
from desim.engine.plan import Cell, Grid
from desim.engine.policies import entries
from desim.episodes.lineup import resolve
from desim.errors import UsageError
from desim.short_repr import short_repr

#: Most episodes of a plan.
MAX_EPISODES = 10_000_000

#: Keys of `set` with this prefix vary arguments of policies; the others parameters of the model.
_POLICY_PREFIX = "policy."


@noting()  # for a model or a policy that reads a file once for all episodes
def grid(
    model: Any,
    policies: Any,
    seeds: Iterable[int],
    preset: str = "",
    changes: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    points: Sequence[Mapping[str, Any]] = (),
) -> Grid:
    """Return the plan of a sweep: models, then points of a design, then policies, then seeds.

    *changes* are `set` of `sweep`, which explains the other arguments. *points* of a design are
    values of the same parameters and arguments each, which *changes* do not set.
    """
    if points:
        refuse_duplicates("parameter", [*points[0], *(changes or {})])
    params, arguments = _split_changes(changes or {})
    each = math.prod(map(_count, params.values())) * max(map(_count, arguments.values()), default=1)
    _refuse_many(each * _count(seeds))  # before a cell is built
    given = _as_list(model, "model"), preset, _as_list(policies, "policy")
    cells = tuple(_cells(*given, params, arguments, points))
    checked = checked_seeds(seeds)
    _refuse_many(len(cells) * len(checked))
    made = Grid(cells, seeds if isinstance(seeds, range) else checked)
    _check_lineups(made)
    return made.changed(limits=limits or None)


def _cells(
    models: list[Any],
    preset: str,
    policies: list[Any],
    params: Mapping[str, Any],
    arguments: Mapping[str, Any],
    points: Sequence[Mapping[str, Any]],
) -> Iterator[Cell]:
    """Yield every model at every point with every policy."""
    texts = [{name: value_text(value) for name, value in point.items()} for point in points]
    of_models, of_policies = zip(*map(_split_changes, texts or [{}]), strict=True)
    named = list(named_models(models, preset, params, of_models))
    shown = shown_parameters(named, [*params, *of_models[0]])
    first = [*zip(named, shown, strict=True)][:: len(of_models)]
    refuse_duplicates("model", [f"{name}/{of} {its}" for (name, of, _), its in first])
    usual = list(entries(policies, arguments, named[0][-1]))
    ways = [
        list(entries(policies, {**arguments, **own}, named[0][-1])) if own else usual
        for own in of_policies
    ]
    refuse_duplicates(
        "policy", [one.label for one in ways[0]], "once, or under names of its own: {name: policy}"
    )
    for place, ((name, of, model), its) in enumerate(zip(named, shown, strict=True)):
        point = place % len(ways)
        for entry, plain in zip(ways[point], usual, strict=True):
            at = (point, plain.label) if points else (None, "")
            yield Cell(model, entry, name, of, its, *at)


def _as_list(given: Any, what: str) -> list[Any]:
    # A model or a policy may be iterable, so only lists and tuples count as several objects.
    objects = list(given) if isinstance(given, list | tuple) else [given]
    if not objects:
        raise UsageError(f"no {what} was given; give at least one")
    return objects


def _split_changes(changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the changes of the model and those of policies."""
    of: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    for name, value in changes.items():
        of[name.startswith(_POLICY_PREFIX)][name.removeprefix(_POLICY_PREFIX)] = value
    return of


@kept_globals()
def _check_lineups(made: Grid) -> None:
    """Build the policies of each combination once, so that a wrong name stops the sweep early."""
    for cell in made.cells:
        try:
            resolve(cell.model, cell.entry.policies, made.seeds[0])
        except UsageError:
            raise
        except Exception:  # noqa: BLE001, S112 (another error may be due to the seed: a row has it)
            continue


def _count(given: Any) -> int:
    """Return how many values are given, of a range at most one more than is possible."""
    found = from_numpy(given)
    # A range may have more members than `len` can count.
    found = found[: MAX_EPISODES + 1] if isinstance(found, range) else found
    return len(found) if isinstance(found, list | tuple | range) else 1


def _refuse_many(episodes: int) -> None:
    if episodes > MAX_EPISODES:
        raise UsageError(
            f"more than {MAX_EPISODES:,} episodes were asked for, the most that are played at once"
        )


def checked_seeds(seeds: Iterable[int]) -> tuple[int, ...]:
    """Return seeds as a tuple; raise a `UsageError` for none, too many, wrong or equal ones."""
    if isinstance(seeds, str | bytes) or not isinstance(seeds, Iterable):
        raise UsageError(
            f"seeds are {short_repr(seeds)}; give a list or a range, such as range(100)"
        )
    checked = tuple(map(from_numpy, itertools.islice(seeds, MAX_EPISODES + 1)))
    _refuse_many(len(checked))
    if not checked:
        raise UsageError("no seed was given; give at least one")
    for seed in checked:
        check_seed(seed)
    refuse_duplicates("seed", checked)
    return checked
