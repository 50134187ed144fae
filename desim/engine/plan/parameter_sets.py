"""The models of a sweep, each with its parameters set and the parameters by which it differs."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
from attrs import evolve

from desim.catalog import model_finder
from desim.catalog.changes import changed
from desim.catalog.presets import encoded_parameters, from_preset, nearest_preset, presets
from desim.composition.parts_model import PartsModel
from desim.core.model import Model
from desim.engine.plan.job import Variant
from desim.engine.plan.parameter_values import combinations
from desim.errors import UsageError
from desim.schema.arguments import needs_arguments

#: Stands for a missing value; differs from every parameter's value.
_MISSING = object()


def variants(
    models: Sequence[Any],
    preset: str,
    params: Mapping[str, Any],
    points: Sequence[Mapping[str, str]] = ({},),
) -> tuple[Variant, ...]:
    """Return each model for each combination of parameters, and at each point of a design.

    Args:
        models: Names (perhaps with `/preset`), model classes or models.
        preset: For models given by name or class; empty means the first.
        params: A value or a list of values by parameter.
        points: Texts by further parameters, the same parameters at all points.

    Raises:
        UsageError: A name does not exist, or a model refuses a value.
    """
    found = [
        evolve(one, model=_at_point(one.model, point))
        for given in models
        for one in _combined(given, preset, params)
        for point in points
    ]
    return tuple(_with_params(found, [*params, *points[0]]))


def _combined(given: Any, preset: str, params: Mapping[str, Any]) -> Iterator[Variant]:
    """Yield one model for each combination of parameters; `_with_params` completes them."""
    model, preset = _model(given, preset)
    for texts in combinations(params):
        yield Variant(model_finder.model_name(type(model)), preset, {}, changed(model, texts))


def _at_point(model: Model[Any], point: Mapping[str, str]) -> Model[Any]:
    if not point:
        return model
    try:
        return changed(model, point)
    except UsageError as fault:
        values = ", ".join(f"{name}={text}" for name, text in point.items())
        raise UsageError(f"the design has the point {values}: {fault}") from None


def _model(given: Any, preset: str) -> tuple[Model[Any], str]:
    """Return the model and the name of its preset, or of the nearest one."""
    built = model_finder.model(given, preset)
    name, _, behind = given.partition("/") if isinstance(given, str) else ("", "", "")
    if isinstance(given, type) or (name and not model_finder.builder(name)):
        return built, preset or behind or presets(type(built))[0]
    return built, nearest_preset(built)


def _with_params(variants: Sequence[Variant], params: Sequence[str]) -> Iterator[Variant]:
    """Add the parameters by which models differ: the same names for all models of one class."""
    opened = {name[:end] for name in params for end in _dots(name)}
    plain = [_open(_plain(v.model), opened) for v in variants]
    presets_of: dict[str, dict[str, Any]] = {}
    differing: dict[str, set[str]] = {}
    for variant, values in zip(variants, plain, strict=True):
        key = f"{variant.name}/{variant.preset}"
        if key not in presets_of:
            presets_of[key] = _open(_usual(variant), opened) or values
        usual = presets_of[key]
        names = differing.setdefault(variant.name, set(params))
        names.update(name for name in values if values[name] != usual.get(name, _MISSING))
    for variant, values in zip(variants, plain, strict=True):
        names = differing[variant.name]
        yield evolve(variant, params={name: values[name] for name in values if name in names})


def _dots(name: str) -> Iterator[int]:
    return (place for place, letter in enumerate(name) if letter == ".")


def _open(plain: Any, opened: AbstractSet[str], prefix: str = "") -> dict[str, Any]:
    """Return plain parameters by name; those in *opened* are replaced by their members.

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
    """Return the plain parameters of a variant's preset; empty for a class without defaults."""
    cls = type(variant.model)
    if not cls.presets[variant.preset] and needs_arguments(cls):
        return {}
    return _plain(from_preset(cls, variant.preset))


def _plain(model: Model[Any]) -> dict[str, Any]:
    """Return the plain parameters of a model as `--set` names them.

    Those of a part's model are under the part's name, not in the parameter that holds the part.
    """
    plain: dict[str, Any] = msgspec.json.decode(encoded_parameters(model))
    for _, _, inside in model.inner_models(plain) if isinstance(model, PartsModel) else ():
        if isinstance(inside, dict):
            inside.clear()
    parts = model.models
    return {**plain, **{name: _plain(part) for name, part in parts.items()}}
