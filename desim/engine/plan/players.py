"""The classes, functions and texts of which a model and its policies are made."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import attrs

from desim.catalog import policy_finder
from desim.catalog.imports import is_shipped
from desim.catalog.policy_spec import ConfiguredClass, Spec
from desim.core.model import Model
from desim.core.policy import FunctionPolicy, Policy
from desim.episodes.lineup import Policies, assigned, maker_of


def players(model: Model[Any], policies: Policies) -> Iterator[Any]:
    """Yield what some policies of a model depend on.

    Yields:
        Their classes and functions, what these find by name, and as texts what their specs hold;
        as bytes what they read of the model.
    """
    for policy, of in assigned(model, policies):
        yield from _policy(policy, of)
    yield from _lineups(model, policies)


def _lineups(model: Model[Any], policies: Policies) -> Iterator[Any]:
    """Yield the functions that return the line-ups which are given by name."""
    given = policies.values() if isinstance(policies, Mapping) else (policies,)
    models = [model, *model.models.values()]
    for name in (one for one in given if isinstance(one, str)):
        for of in models:
            if policy_finder.lineup(name.strip(), of):
                yield policy_finder.lineups_function(of)


def _policy(policy: Any, model: Model[Any]) -> Iterator[Any]:
    if not isinstance(policy, str | ConfiguredClass):
        yield from inside(policy)
        return
    maker = maker_of(policy, model)
    given = policy.arguments if isinstance(policy, ConfiguredClass) else Spec.read(policy).arguments
    yield from inside(_code(maker))
    yield from maker.dependencies(model, given)
    yield from given.values()
    for inner in maker.inner_policies(given):
        yield from _policy(inner, model)


def _code(maker: type[Policy] | Policy) -> Any:
    """Return the class that a spec names, or the function."""
    return maker.function if isinstance(maker, FunctionPolicy) else maker


def inside(value: Any) -> Iterator[Any]:
    """Yield the classes, functions, texts and objects without attrs that a value is made of."""
    match value:
        case str() | type() | FunctionType():
            yield value
        case partial():
            yield from inside([value.func, *value.args, *value.keywords.values()])
        case MethodType():
            yield from inside([value.__func__, value.__self__])
        case os.PathLike():
            yield os.fspath(value)
        case Mapping():
            yield from inside(list(value.values()))
        case Sequence() if not isinstance(value, bytes | range):
            for one in value:
                yield from inside(one)
        case _ if attrs.has(type(value)):
            yield type(value)
            yield from inside(_members(value))
        case _ if type(value).__module__ != "builtins":
            yield type(value)
            yield value


def _members(value: Any) -> list[Any]:
    """Return the members of an attrs instance; of one that is not frozen without its memory."""
    # A subclass need not be decorated.
    decorated = next(cls for cls in type(value).__mro__ if "__attrs_attrs__" in vars(cls))
    frozen = attrs.inspect(decorated).is_frozen
    return [getattr(value, one.name) for one in attrs.fields(decorated) if one.init or frozen]


def is_fixed(model: Model[Any], policies: Policies) -> bool:
    """Return whether a model and policies are known to play the same episode on every seed.

    The model declares it. Desim's own policies, given by name, declare whether they draw; those of
    a user, and all that are given otherwise, must declare that they do not.
    """
    played = assigned(model, policies)
    return model.deterministic and not any(_may_draw(one, of) for one, of in played)


def _may_draw(policy: Any, model: Model[Any]) -> bool:
    maker = maker_of(policy, model)
    if maker.draws is not None:
        return maker.draws
    named = isinstance(policy, str) and ":" not in Spec.read(policy).name
    return not (named and is_shipped(_code(maker)))
