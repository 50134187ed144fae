"""The policies of a sweep: one labelled entry for each way to play."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import attrs
import msgspec
from attrs import field, frozen

from desim.catalog import policy_finder
from desim.catalog.policy_spec import ConfiguredClass, Spec, label
from desim.core.model import Model, model_of
from desim.core.policy import Policy
from desim.engine.plan.parameter_values import combinations
from desim.episodes.lineup import Policies, assigned, maker_of
from desim.errors import UsageError, possible
from desim.schema.arguments import parameters


@frozen
class PolicyEntry:
    """One way to play, and its name in rows and tables.

    Attributes:
        label: A text without memory addresses; equal labels mean equal policies.
        policies: What `desim.play` takes as its policies.
        arguments: Plain values by name, as columns of rows: the arguments that specs give, and the
            fields of instances. Where roles are named, a name begins with its role.
        named: The label of the policies themselves where the user gave them a name.
    """

    label: str
    policies: Policies
    arguments: Mapping[str, Any] = field(factory=dict)
    named: str = ""


def entries(
    policies: Sequence[Policies], arguments: Mapping[str, Any], model: Model[Any]
) -> Iterator[PolicyEntry]:
    """Yield one entry for each policy and each combination of the arguments that it takes.

    An argument that a spec sets already is not varied, so a fixed policy can be compared with
    varied ones.

    Args:
        policies: Specs, classes, functions and other callables, instances of attrs classes, or
            mappings of roles to these; a mapping whose keys are no roles names its policies.
        arguments: A value or a list of values by argument.
        model: The model whose policies the specs name.

    Raises:
        UsageError: An unknown policy, an argument that no policy takes, or an object that is no
            policy.
    """
    unused, places = dict(arguments), dict[str, list[Any]]()
    for name, given in _with_names(policies, model):
        free = _free_arguments(given, model)
        varied = {name: values for name, values in arguments.items() if name in free}
        unused = {name: values for name, values in unused.items() if name not in free}
        for texts in combinations(varied):
            policy = _with_arguments(given, texts, model)
            own = _label(policy)
            text = ",".join([name, *_assignments(texts)]) if name else own
            before = places.setdefault(text, [])
            before += [policy] if all(policy is not one for one in before) else []
            if len(before) > 1 and not (name or _is_told_apart(policy)):
                text += f" {len(before)}"
            yield PolicyEntry(text, policy, given_arguments(policy), own if name else "")
    for name in unused:
        every = [given for _, given in _with_names(policies, model)]
        known = sorted({n for given in every for n in _free_arguments(given, model)})
        raise UsageError(f"no policy here lets {name!r} vary; {possible(name, known)}")


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


def _assignments(texts: Mapping[str, str]) -> list[str]:
    return [f"{name}={text}" for name, text in texts.items()]


def given_arguments(policies: Policies) -> dict[str, Any]:
    """Return the arguments of policies as plain values: numbers, truth values and texts.

    >>> given_arguments({"retailer": "base_stock,target=20", "factory": "base_stock,target=20"})
    {'retailer.target': 20, 'factory.target': 20, 'target': 20}
    """
    if not isinstance(policies, Mapping):
        return _own_arguments(policies)
    found = {
        f"{role}.{name}" if role else name: value
        for role, one in policies.items()
        for name, value in _own_arguments(one).items()
    }
    common: dict[str, list[Any]] = {}
    for name, value in found.items():
        common.setdefault(name.rpartition(".")[2], []).append(value)
    same = {name: values[0] for name, values in common.items() if _all_equal(values)}
    return {**found, **{name: value for name, value in same.items() if name not in found}}


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


def _all_equal(values: Sequence[Any]) -> bool:
    return all(value == values[0] for value in values)


def _free_arguments(given: Policies, model: Model[Any]) -> set[str]:
    """Return the names of the arguments that policies take and that are not set yet."""
    given = _named(given, model)
    found = {name for one, of in assigned(model, given) for name in _unset(one, of)}
    if isinstance(given, Mapping):
        for role, one in given.items():
            of, inside = model_of(model, role)
            own = _unset(one, of) if inside else _free_arguments(one, of)
            found |= {f"{role}.{name}" for name in own if role}
    return found


def _named(given: Any, model: Model[Any]) -> Any:
    """Return the policies by role that a line-up's name stands for; anything else unchanged."""
    return (policy_finder.lineup(given, model) if isinstance(given, str) else None) or given


def _unset(one: Any, model: Model[Any]) -> set[str]:
    """Return the names of the arguments that one policy of one role takes and that are not set."""
    if isinstance(one, str | type | ConfiguredClass):
        given = _texts(one)
        return _arguments(maker_of(one, model), model, given) - set(given)
    return set()


def _texts(one: str | type | ConfiguredClass) -> Mapping[str, str]:
    """Return the arguments that a spec or a class with arguments sets; none of a class alone."""
    if isinstance(one, type):
        return {}
    return one.arguments if isinstance(one, ConfiguredClass) else Spec.read(one).arguments


def _arguments(
    maker: type[Policy] | Policy, model: Model[Any], given: Mapping[str, str]
) -> set[str]:
    """Return the names of the arguments that a spec may set; a function of a policy has none."""
    if not isinstance(maker, type):
        return set()
    calls = maker.arguments(type(model), given)
    return {name for call in calls for name in parameters(call)}


def _with_arguments(given: Any, texts: Mapping[str, str], model: Model[Any]) -> Any:
    """Return policies with the arguments that they take; the others are unchanged."""
    if texts:
        given = _named(given, model)
    if not isinstance(given, Mapping):
        return _set(given, texts, _free_arguments(given, model))
    return {
        name: _with_own_arguments(name, one, _of_role(texts, name), model)
        for name, one in given.items()
    }


def _with_own_arguments(name: str, one: Any, texts: Mapping[str, str], model: Model[Any]) -> Any:
    """Return what is given for a role or for a part with the arguments that its own model knows."""
    of, inside = model_of(model, name)
    # A policy of one role need not be one of the default roles.
    return _set(one, texts, _unset(one, of)) if inside else _with_arguments(one, texts, of)


def _set(given: Any, texts: Mapping[str, str], free: set[str]) -> Any:
    """Return a policy with those of the arguments that are free; a class stays that very class."""
    taken = {name: text for name, text in texts.items() if name in free}
    if not taken:
        return given
    arguments = {**_texts(given), **taken}
    if isinstance(given, str):
        return str(Spec(Spec.read(given).name, arguments))
    return ConfiguredClass(given if isinstance(given, type) else given.policy, arguments)


def _of_role(texts: Mapping[str, str], role: str) -> dict[str, str]:
    """Return the arguments of one role: those of all roles, and its own, which come first."""
    own = {n.removeprefix(f"{role}."): v for n, v in texts.items() if n.startswith(f"{role}.")}
    return {**texts, **own}


def _label(given: Policies) -> str:
    if isinstance(given, Mapping):
        named = (f"{role}={_label(one)}" if role else _label(one) for role, one in given.items())
        return " ".join(named) or "nobody"
    return label(given)


def _is_told_apart(given: Any) -> bool:
    """Return whether a label tells policies from others of their kind, so that none has a place."""
    if isinstance(given, Mapping):
        return all(map(_is_told_apart, given.values()))
    if isinstance(given, FunctionType):
        return "<" not in given.__qualname__
    if isinstance(given, partial):
        shown = repr([*given.args, *given.keywords.values()])
        return _is_told_apart(given.func) and " at 0x" not in shown
    owner = given.__self__ if isinstance(given, MethodType) else given
    return isinstance(owner, str | type | ConfiguredClass) or attrs.has(type(owner))
