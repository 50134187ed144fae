"""Policies by name: those for every model, the heuristics of one model, and `module:Name`."""

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain
from types import ModuleType
from typing import Any

from desim.catalog.imports import foreign_file, is_shipped, load
from desim.catalog.model_finder import model_name
from desim.core.model import Model
from desim.core.policy import Policy
from desim.errors import UsageError, possible
from desim.schema import tag

#: A policy class, or a function of an observation that returns an action.
PolicyMaker = type[Policy] | Callable[[Any], Any]

#: Modules of policies that play every model.
_GENERIC = ("greedy", "chance", "rollout", "script", "llm")


@cache
def policies(of: type | None = None) -> Mapping[str, type[Policy]]:
    """Return policy classes by name: the heuristics of a model class, or those for every model."""
    if of is not None:
        return dict(_classes(_heuristics(of)))
    return {name: cls for module in _GENERIC for name, cls in _generic(module).items()}


@cache
def _generic(module: str) -> Mapping[str, type[Policy]]:
    return dict(_classes(importlib.import_module(f"policies.{module}")))


def policy(name: str, of: Any) -> PolicyMaker:
    """Return a policy's class, or a function that decides, by name.

    Args:
        name: A name in the catalog, or `module:Name` for a user's own.
        of: The model that is played: its class or an instance.

    Raises:
        UsageError: The policy does not exist.
    """
    cls = of if isinstance(of, type) else type(of)
    if ":" in name:
        maker: PolicyMaker = load(name, "policy")
        return maker
    for known in chain([policies(cls)], map(_generic, _GENERIC)):
        if name in known:  # the modules behind it, such as that of language models, are not loaded
            return known[name]
    hint = possible(name, sorted({*policies(), *policies(cls)}))
    raise UsageError(f"there is no policy {name!r} for {model_name(cls)}; {hint}, or module:Class")


def lineups(of: Model[Any]) -> Mapping[str, Mapping[str, str]]:
    """Return the line-ups of a model by name, each with specs by role or part.

    They are what its heuristics name in `lineups(model)`, if anything. The name of a line-up may be
    given instead of a single policy: it plays all roles that it names.
    """
    function = named_in_heuristics(type(of), "lineups")
    return function(of) if function else {}


def baselines(of: Model[Any]) -> tuple[str, ...]:
    """Return the specs with which a model is played headlessly, as `[ROLE=]SPEC`.

    These are the specs that its heuristics name in `baselines(model)`, and, if all default roles
    have options, `greedy` and `random`.
    """
    function = named_in_heuristics(type(of), "baselines")
    free = all(of.roles[role].options for role in of.default_roles)
    return (*(function(of) if function else ()), *(("greedy", "random") if free else ()))


@cache
def named_in_heuristics(cls: type, name: str) -> Any:
    """Return a member of the heuristics of a model class, or None; each episode asks for one."""
    module = _heuristics(cls)
    return vars(module).get(name) if module else None


@cache
def _heuristics(cls: type) -> ModuleType | None:
    name = "policies.heuristics." + model_name(cls).split(":", 1)[0].split(".")[-1]
    # Whoever names a shipped world has not named rules for it that the current folder may hold.
    if is_shipped(cls) and foreign_file(name):
        return None
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as fault:
        # The module itself may be missing; a missing import inside it is an error.
        if fault.name and name.startswith(fault.name):
            return None
        raise


def _classes(module: ModuleType | None) -> Iterator[tuple[str, type[Policy]]]:
    """Yield the policies that a module defines or exports, by name in snake_case."""
    if module is None:
        return
    members = vars(module)
    public = members.get("__all__") or [name for name in members if not name.startswith("_")]
    for name in public:
        value = members[name]
        if inspect.isclass(value) and issubclass(value, Policy) and value is not Policy:
            yield tag(value), value  # type: ignore[arg-type] # classes do hash
