"""The grid of a sweep: models x policies x seeds, checked before the first episode starts."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
from attrs import evolve, field, frozen

from desim.catalog import model_finder
from desim.catalog.changes import changed
from desim.catalog.presets import from_preset, nearest_preset, presets
from desim.core.limits import Limits
from desim.core.protocols import HasParts, HasPresets, Model, NamesModels, offers
from desim.core.series import check_series
from desim.episodes.lineup import resolve
from desim.errors import UsageError
from desim.schema import to_plain
from desim.schema.arguments import needs_arguments
from desim.short_repr import short_repr
from desim.sweeps.combinations import as_list, combinations, from_numpy, refuse_duplicates
from desim.sweeps.entries import PolicyEntry, entries
from desim.sweeps.jobs import Job, Variant

__all__ = ["Grid", "grid"]

#: Differs from every parameter's value.
_MISSING = object()

#: Keys of `set` with this prefix vary arguments of policies; the others parameters of the model.
_POLICY_PREFIX = "policy."


class _Names(msgspec.Struct):
    """What of a row names its job."""

    model: str
    preset: str
    policy: str
    seed: int


_RowNames = msgspec.json.Decoder(_Names)


@frozen
class Grid:
    """The jobs of a sweep, in order: model variants, then policies, then seeds.

    Attributes:
        variants: Models, all different.
        entries: Policies, all with different labels.
        seeds: Shared by all variants and entries, so that comparisons are paired.
        limits: Of each episode.
        changes: Parameters and arguments as they were given; some name files.
        series: Whether rows hold the series of their models.
    """

    variants: tuple[Variant, ...]
    entries: tuple[PolicyEntry, ...]
    seeds: tuple[int, ...]
    limits: Limits | None = None
    changes: Mapping[str, Any] = field(factory=dict)
    series: bool = False

    def __len__(self) -> int:
        return len(self.variants) * len(self.entries) * len(self.seeds)

    def job(self, index: int) -> Job:
        """Return the job with an index from 0 to `len(self) - 1`."""
        above, seed = divmod(index, len(self.seeds))
        variant, entry = divmod(above, len(self.entries))
        return Job(
            self.variants[variant],
            self.entries[entry],
            self.seeds[seed],
            self.limits,
            self.series,
        )

    def owns(self, index: int, row: bytes) -> bool:
        """Return whether a row as JSON is that of the job with an index."""
        if not 0 <= index < len(self):
            return False
        try:
            names = _RowNames.decode(row)
        except msgspec.DecodeError:
            return False
        job = self.job(index)
        variant = job.variant
        mine = (variant.name, variant.preset, job.entry.label, job.seed)
        return mine == (names.model, names.preset, names.policy, names.seed)


def grid(
    model: Any,
    policies: Any,
    seeds: Iterable[int],
    preset: str = "",
    changes: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    *,
    series: bool = False,
) -> Grid:
    """Build and check the grid of a sweep.

    Args:
        model: A name (perhaps with `/preset`), a model class, a model, or a list of these.
        policies: A spec, class, function, attrs instance, mapping of roles to these, or a list of
            these.
        seeds: Whole numbers of at least 0, all different.
        preset: For models given by name or class; empty stands for the first.
        changes: A value or a list of values by parameter, or by `policy.` and an argument.
        limits: Of each episode.
        series: Whether rows hold the series of their models.

    Raises:
        UsageError: A name does not exist, something is given twice, empty or wrong, or a model
            reports no series and *series* are wanted.
    """
    params, arguments = _split_changes(changes or {})
    models = [one for each in as_list(model, "model") for one in _variants(each, preset, params)]
    variants = tuple(_with_params(models, params))
    players = tuple(entries(as_list(policies, "policy"), arguments, variants[0].model))
    refuse_duplicates("model", [f"{v.name}/{v.preset} {v.params}" for v in variants])
    refuse_duplicates("policy", [entry.label for entry in players])
    if series:
        for variant in variants:
            check_series(variant.model)
    made = Grid(
        variants, players, _checked_seeds(seeds), limits or None, dict(changes or {}), series
    )
    _check_lineups(made)
    return made


def _split_changes(changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the changes of the model and those of policies."""
    params = {k: v for k, v in changes.items() if not k.startswith(_POLICY_PREFIX)}
    return params, {
        k.removeprefix(_POLICY_PREFIX): v for k, v in changes.items() if k not in params
    }


def _variants(given: Any, preset: str, params: Mapping[str, Any]) -> Iterator[Variant]:
    """Yield one model for each combination of parameters; `_with_params` completes them."""
    model, preset = _model(given, preset)
    for texts in combinations(params):
        yield Variant(model_finder.model_name(type(model)), preset, {}, changed(model, texts))


def _model(given: Any, preset: str) -> tuple[Model[Any], str]:
    """Return the model and the name of its preset, or of the nearest one."""
    if isinstance(given, str):
        preset = preset or given.partition("/")[2]
        built = model_finder.model(given, preset)
        if model_finder.builder(given.partition("/")[0]):
            return built, nearest_preset(built)
        return built, preset or presets(type(built))[0]
    if isinstance(given, type):
        return from_preset(given, preset), preset or presets(given)[0]
    if not isinstance(given, Model):
        raise UsageError(
            f"{short_repr(given)} is no model: it needs roles, begin, score and metrics"
        )
    if preset:
        raise UsageError(f"preset {preset!r} belongs to a model's name; a built model was given")
    return given, nearest_preset(given)


def _with_params(variants: Sequence[Variant], params: Mapping[str, Any]) -> Iterator[Variant]:
    """Add the parameters by which models differ: the same names for all models of one class."""
    opened = {name[:end] for name in params for end in _dots(name)}
    plain = [_open(_plain(v.model), opened) for v in variants]
    presets_of: dict[str, dict[str, Any]] = {}
    differing: dict[str, set[str]] = {}
    for variant, values in zip(variants, plain, strict=True):
        usual = presets_of.setdefault(
            f"{variant.name}/{variant.preset}",
            _open(_usual(variant), opened) or values,
        )
        names = differing.setdefault(variant.name, set(params))
        names.update(name for name in values if values[name] != usual.get(name, _MISSING))
    for variant, values in zip(variants, plain, strict=True):
        names = differing[variant.name]
        yield evolve(variant, params={name: values[name] for name in values if name in names})


def _dots(name: str) -> Iterator[int]:
    return (place for place, letter in enumerate(name) if letter == ".")


def _open(plain: Any, opened: AbstractSet[str], prefix: str = "") -> dict[str, Any]:
    """Return plain parameters by name, those in *opened* by the names of what is inside.

    With `scenario` in *opened*, `{"scenario": {"dt": 1}}` becomes `{"scenario.dt": 1}`.
    """
    items = plain.items() if isinstance(plain, dict) else enumerate(plain)
    found: dict[str, Any] = {}
    for key, value in items:
        name = f"{prefix}{key}"
        inside = name in opened and isinstance(value, dict | list)
        found |= _open(value, opened, f"{name}.") if inside else {name: value}
    return found


def _usual(variant: Variant) -> dict[str, Any]:
    """Return the plain parameters of a variant's preset; none of a class that has no defaults."""
    cls = type(variant.model)
    if not offers(cls, HasPresets) and needs_arguments(cls):
        return {}
    return _plain(from_preset(cls, variant.preset))


def _plain(model: Model[Any]) -> dict[str, Any]:
    """Return the plain parameters of a model as `--set` names them.

    Those of a part's model are under the part's name, and not in the parameter that holds the part.
    """
    try:
        plain: dict[str, Any] = to_plain(model)
    except TypeError as fault:
        raise UsageError(
            f"{type(model).__name__} cannot be written as JSON ({fault}); a model is a frozen "
            "attrs class of plain values"
        ) from None
    named: Any = type(model)
    for _, _, inside in named.inner_models(plain) if offers(named, NamesModels) else ():
        if isinstance(inside, dict):
            inside.clear()
    parts = model.models if offers(model, HasParts) else {}
    return {**plain, **{name: _plain(part) for name, part in parts.items()}}


def _checked_seeds(seeds: Iterable[int]) -> tuple[int, ...]:
    if isinstance(seeds, str | bytes) or not isinstance(seeds, Iterable):
        raise UsageError(
            f"seeds are {short_repr(seeds)}; give a list or a range, such as range(100)"
        )
    checked = tuple(from_numpy(seed) for seed in seeds)
    for seed in checked:
        if type(seed) is not int or seed < 0:
            raise UsageError(
                f"seed {short_repr(seed)} was given; a seed is a whole number of at least 0"
            )
    if not checked:
        raise UsageError("no seed was given; give at least one")
    refuse_duplicates("seed", checked)
    return checked


def _check_lineups(made: Grid) -> None:
    """Build the policies of each combination once, so that a wrong name stops the sweep early."""
    for variant, entry in itertools.product(made.variants, made.entries):
        try:
            resolve(variant.model, entry.policies, made.seeds[0])
        except UsageError:
            raise
        except Exception:  # noqa: BLE001, S112 (another error may be due to the seed: a row has it)
            continue
