"""Models and policies by name; `module:Class` for a user's own.

What lies in the folders `models` and `policies` is found by looking there, so a new world or rule
appears in every list and table without being registered anywhere.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Any

from desim.errors import UsageError, possible
from desim.params import changed, from_preset
from desim.protocols import Model, lead

__all__ = ["baselines", "model", "model_class", "model_name", "models", "policies", "policy"]

#: Policies that play every world, and the module each lives in.
_EVERYWHERE = ("greedy", "chance", "script", "replay", "llm")


@cache
def models() -> Mapping[str, type]:
    """Return the model classes in the folders named `models`, by name."""
    return {
        name: _model_in(importlib.import_module(f"models.{name}")) for name in _folders("models")
    }


def model(name: str, preset: str = "", changes: Mapping[str, str] | None = None) -> Model[Any]:
    """Build a model by name.

    Args:
        name: A name in the catalog, `module:Class` for a user's own, either with `/preset` behind.
        preset: A preset's name; empty stands for the first.
        changes: Parameters as text.

    Raises:
        UsageError: There is no such model, preset or parameter, or a value is refused.
    """
    name, _, behind = name.partition("/")
    if preset and behind and preset != behind:
        raise UsageError(f"presets {behind!r} and {preset!r} were given; a model is built from one")
    built: Model[Any] = from_preset(model_class(name), preset or behind)
    return changed(built, changes or {})


def model_class(name: str) -> type:
    """Return a model's class by its name or `module:Class`.

    Raises:
        UsageError: There is none.
    """
    if ":" in name:
        cls = _load(name, "model")
        if not _is_model(cls):
            raise UsageError(f"{name} is no model: it needs roles, begin, score and metrics")
        return cls
    if name not in _folders("models"):
        hint = possible(name, _folders("models"))
        raise UsageError(f"there is no model {name!r}; {hint}, or module:Class for your own")
    return _model_in(importlib.import_module(f"models.{name}"))


def model_name(cls: type) -> str:
    """Return the name under which `model_class` finds a class."""
    parts = cls.__module__.split(".")
    return (
        parts[1]
        if parts[0] == "models" and len(parts) > 1
        else f"{cls.__module__}:{cls.__qualname__}"
    )


@cache
def policies(of: type | None = None) -> Mapping[str, type]:
    """Return policy classes by name: those of one model's heuristics, or those of every world."""
    if of is not None:
        return dict(_classes(_heuristics(of)))
    found: dict[str, type] = {}
    for module in _EVERYWHERE:
        found |= dict(_classes(_import_ours(f"policies.{module}")))
    return found


def policy(name: str, of: Any) -> type:
    """Return a policy's class by name, for a model (its class or an instance).

    Raises:
        UsageError: There is none.
    """
    cls = of if isinstance(of, type) else type(of)
    if ":" in name:
        return _load(name, "policy")
    known = policies(cls) if name in policies(cls) else policies()
    if name not in known:
        hint = possible(name, sorted({*policies(), *policies(cls)}))
        raise UsageError(
            f"there is no policy {name!r} for {model_name(cls)}; {hint}, or module:Class"
        )
    return known[name]


def baselines(of: Model[Any]) -> tuple[str, ...]:
    """Return the specs that play a model headlessly: those its heuristics name, greedy, random.

    A module of heuristics names them in `baselines(model)`, as `[ROLE=]SPEC`. Greedy and random
    need `options`.
    """
    named = getattr(_heuristics(type(of)), "baselines", lambda _: ())(of)
    free = all(of.roles[role].options for role in lead(of))
    return (*named, *(("greedy", "random") if free else ()))


@cache
def _folders(package: str) -> tuple[str, ...]:
    found = _import_ours(package)
    return tuple(sorted(m.name for m in pkgutil.iter_modules(found.__path__) if m.ispkg))


def _import_ours(name: str) -> ModuleType:
    package = name.split(".", 1)[0]
    # Ours are namespace packages; one with a file is somebody else's.
    if hiding := getattr(importlib.import_module(package), "__file__", None):
        raise UsageError(
            f"{hiding} hides desim's own {package!r}; remove that file and both folders are used"
        )
    return importlib.import_module(name)


@cache
def _heuristics(cls: type) -> ModuleType | None:
    name = model_name(cls).split(":", 1)[0].split(".")[-1]
    try:
        return importlib.import_module(f"policies.heuristics.{name}")
    except ModuleNotFoundError as fault:
        # Only the module itself may be missing; what it imports may not.
        if fault.name and f"policies.heuristics.{name}".startswith(fault.name):
            return None
        raise


def _classes(module: ModuleType | None) -> Iterator[tuple[str, type]]:
    """Yield the policies that a module defines or exports, by name in snake_case."""
    from desim.schema import tag

    if module is None:
        return
    public = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    for name in public:
        found = getattr(module, name)
        if inspect.isclass(found) and callable(getattr(found, "decide", None)):
            yield tag(found), found  # type: ignore[arg-type] # classes do hash


def _is_model(found: Any) -> bool:
    needs = ("roles", "begin", "score", "metrics")
    return inspect.isclass(found) and all(hasattr(found, need) for need in needs)


def _model_in(module: ModuleType) -> type:
    found = [
        v
        for v in vars(module).values()
        if _is_model(v) and v.__module__.startswith(module.__name__)
    ]
    if len(found) != 1:
        raise UsageError(f"{module.__name__} must export one model class; it exports {len(found)}")
    model: type = found[0]
    return model


def _load(path: str, what: str) -> type:
    """Import `module:Class`; the command line has put the current folder in front."""
    module, _, name = path.partition(":")
    if not module or module.startswith("."):
        raise UsageError(f"{what} {path!r} names no module; write module:Class")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as fault:
        if fault.name is None or not module.startswith(fault.name):
            raise
        raise UsageError(f"{what} {path!r}: there is no module {fault.name!r} here") from None
    if not inspect.isclass(found):
        names = [n for n, v in vars(importlib.import_module(module)).items() if inspect.isclass(v)]
        raise UsageError(
            f"{what} {path!r}: no class {name!r} in {module!r}; {possible(name, names)}"
        )
    cls: type = found
    return cls
