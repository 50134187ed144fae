"""What a sweep plays: models x policies x seeds, checked before the first episode starts."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from attrs import evolve, frozen

from desim import catalog
from desim.episode import version
from desim.errors import UsageError
from desim.kernel import seated
from desim.params import changed, from_preset, nearest_preset, presets
from desim.protocols import Model
from desim.schema import to_plain
from desim.seating import seat_all, spread
from desim.sweeps.axes import combinations, listed, plain_number, refuse_twins
from desim.sweeps.jobs import Job, Lineup, Variant
from desim.sweeps.lineups import lineups

__all__ = ["Grid", "grid"]

#: Keys of `set` that begin so vary arguments of policies instead of parameters of the model.
POLICY = "policy."


@frozen
class Grid:
    """The jobs of a sweep, in order: model variants, then policies, then seeds.

    Attributes:
        variants: Models; no two are alike.
        lineups: Who plays; no two have the same label.
        seeds: Shared by all, so that comparisons are paired.
    """

    variants: tuple[Variant, ...]
    lineups: tuple[Lineup, ...]
    seeds: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.variants) * len(self.lineups) * len(self.seeds)

    def job(self, index: int) -> Job:
        """Return the job at a place in the order."""
        above, seed = divmod(index, len(self.seeds))
        variant, lineup = divmod(above, len(self.lineups))
        return Job(self.variants[variant], self.lineups[lineup], self.seeds[seed])

    def identity(self) -> dict[str, str]:
        """Tell all that decides what the rows will be, by topic."""
        models = [[v.name, v.preset, to_plain(v.model)] for v in self.variants]
        return {
            "desim": version(),
            "models": msgspec.json.encode(models).decode(),
            "policies": "; ".join(lineup.label for lineup in self.lineups),
            "seeds": ",".join(_spans(self.seeds)),
        }


def grid(
    model: Any,
    policies: Any,
    seeds: Iterable[int],
    preset: str = "",
    changes: Mapping[str, Any] | None = None,
) -> Grid:
    """Lay out a sweep.

    Args:
        model: A name (perhaps with `/preset`), a model class, a model, or a list of such.
        policies: A spec, class, attrs instance, mapping of roles to such, or a list of these.
        seeds: Whole numbers of at least 0, none twice.
        preset: For models given by name or class; empty stands for the first.
        changes: A value or a list of values by parameter, or by `policy.` and an argument.

    Raises:
        UsageError: Something does not exist, is given twice, or is empty.
    """
    params, arguments = _parted(changes or {})
    models = [one for each in listed(model, "model") for one in _variants(each, preset, params)]
    variants = tuple(_shown(models, params))
    players = tuple(lineups(listed(policies, "policy"), arguments, variants[0].model))
    refuse_twins("model", [f"{v.name}/{v.preset} {v.params}" for v in variants])
    refuse_twins("policy", [lineup.label for lineup in players])
    made = Grid(variants, players, _checked(seeds))
    _try_seats(made)
    return made


def _parted(changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part changes of the model from those of policies."""
    params = {k: v for k, v in changes.items() if not k.startswith(POLICY)}
    return params, {k.removeprefix(POLICY): v for k, v in changes.items() if k not in params}


def _variants(given: Any, preset: str, params: Mapping[str, Any]) -> Iterator[Variant]:
    """Yield one model for every combination of parameters."""
    model, preset = _model(given, preset)
    for texts in combinations(params):
        yield Variant(catalog.model_name(type(model)), preset, {}, changed(model, texts))


def _model(given: Any, preset: str) -> tuple[Model[Any], str]:
    """Build a model; say which preset it is, or is nearest to."""
    if isinstance(given, str):
        preset = preset or given.partition("/")[2]
        built = catalog.model(given, preset)
        return built, preset or presets(type(built))[0]
    if isinstance(given, type):
        return from_preset(given, preset), preset or presets(given)[0]
    if not isinstance(given, Model):
        raise UsageError(f"{given!r} is no model: it needs roles, begin, score and metrics")
    if preset:
        raise UsageError(f"preset {preset!r} belongs to a model's name; a built model was given")
    return given, nearest_preset(given)


def _shown(variants: Sequence[Variant], params: Mapping[str, Any]) -> Iterator[Variant]:
    """Add the parameters by which models differ: the same names for all models of one class."""
    plain = [_plain(v.model) for v in variants]
    differing: dict[str, set[str]] = {}
    for variant, mine in zip(variants, plain, strict=True):
        usual = to_plain(from_preset(type(variant.model), variant.preset))
        names = differing.setdefault(variant.name, set(params))
        names.update(name for name in mine if mine[name] != usual[name])
    for variant, mine in zip(variants, plain, strict=True):
        shown = {name: mine[name] for name in mine if name in differing[variant.name]}
        yield evolve(variant, params=shown)


def _plain(model: Model[Any]) -> dict[str, Any]:
    try:
        told: dict[str, Any] = to_plain(model)
    except TypeError as fault:
        raise UsageError(
            f"{type(model).__name__} cannot be written down ({fault}); a model is a frozen attrs "
            "class of plain values"
        ) from None
    return told


def _checked(seeds: Iterable[int]) -> tuple[int, ...]:
    if isinstance(seeds, str | bytes) or not isinstance(seeds, Iterable):
        raise UsageError(f"seeds are {seeds!r}; give a list or a range, such as range(100)")
    given = tuple(plain_number(seed) for seed in seeds)
    for seed in given:
        if type(seed) is not int or seed < 0:
            raise UsageError(f"seed {seed!r} was given; a seed is a whole number of at least 0")
    if not given:
        raise UsageError("no seed was given; give at least one")
    refuse_twins("seed", given)
    return given


def _spans(seeds: Sequence[int]) -> Iterator[str]:
    """Write runs of seeds as START:STOP."""
    start = 0
    for i in range(1, len(seeds) + 1):
        if i == len(seeds) or seeds[i] != seeds[i - 1] + 1:
            alone = i - start == 1
            yield str(seeds[start]) if alone else f"{seeds[start]}:{seeds[i - 1] + 1}"
            start = i


def _try_seats(made: Grid) -> None:
    """Seat everybody once: a typing error stops the sweep, not each of its episodes."""
    for variant, lineup in itertools.product(made.variants, made.lineups):
        seated(variant.model, frozenset(spread(variant.model, lineup.policies)))
        try:
            seat_all(variant.model, lineup.policies, made.seeds[0])
        except UsageError:
            raise
        except Exception:  # noqa: BLE001, S112 (whatever else fails is told in the rows)
            continue
