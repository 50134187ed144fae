"""The policies of a sweep: one labelled entry for each way to play, and what each is made of."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import attrs
import msgspec
from attrs import frozen

from desim.catalog import policy_finder
from desim.catalog.imports import is_shipped
from desim.catalog.policy_spec import ConfiguredClass, Spec, label
from desim.core.model import Model, model_of
from desim.core.policy import FunctionPolicy, Policy
from desim.engine.parameters import combinations
from desim.episodes.lineup import Policies, assigned, is_coroutine, maker_of
from desim.errors import UsageError, possible
from desim.schema.arguments import parameters

#: The arguments by which a policy names the host that it waits for, and the file of what it learns;
#: and the text of a host that it takes from elsewhere, such as an environment variable.
HOST, _MEMORY, DEFAULT_HOST = "base_url", "memory", "default"


@frozen
class PolicyEntry:
    """One way to play, and its name in rows and tables: equal labels mean equal policies.

    *named* is the label of the policies themselves where the user gave them a name.
    """

    label: str
    policies: Policies
    named: str = ""

    @property
    def arguments(self) -> dict[str, Any]:
        """Plain values by name, as columns of rows: arguments of specs, and fields of instances.

        Where roles are named, a name begins with its role; and without the role there is a value
        that is the same for all roles.

        >>> PolicyEntry("both", {"retailer": "base_stock,target=2", "factory": "random"}).arguments
        {'retailer.target': 2, 'target': 2}
        """
        if not isinstance(self.policies, Mapping):
            return _own_arguments(self.policies)
        found: dict[str, Any] = {}
        common: dict[str, list[Any]] = {}
        for role, one in self.policies.items():
            for name, value in _own_arguments(one).items():
                found[f"{role}.{name}" if role else name] = value
                common.setdefault(name, []).append(value)
        same = {name: each[0] for name, each in common.items() if all(v == each[0] for v in each)}
        return found | {name: each for name, each in same.items() if name not in found}


def entries(
    policies: Sequence[Policies], arguments: Mapping[str, Any], model: Model[Any]
) -> Iterator[PolicyEntry]:
    """Yield one entry for each policy and each combination of the arguments that it takes.

    A mapping whose keys are no roles names its policies. An argument that a spec sets already is
    not varied, so a fixed policy can be compared with varied ones.
    """
    known: set[str] = set()
    for name, given in _with_names(policies, model):
        _, free = _varied(given, {}, model)
        known |= free
        for texts in combinations({key: each for key, each in arguments.items() if key in free}):
            policy, _ = _varied(given, texts, model)
            own = _label(policy)
            text = ",".join([name, *(f"{key}={each}" for key, each in texts.items())])
            yield PolicyEntry(text, policy, own) if name else PolicyEntry(own, policy)
    for name in arguments:
        if name not in known:
            raise UsageError(f"no policy here lets {name!r} vary; {possible(name, sorted(known))}")


def _with_names(policies: Sequence[Policies], model: Model[Any]) -> Iterator[tuple[str, Any]]:
    """Yield each policy with its name; "" for one that has none but its label."""
    for given in policies:
        if isinstance(given, Mapping) and given and not _names_roles(given, model):
            yield from given.items()
        else:
            yield "", given


def _names_roles(given: Mapping[str, Any], model: Model[Any]) -> bool:
    """Return whether a key is a role or a part, or nearly one, which is refused later."""
    known = {"", *model.roles, *(role.partition(".")[0] for role in model.roles)}
    return any(key in known or get_close_matches(key, known, 1, 0.75) for key in given)


def _label(given: Policies) -> str:
    if isinstance(given, Mapping):
        named = (f"{role}={_label(one)}" if role else _label(one) for role, one in given.items())
        return " ".join(named) or "nobody"
    return label(given)


# -- arguments -------------------------------------------------------------------------------------


def _own_arguments(policy: Any) -> dict[str, Any]:
    if isinstance(policy, str | ConfiguredClass):
        return {name: _plain(text) for name, text in _texts(policy).items()}
    if isinstance(policy, type) or not attrs.has(type(policy)):
        return {}
    values = attrs.asdict(policy, recurse=False)
    return {name: value for name, value in values.items() if isinstance(value, int | float | str)}


def _plain(text: str) -> Any:
    """Return the number or truth value that a text is; otherwise the text."""
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    return value if isinstance(value, bool | int | float) else text


def _texts(policy: Any) -> Mapping[str, str]:
    """Return the arguments that a spec or a class with arguments sets."""
    if isinstance(policy, str):
        return Spec.read(policy).arguments
    return policy.arguments if isinstance(policy, ConfiguredClass) else {}


def _varied(
    given: Any, texts: Mapping[str, str], model: Model[Any], *, has_role: bool = False
) -> tuple[Any, set[str]]:
    """Return policies with arguments, and the names of all that they take and that are not set.

    Each policy gets those that it takes; of a role, those that name it come before those of all.

    Args:
        given: One policy, or several by role, by part or by the name of a line-up.
        texts: The arguments.
        model: The model that they play.
        has_role: Whether a single policy plays one role, which need not be a default role.
    """
    each = given
    if isinstance(given, str) and not has_role:
        each = policy_finder.lineups(model).get(given, given)
    if not isinstance(each, Mapping):
        players = [(each, model)] if has_role else assigned(model, each)
        free = {name for one, of in players for name in _unset(one, of)}
        return _set(each, {name: text for name, text in texts.items() if name in free}), free
    found, free = {}, set()
    for role, one in each.items():
        of, inside = model_of(model, role)
        start = f"{role}."
        own = {key.removeprefix(start): v for key, v in texts.items() if key.startswith(start)}
        found[role], names = _varied(one, {**texts, **own}, of, has_role=bool(inside))
        free |= names | {start + name for name in names if role}
    return found if texts else given, free


def _unset(one: Any, model: Model[Any]) -> set[str]:
    """Return the names of the arguments that one policy of one role takes and that are not set."""
    if not isinstance(one, str | type | ConfiguredClass):
        return set()
    given, maker = _texts(one), maker_of(one, model)
    calls = maker.arguments(type(model), given) if isinstance(maker, type) else ()
    return {name for call in calls for name in parameters(call)} - set(given)


def _set(given: Any, texts: Mapping[str, str]) -> Any:
    """Return a policy with further arguments; a class without any stays that very class."""
    if not texts:
        return given
    arguments = {**_texts(given), **texts}
    if isinstance(given, str):
        return str(Spec(Spec.read(given).name, arguments))
    return ConfiguredClass(given if isinstance(given, type) else given.policy, arguments)


# -- what policies depend on -----------------------------------------------------------------------


def players(model: Model[Any], policies: Policies) -> Iterator[Any]:
    """Yield what some policies of a model depend on, as `Policy.dependencies` does.

    These are classes and functions, as texts what specs hold, as bytes what is read of the model.
    """
    for policy, of in assigned(model, policies):
        yield from _policy(policy, of)
    given = policies.values() if isinstance(policies, Mapping) else (policies,)
    for name in (one.strip() for one in given if isinstance(one, str)):
        for of in (model, *model.models.values()):
            if name in policy_finder.lineups(of):
                yield policy_finder.named_in_heuristics(type(of), "lineups")


def _policy(policy: Any, model: Model[Any]) -> Iterator[Any]:
    if not isinstance(policy, str | ConfiguredClass):
        yield from inside(policy)
        return
    maker, given = maker_of(policy, model), _texts(policy)
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


# -- how policies are played -----------------------------------------------------------------------


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


def waits(model: Model[Any], policies: Policies) -> bool:
    """Return whether episodes are played several at once, in an event loop of another thread.

    A policy waits for a host, as language models do, and none keeps what it learns in a file, which
    several episodes would read and write at once. Or one is a coroutine where an event loop runs
    already, as in a notebook.
    """
    given = [(one, maker_of(one, of)) for one, of in assigned(model, policies)]
    keeps_file = any(_MEMORY in made.reaches and _texts(one).get(_MEMORY) for one, made in given)
    if any(HOST in made.reaches for _, made in given) and not keeps_file:
        return True
    return any(is_coroutine(made) for _, made in given) and _a_loop_runs()


def _a_loop_runs() -> bool:
    import asyncio  # takes longer to import than desim itself

    with contextlib.suppress(RuntimeError):
        return bool(asyncio.get_running_loop())
    return False


def host_of(policy: Any, model: Model[Any]) -> str:
    """Return the host that a policy waits for; empty if its class declares none."""
    if HOST not in maker_of(policy, model).reaches:
        return ""
    return _texts(policy).get(HOST, DEFAULT_HOST)
