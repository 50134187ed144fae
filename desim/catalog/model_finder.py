"""Models by name: the packages in the folders named `models`, `module:Class`, `module:function`."""

import contextlib
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from desim.catalog.changes import changed
from desim.catalog.imports import (
    folders,
    foreign_file,
    is_loaded,
    is_users_module,
    load,
)
from desim.catalog.presets import from_preset, presets
from desim.core.model import Model, no_model
from desim.core.roles import Role
from desim.errors import DesimError, UsageError, possible
from desim.faults import RAISED, fault_text, place
from desim.joined_packages import spec_name
from desim.schema.arguments import needs_arguments
from desim.short_repr import short_repr


@cache
def models() -> Mapping[str, type[Model[Any]]]:
    """Return the model classes in the folders named `models`, by name.

    A package that exports no model class is left out: a user's folder `models` may have others.
    """
    return {name: model_class(name) for name in model_names() if _model_classes(name)}


def model(given: Any, preset: str = "", changes: Mapping[str, Any] | None = None) -> Model[Any]:
    """Build a model from its name or class, or change one.

    Args:
        given: A name in the catalog or `module:Class`, with or without `/preset`; or
            `module:function`, a function without arguments that returns a model; or a model class;
            or a model.
        preset: A preset's name; empty for the first.
        changes: Values or texts by parameter; with dots a field inside one.

    Raises:
        UsageError: The model, the preset or a parameter does not exist, a value is refused, or the
            function fails or does not return a model; or a preset of a built model is given; or
            its roles are not of class `Role`.
    """
    if isinstance(given, str):
        built = _named(given, preset)
    elif isinstance(given, type):
        built = from_preset(given, preset)
    elif preset:
        raise UsageError(f"preset {preset!r} belongs to a model's name; a built model was given")
    else:
        built = given
    if not isinstance(built, Model):
        raise no_model(given)
    _check_roles(built)
    return changed(built, changes or {})


def _check_roles(model: Model[Any]) -> None:
    roles: Any = model.roles
    if not isinstance(roles, Mapping) or not all(isinstance(one, Role) for one in roles.values()):
        raise UsageError(
            f"{type(model).__name__} has roles={short_repr(roles)}; "
            "they are a mapping of names to desim.Role(observation, action)"
        )


def _named(name: str, preset: str) -> Model[Any]:
    name, _, behind = name.partition("/")
    if preset and behind and preset != behind:
        raise UsageError(f"presets {behind!r} and {preset!r} were given; a model is built from one")
    preset = preset or behind
    if (function := builder(name)) is None:
        found: Model[Any] = from_preset(model_class(name), preset)
        return found
    if preset:
        raise UsageError(f"preset {preset!r} was given; the function {name} returns one model")
    return _built(function, name)


def builder(name: str) -> Callable[[], Any] | None:
    """Return the function that a name leads to; None for the name of a model class.

    Raises:
        UsageError: The name is `module:Name` and cannot be loaded.
    """
    named = load(name, "model") if ":" in name else None
    return named if inspect.isfunction(named) else None


def model_names() -> tuple[str, ...]:
    """Return the names of the models in the folders named `models`; imports no model."""
    return folders("models")


def foreign_models() -> dict[str, str]:
    """Return by name the files of the models that are not shipped; see `foreign_model`."""
    return {name: file for name in model_names() if (file := foreign_model(name))}


def foreign_model(name: str) -> str:
    """Return the file that the name of a model in the catalog would import; see `foreign_file`."""
    return foreign_file(f"models.{name}") if name in model_names() else ""


def is_at_hand(name: str) -> bool:
    """Return whether a model is shipped or imported already, so that a file may name it."""
    module, colon, _ = name.partition(":")
    return is_loaded(module) if colon else name in model_names() and not foreign_model(name)


def model_class(name: str) -> type[Model[Any]]:
    """Return a model's class by its name or `module:Class`; calls no function.

    Raises:
        UsageError: The class does not exist or is not a model.
    """
    if ":" in name:
        cls: type = load(name, "model")
        if not _is_model(cls):
            raise no_model(cls, name)
        return cls
    if name not in model_names():
        own, hint = name if is_users_module(name) else "module", possible(name, model_names())
        raise UsageError(f"there is no model {name!r}; {hint}, or {own}:Class for your own")
    classes = _model_classes(name)
    if len(classes) != 1:
        raise UsageError(f"models.{name} must export one model class; it exports {len(classes)}")
    return classes[0]


def known_class(name: str) -> type[Model[Any]] | None:
    """Return a model's class as `model_class` does; None if there is none."""
    with contextlib.suppress(UsageError):
        return model_class(name)
    return None


def model_name(cls: type) -> str:
    """Return the name under which `model_class` finds a class."""
    parts = cls.__module__.split(".")
    return parts[1] if parts[0] == "models" and len(parts) > 1 else spec_name(cls)


def _built(function: Callable[[], Any], name: str) -> Model[Any]:
    if needs_arguments(function):
        raise UsageError(f"{name} needs arguments; a function that returns a model takes none")
    try:
        built: Model[Any] = function()
    except DesimError:
        raise
    except RAISED as fault:
        raise UsageError(f"{name} failed in {place(fault)}: {fault_text(fault)}") from fault
    if not isinstance(built, Model):
        raise UsageError(f"{name} returned {short_repr(built)}, which is no model")
    return built


def _is_model(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, Model)


def _model_classes(name: str) -> list[type[Model[Any]]]:
    """Import a package of a folder `models`, and return the model classes that it exports."""
    package = f"models.{name}"
    values = vars(importlib.import_module(package)).values()
    return [v for v in values if _is_model(v) and v.__module__.startswith(package)]


def everything(names: Sequence[str] = ()) -> list[str]:
    """Return `model/preset` for every preset of the named models, or of all models.

    The name of a function that returns a model stays as it is.
    """
    found = []
    for name in names or models():
        spec, _, preset = name.partition("/")
        if preset or builder(spec) is not None:
            model(spec, preset)
            found.append(name)
        else:
            found += [f"{spec}/{one}" for one in presets(model_class(spec))]
    return found
