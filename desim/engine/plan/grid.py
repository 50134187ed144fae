"""The grid of a sweep: models x policies x seeds, checked before the first episode starts."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import msgspec
from attrs import field, frozen

from desim.core.limits import Limits
from desim.core.model import Model
from desim.core.policy import Policy
from desim.core.streams import check_seed, kept_globals
from desim.engine.plan.job import MAX_RANGE, Cell, Frame, Job, Variant
from desim.engine.plan.lineups import PolicyEntry, entries
from desim.engine.plan.parameter_sets import variants
from desim.engine.plan.parameter_values import as_list, from_numpy, refuse_duplicates, value_text
from desim.engine.plan.players import is_fixed, players
from desim.engine.plan.record_job import waits
from desim.episodes.lineup import Policies, assigned, is_coroutine, maker_of, resolve
from desim.errors import UsageError
from desim.opened_files import noting
from desim.schema import to_plain
from desim.short_repr import short_repr

if TYPE_CHECKING:  # `import desim` must not load numpy
    from desim.engine.plan.parameter_points import Design


#: Most episodes of a plan that are played without being asked for twice.
MAX_EPISODES = 10_000_000

#: Keys of `set` with this prefix vary arguments of policies; the others parameters of the model.
_POLICY_PREFIX = "policy."


@frozen
class Grid:
    """The jobs of a sweep, in order: models, then points of a design, then policies, then seeds.

    Attributes:
        cells: Models with policies; all different, except at equal points of a design.
        seeds: Shared by all cells, so that comparisons are paired.
        limits: The limits of each episode.
        changes: Parameters and arguments as given; some name files.
        series: Whether rows hold the series of their models.
        design: The points, if the sweep has a design.
        out: The folder of the sweep, in which each episode has a record; None without records.
    """

    cells: tuple[Cell, ...]
    seeds: Sequence[int]
    limits: Limits | None = None
    changes: Mapping[str, Any] = field(factory=dict)
    series: bool = False
    design: "Design | None" = None
    out: Path | None = None

    def __len__(self) -> int:
        return len(self.cells) * len(self.seeds)

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """The models, each once."""
        return tuple({id(cell.variant): cell.variant for cell in self.cells}.values())

    @cached_property
    def entries(self) -> tuple[PolicyEntry, ...]:
        """The policies, each once."""
        return tuple({id(cell.entry): cell.entry for cell in self.cells}.values())

    @cached_property
    def _waiting(self) -> frozenset[int]:
        model = self.cells[0].variant.model
        return frozenset(
            id(one)
            for one in self.entries
            if waits(model, one.policies) or _needs_a_loop(model, one.policies)
        )

    def waits(self, index: int) -> bool:
        """Return whether the policies of a job wait in an event loop of another thread."""
        return id(self.cells[index // len(self.seeds)].entry) in self._waiting

    def job(self, index: int) -> Job:
        """Return the job with an index from 0 to `len(self) - 1`."""
        cell, seed = divmod(index, len(self.seeds))
        return Job(self.cells[cell], self.seeds[seed], self.limits, self.series, self.out)

    def plays(self, cell: int) -> dict[str, str]:
        """Return the data that determine the episodes of a cell, by topic; see `code_topics`."""
        variant, entry = self.cells[cell].variant, self.cells[cell].entry
        model = msgspec.json.encode([variant.name, to_plain(variant.model)]).decode()
        series = {"series": "in rows"} if self.series else {}
        limits = limits_text(self.limits)
        records = {"records": "of all episodes"} if self.out else {}
        played = f"{entry.label} = {entry.named}" if entry.named else entry.label
        return {"model": model, "policies": played, "limits": limits, **series, **records}

    def parts(self, cell: int) -> Iterator[Any]:
        """Yield the classes, functions and texts of a cell."""
        return self.cells[cell].parts()

    def frames(self) -> list[Frame]:
        """Return for each cell what makes rows of its results."""
        return [*map(Frame.of, self.cells)]

    def is_fixed(self, cell: int) -> bool:
        """Return whether one episode of a cell serves all seeds; recorded ones are all played."""
        one = self.cells[cell]
        return self.out is None and is_fixed(one.variant.model, one.entry.policies)

    def plays_again(self, cell: int) -> bool:
        """Return whether an episode of a cell is played again: no policy waits or learns."""
        one = self.cells[cell]
        parts = players(one.variant.model, one.entry.policies)
        if self.is_fixed(cell) or self.waits(cell * len(self.seeds)):
            return False
        kinds = (part for part in parts if isinstance(part, type) and issubclass(part, Policy))
        return not any(kind.reaches or kind.after is not Policy.after for kind in kinds)

    def name(self, cell: int) -> str:
        """Return the model and the policies of a cell, for error texts."""
        variant = self.cells[cell].variant
        return f"{variant.name}/{variant.preset}, {self.cells[cell].entry.label}"


def _needs_a_loop(model: Model[Any], policies: Policies) -> bool:
    """Return whether a policy is a coroutine where an event loop runs, as in a notebook."""
    makers: Iterator[Any] = (maker_of(one, of) for one, of in assigned(model, policies))
    if not any(map(is_coroutine, makers)):
        return False
    import asyncio  # takes longer to import than desim itself

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def limits_text(limits: Limits | None) -> str:
    """Return the limits of an episode as a text."""
    given = attrs.asdict(limits) if limits else {}
    return ", ".join(f"{v:g} {k}" for k, v in given.items() if v is not None) or "none"


@noting()  # for a model or a policy that reads a file once for all episodes
def grid(
    model: Any,
    policies: Any,
    seeds: Iterable[int],
    preset: str = "",
    changes: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    design: "Design | None" = None,
    *,
    series: bool = False,
) -> Grid:
    """Build and check the grid of a sweep.

    Args:
        model: A name (perhaps with `/preset`), a model class, a model, or a list of these.
        policies: A spec, class, function, attrs instance, mapping of roles to these, or a list of
            these.
        seeds: Whole numbers of at least 0, all different.
        preset: For models given by name or class; empty means the first.
        changes: A value or a list of values by parameter, or by `policy.` and an argument.
        limits: The limits of each episode.
        design: Points at which every model and policy is played; of parameters and arguments that
            *changes* do not set.
        series: Whether rows hold the series of their models.

    Raises:
        UsageError: A name does not exist, something is given twice, empty or wrong, or a model
            reports no series and *series* are wanted.
    """
    params, arguments = _split_changes(changes or {})
    models, given = as_list(model, "model"), as_list(policies, "policy")
    if design is None:
        every = variants(models, preset, params)
        ways = tuple(entries(given, arguments, every[0].model))
        cells = tuple(Cell(variant, entry) for variant in every for entry in ways)
    else:
        cells = tuple(_cells_of(design, models, preset, params, given, arguments))
    made = Grid(cells, _range_or_tuple(seeds), limits or None, dict(changes or {}), series, design)
    refuse_duplicates("model", [f"{v.name}/{v.preset} {v.params}" for v in made.variants])
    first = [cell for cell in cells if cell.variant is cells[0].variant and not cell.point]
    refuse_duplicates("policy", [cell.entry.label for cell in first])
    if series:
        for variant in made.variants:
            _check_series(variant.model)
    _check_lineups(made)
    return made


def _check_series(model: Model[Any]) -> None:
    if model.series is None:
        name = type(model).__name__
        raise UsageError(f"{name} reports no series: it has no method series(state)")


def _cells_of(
    design: "Design",
    models: list[Any],
    preset: str,
    params: Mapping[str, Any],
    policies: list[Any],
    arguments: Mapping[str, Any],
) -> Iterator[Cell]:
    """Yield every model at every point with every policy."""
    refuse_duplicates(
        "parameter", [*design.names, *params, *(_POLICY_PREFIX + n for n in arguments)]
    )
    split = [_split_changes(_texts(design.at(place))) for place in range(len(design))]
    # Points that differ in arguments of policies alone share their model, and the other way round.
    of_model = list({_key(own): own for own, _ in split}.values())
    every = variants(models, preset, params, of_model)
    usual = tuple(entries(policies, arguments, every[0].model))
    of_policy = {
        key: tuple(entries(policies, {**arguments, **texts}, every[0].model))
        for key, texts in {_key(texts): texts for _, texts in split}.items()
    }
    places = {_key(own): place for place, own in enumerate(of_model)}
    for base in range(0, len(every), len(of_model)):
        for point, (own, texts) in enumerate(split):
            variant = every[base + places[_key(own)]]
            for entry, plain in zip(of_policy[_key(texts)], usual, strict=True):
                yield Cell(variant, entry, point, plain.label)


def _key(texts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(texts.values())


def _texts(point: Mapping[str, Any]) -> dict[str, str]:
    return {name: value_text(value) for name, value in point.items()}


def _split_changes(changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the changes of the model and those of policies."""
    params = {k: v for k, v in changes.items() if not k.startswith(_POLICY_PREFIX)}
    return params, {
        k.removeprefix(_POLICY_PREFIX): v for k, v in changes.items() if k not in params
    }


def checked_seeds(seeds: Iterable[int]) -> tuple[int, ...]:
    """Return seeds as a tuple.

    Raises:
        UsageError: The list is empty, there are more than 10 million, or a seed is given twice or
            not a whole number of at least 0.
    """
    if isinstance(seeds, str | bytes) or not isinstance(seeds, Iterable):
        raise UsageError(
            f"seeds are {short_repr(seeds)}; give a list or a range, such as range(100)"
        )
    some = seeds if isinstance(seeds, range) else [*itertools.islice(seeds, MAX_EPISODES + 1)]
    if _count(some) > MAX_EPISODES:
        raise UsageError(f"more than {MAX_EPISODES:,} seeds were given; no more are possible")
    checked = tuple(map(from_numpy, some))
    for seed in checked:
        check_seed(seed)
    if not checked:
        raise UsageError("no seed was given; give at least one")
    refuse_duplicates("seed", checked)
    return checked


def _range_or_tuple(seeds: Iterable[int]) -> Sequence[int]:
    """Return checked seeds; a range stays one, as it may be long."""
    if not isinstance(seeds, range):
        return checked_seeds(seeds)
    if _count(seeds) > MAX_RANGE:
        raise UsageError(f"{_count(seeds):,} seeds were given; at most {MAX_RANGE:,} are possible")
    checked_seeds([seeds[0], seeds[-1]] if seeds[1:] else seeds)
    return seeds


def refuse_many(seeds: Iterable[int], changes: Mapping[str, Any], cells: int = 1) -> None:
    """Refuse more episodes than are played without being asked for twice.

    Args:
        seeds: The seeds.
        changes: Values by parameter, and by `policy.` and an argument, which not every policy
            takes.
        cells: How many cells there are in any case.

    Raises:
        UsageError: There are too many.
    """
    params, arguments = _split_changes(changes)
    values = math.prod(map(_count, params.values()))
    least = max([cells, *(values * _count(one) for one in (1, *arguments.values()))])
    if (count := least * _count(seeds)) > MAX_EPISODES:
        raise UsageError(
            f"{count:,} episodes were asked for; more than {MAX_EPISODES:,} are played with --many "
            "(many=True)"
        )


def _count(given: Any) -> int:
    """Return how many values are given; a range may have more than `len` can count."""
    found = from_numpy(given)
    if isinstance(found, range) and found:
        return (found[-1] - found[0]) // found.step + 1
    return len(found) if isinstance(found, list | tuple) else 1


def disjoint_seeds(
    seeds: Iterable[int], held_out: Iterable[int] | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return training and held-out seeds; by default as many held-out ones behind the others.

    Raises:
        UsageError: A seed is in both or invalid, or one of the lists is empty.
    """
    ours = checked_seeds(seeds)
    others = range(max(ours) + 1, max(ours) + 1 + len(ours)) if held_out is None else held_out
    unseen = checked_seeds(others)
    if shared := set(ours) & set(unseen):
        raise UsageError(
            f"seed {min(shared)} is in both training and held-out seeds; they must differ"
        )
    return ours, unseen


def with_further(first: Sequence[int], most: int) -> list[int]:
    """Return the seeds of a first batch, and those after the largest of them.

    Args:
        first: At least one, as `checked_seeds` returns them.
        most: The total number of seeds.

    Raises:
        UsageError: The first batch has more than *most* seeds.
    """
    if len(first) > most:
        raise UsageError(
            f"max_seeds={most} was given, but the first batch has {len(first)} seeds already"
        )
    start = max(first) + 1
    return [*first, *range(start, start + most - len(first))]


@kept_globals()
def _check_lineups(made: Grid) -> None:
    """Build the policies of each combination once, so that a wrong name stops the sweep early."""
    for cell in made.cells:
        try:
            resolve(cell.variant.model, cell.entry.policies, made.seeds[0])
        except UsageError:
            raise
        except Exception:  # noqa: BLE001, S112 (another error may be due to the seed: a row has it)
            continue
