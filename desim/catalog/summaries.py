"""The data that `desim list` shows, as plain objects: models with presets, roles and policies."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from desim import catalog
from desim.core.model import Model, revision_of
from desim.core.policy import Policy, is_drawing, knows
from desim.lanes import DecidesAll, HasLanes
from desim.schema import codec, json_schema, members
from desim.schema.arguments import parameters
from desim.schema.wire_types import attribute_texts
from desim.short_repr import short_repr

#: Characters of a default that JSON does not have.
_DEFAULT = 40

Plain = dict[str, Any]


def summarise_catalog(names: Iterable[str] = ()) -> Plain:
    """Return the models named, or all that are shipped with desim, and the policies of all models.

    Args:
        names: Names in the catalog or `module:Class`, either with or without `/preset`, or
            `module:function`.

    Returns:
        `models` by name, `policies` that play every model by name, and as `not_imported` by name
        the file of each model in a folder `models` of the user's that was not named, and whose code
        was therefore not run.

    Raises:
        UsageError: A model or a preset does not exist.
    """
    named = tuple(names)
    foreign = {} if named else catalog.foreign_models()
    chosen = named or [name for name in catalog.model_names() if name not in foreign]
    return {
        "models": {name: _model(name) for name in chosen},
        "policies": _policies(catalog.policies()),
        "not_imported": foreign,
    }


def schemas(name: str) -> Plain:
    """Return the JSON Schemas of a model: its roles, its parameters, and those of its parts.

    Raises:
        UsageError: The model or the preset does not exist.
    """
    world = catalog.model(name)
    parts = {
        part: {"model": catalog.model_name(type(of)), "params": json_schema(type(of))}
        for part, of in world.models.items()
    }
    return {
        "model": catalog.model_name(type(world)),
        "roles": {
            role: {
                "observation": json_schema(of.observation),
                "action": codec(of.action).json_schema(),
            }
            for role, of in world.roles.items()
        },
        "params": json_schema(type(world)),
        **({"parts": parts} if parts else {}),
    }


def _model(name: str) -> Plain:
    """Return one model.

    Its text is the first line of its docstring, or of that of the function that returns it.
    `further_arguments` are those that policies of every model take in this one beside their own.
    """
    model, function = catalog.model(name), catalog.builder(name.partition("/")[0])
    cls: Any = type(model)
    default, texts = tuple(model.default_roles), attribute_texts(cls)
    return {
        "text": (function and _first_line(function)) or _first_line(cls),
        "revision": revision_of(model),
        "presets": catalog.presets(cls),
        "roles": {
            role: {
                "default": role in default,
                "observation": " | ".join(each.__name__ for each in members(of.observation)),
                "actions": {each.__name__: _first_line(each) for each in members(of.action)},
            }
            for role, of in model.roles.items()
        },
        "parameters": [
            {
                "name": one.alias,
                "value": _json_value(getattr(model, one.name)),
                "text": texts.get(one.name, ""),
            }
            for one in attrs.fields(cls)
            if one.init
        ],
        "policies": _policies(catalog.policies(cls), model),
        "further_arguments": _further_arguments(cls),
        "baselines": catalog.baselines(model),
        "parts": dict(_parts(model)),
        "warnings": dict(cls.preset_warnings),
        "lanes": _has_lanes(model),
    }


def _json_value(value: Any) -> Any:
    plain = value is None or isinstance(value, int | float | str)
    return value if plain else short_repr(value, _DEFAULT)


def _has_lanes(model: Model[Any]) -> bool:
    return not model.models and isinstance(model, HasLanes)


def _parts(model: Model[Any], prefix: str = "") -> Iterator[tuple[str, Plain]]:
    """Yield the parts by name, also those inside a part, as `west.plant`."""
    for name, part in model.models.items():
        cls = type(part)
        policies = _policies(catalog.policies(cls), part)
        yield f"{prefix}{name}", {"name": catalog.model_name(cls), "policies": policies}
        yield from _parts(part, f"{prefix}{name}.")


def _further_arguments(model: type) -> dict[str, list[Plain]]:
    found = {}
    for name, policy in catalog.policies().items():
        own = {argument["name"] for argument in _arguments(policy)}
        more = [each for each in _arguments(policy, model) if each["name"] not in own]
        if more:
            found[name] = more
    return found


def _policies(
    policies: Mapping[str, type[Policy]], model: Model[Any] | None = None
) -> dict[str, Plain]:
    """Return policies by name.

    `knows` is a level of `KNOWLEDGE`; `draws` says whether actions depend on chance or on the seed,
    and `lanes` whether many episodes of the model are answered at once.
    """
    return {
        name: {
            "text": _first_line(cls),
            "arguments": sorted(_arguments(cls), key=lambda each: not each["required"]),
            "knows": knows(cls, model),
            "draws": is_drawing(cls),
            "lanes": model is not None and _has_lanes(model) and isinstance(cls, DecidesAll),
        }
        for name, cls in policies.items()
    }


def _arguments(policy: type[Policy], model: type | None = None) -> Iterator[Plain]:
    """Yield what a spec may set; a default other than a number or a text is None."""
    for call in policy.arguments(model, {}):
        texts = attribute_texts(call) if isinstance(call, type) else {}
        for name, parameter in parameters(call).items():
            plain = isinstance(parameter.default, int | float | str)
            yield {
                "name": name,
                "required": parameter.default is inspect.Parameter.empty,
                "default": parameter.default if plain else None,
                "text": texts.get(name, ""),
            }


def _first_line(documented: object) -> str:
    return inspect.cleandoc(documented.__doc__ or "").split("\n", 1)[0]
