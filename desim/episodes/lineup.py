"""The lineup of an episode: policies by role, made from specs, classes, functions or instances."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any

from attrs import evolve, field, frozen

from desim import catalog
from desim.catalog.policy_spec import ConfiguredClass, Spec, label
from desim.composition.parts import part_seed
from desim.core.model import Model, model_of
from desim.core.policy import (
    FunctionPolicy,
    OutsidePolicy,
    Policy,
    Seat,
    as_policy,
    knows,
    most_known,
)
from desim.core.roles import Knowledge, Role, split_name
from desim.core.run import check_roles
from desim.core.streams import derived_seed
from desim.errors import UsageError, possible
from desim.faults import policy_failing
from desim.schema.arguments import build, parameters, read_arguments

#: A spec, a policy, its class (perhaps with arguments), or a function of an observation that
#: returns an action.
OnePolicy = str | Policy | type[Policy] | ConfiguredClass | Callable[[Any], Any]

#: One for the model's default roles, or one for each role named.
Policies = OnePolicy | Mapping[str, OnePolicy] | None


@frozen
class Lineup:
    """The policies of one episode by role; the others are left to the model.

    Attributes:
        labels: The names of these policies in tables and records.
        knows: The levels of what they know, where it is above observations.
        seats: Their seats, which hold the generators of their draws.
    """

    policies: Mapping[str, Policy]
    labels: Mapping[str, str]
    knows: Mapping[str, Knowledge] = field(factory=dict)
    seats: Mapping[str, Seat] = field(factory=dict, repr=False)

    @property
    def has_coroutines(self) -> bool:
        """Whether a policy decides in a coroutine."""
        return any(map(is_coroutine, self.policies.values()))


def resolve(
    model: Model[Any], policies: Policies, seed: int, labels: Mapping[str, str] | None = None
) -> Lineup:
    """Return the policies of one episode by role, with labels that are given or made.

    Specs, classes and functions become new instances; an instance is used as it is. One policy is
    for the model's default roles, or for all roles if its class says so.
    """
    if policies is None and (roles := tuple(model.default_roles)):
        raise UsageError(f"role {roles[0]!r} needs a policy")
    given = assign(model, policies)
    lineups = catalog.lineups(model)
    for name, role in model.roles.items() if lineups else ():
        if name not in given and not role.optional:
            raise UsageError(
                f"role {name!r} needs a policy; give one ({name}=SPEC), or a line-up, which plays "
                f"every role: {', '.join(lineups)}"
            )
    check_roles(model, frozenset(given))
    _check_one_seat_each(given)
    seats = {role: seat_of(model, role, seed) for role in given}
    made = {role: policy_at(one, seats[role]) for role, one in given.items()}
    named = labels or {role: label(one) for role, one in given.items()}
    return Lineup(made, named, knows_by_role(model, given), seats)


def _check_one_seat_each(given: Mapping[str, Any]) -> None:
    for one in given.values():
        roles = [role for role, other in given.items() if other is one]
        if len(roles) > 1 and not is_made_anew(one):
            raise UsageError(
                f"one instance of {label(one)} cannot play {' and '.join(roles)}; "
                "give each an instance of its own, a class or a spec"
            )


def is_made_anew(policy: object) -> bool:
    """Return whether every episode makes its own policy of it, which an instance is not."""
    plain = policy.func if isinstance(policy, partial) else policy
    return isinstance(plain, str | type | ConfiguredClass | FunctionType)


def assign(
    model: Model[Any], policies: Policies, roles: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return what is given for each role; a part's name stands for the part's default roles.

    In a mapping, the key "" names the policy of the default roles that are not named; *roles* take
    their place. In a model with parts, a rule of the whole model takes the roles outside the parts.
    """
    if policies is None:
        return {}
    if not isinstance(policies, Mapping):
        name = policies.strip() if isinstance(policies, str) else ""
        lineup = catalog.lineups(model).get(name)
        policies = lineup or dict.fromkeys(_names_for(model, policies, roles), policies)
    given: dict[str, Any] = {}
    for name, policy in policies.items():
        for role, one in _by_role(model.models, name, policy).items() if name else ():
            if role in given:
                raise UsageError(f"two policies for {role!r} were given; a role takes one")
            given[role] = one
    rest = policies.get("")
    return {**assign(model, rest, roles), **given} if rest is not None else given


def _names_for(model: Model[Any], policy: OnePolicy, roles: Sequence[str] | None) -> Sequence[str]:
    if not (parts := model.models):
        everyone = maker_of(policy, model).seats == "all"
        return tuple(model.roles) if everyone else tuple(roles or model.default_roles)
    # Part by part, because a policy's name may mean the heuristic of one model.
    names = roles or [
        part if (part := split_name(role)[0]) in parts else role for role in model.default_roles
    ]
    if isinstance(policy, str):
        name = Spec.read(policy).name
        _check_known(model, name)
        if name in catalog.policies(type(model)):
            # A rule of the whole model, which no part knows: for the roles beside the parts.
            return [name for name in names if split_name(name)[0] not in parts]
    return names


def _check_known(model: Model[Any], name: str) -> None:
    # Here and not in the first part, which does not know the line-ups.
    if ":" in name or not (lineups := catalog.lineups(model)):
        return
    own = [*catalog.policies(type(model)), *catalog.policies()]
    of_parts = (catalog.policies(type(part)) for part in model.models.values())
    if name not in own and not any(name in known for known in of_parts):
        hint = possible(name, [*lineups, *own])
        raise UsageError(f"there is no line-up and no policy {name!r}; {hint}")


def _by_role(parts: Mapping[str, Model[Any]], name: str, policy: Any) -> dict[str, Any]:
    part, inside = split_name(name)
    if part not in parts:
        return {name: policy}
    of_part = assign(parts[part], {inside: policy} if inside else policy)
    return {f"{part}.{role}": one for role, one in of_part.items()}


def assigned(model: Model[Any], policies: Policies) -> Iterator[tuple[Any, Model[Any]]]:
    """Yield each policy that is given, and the model or the part of which it has a role."""
    for role, one in assign(model, policies).items():
        yield one, model_of(model, role)[0]


def knows_by_role(model: Model[Any], given: Mapping[str, Any]) -> dict[str, Knowledge]:
    """Return what the policies of roles know, by role, where it is more than observations."""
    levels = {role: policy_knows(one, model_of(model, role)[0]) for role, one in given.items()}
    return {role: level for role, level in levels.items() if level != "observation"}


def lineup_knows(model: Model[Any], policies: Policies) -> Knowledge:
    """Return the most that a policy of a line-up knows; nothing is built."""
    return most_known(policy_knows(one, of) for one, of in assigned(model, policies))


def policy_knows(one: OnePolicy, model: Model[Any]) -> Knowledge:
    """Return what a policy with its arguments, and those that these name, know of a model."""
    maker, arguments = maker_of(one, model), _texts(one)
    inner = (policy_knows(text, model) for text in maker.inner_policies(arguments))
    return most_known([knows(maker, model, arguments), *inner])


def seat_of(model: Model[Any], role: str, seed: int) -> Seat:
    """Return the seat of a role; a policy plays a part as it plays the part's model alone."""
    name, inside = split_name(role)
    if inside and name in (models := model.models):
        return evolve(seat_of(models[name], inside, part_seed(seed, name)), name=role)
    own = derived_seed(seed, "policy", role)
    return Seat(model, role, model.roles[role], own, world_seed=seed)


def maker_of(policy: OnePolicy, model: Model[Any]) -> type[Policy] | Policy:
    """Return the class that a spec names for a model, or that is given; or an instance."""
    if isinstance(policy, str):
        return as_policy(catalog.policy(Spec.read(policy).name, model))
    return as_policy(policy.policy if isinstance(policy, ConfiguredClass) else policy)


def _texts(policy: OnePolicy) -> Mapping[str, str]:
    if isinstance(policy, ConfiguredClass):
        return policy.arguments
    return Spec.read(policy).arguments if isinstance(policy, str) else {}


def policy_at(one: Any, seat: Seat) -> Policy:
    """Return the policy of a seat, made of a spec, a class or a function; an instance as it is."""
    model = seat._model  # noqa: SLF001 (a policy that is not shown it may be built for it)
    texts, name, maker = _texts(one), label(one), maker_of(one, model)
    if texts and not isinstance(maker, type):
        raise UsageError(f"policy {name!r} is a function and takes no arguments")
    arguments = _arguments(maker, model, texts, name) if isinstance(maker, type) else {}
    own = _seat_for(maker, seat, name, policy_knows(one, model))
    policy = build(maker, arguments) if isinstance(maker, type) else maker
    with policy_failing(name, f"in seated as {own.role!r}"):
        if policy.seated(own) is not None:  # such as a class method, which returns another policy
            raise UsageError(
                f"policy {name!r} returns something from seated; write seated(self, seat), which "
                "keeps what it needs and returns nothing"
            )
    return policy


def is_coroutine(policy: type[Policy] | Policy) -> bool:
    """Return whether a policy, or the function that it calls, decides in a coroutine."""
    decide = policy.function if isinstance(policy, FunctionPolicy) else policy.decide
    return any(map(inspect.iscoroutinefunction, (decide, type(decide).__call__)))


def _arguments(
    cls: type[Policy], model: Model[Any], texts: Mapping[str, str], name: str
) -> dict[str, Any]:
    calls = cls.arguments(type(model), texts)
    arguments = read_arguments(calls[0], texts, f"policy {name!r} has no argument", calls[1:])
    for missing, parameter in (each for call in calls for each in parameters(call).items()):
        if missing not in arguments and parameter.default is parameter.empty:
            raise UsageError(f"policy {name!r} needs {missing}; write {name},{missing}=VALUE")
    return arguments


def _seat_for(policy: type[Policy] | Policy, seat: Seat, name: str, level: Knowledge) -> Seat:
    if level == "observation":
        if seat.spec.options_know != "observation":
            seat = evolve(seat, spec=_without_options(seat.spec))
        # The prompts of a language model are made of the texts of the model's classes.
        cls = policy if isinstance(policy, type) else type(policy)
        seat = seat if issubclass(cls, OutsidePolicy) else evolve(seat, shows_model=False)
    elif not seat.shows_model:
        raise UsageError(
            f"policy {name!r} knows {level!r}, and cannot be built inside a policy that knows "
            "'observation'"
        )
    if not policy.needs_world_seed:
        return evolve(seat, world_seed=None)
    if level == "rules":
        raise UsageError(
            f"policy {name!r} knows 'rules' and needs the world's seed, with which it could play "
            "the world in advance; declare knows = 'future'"
        )
    if seat._world_seed is None:  # noqa: SLF001 (nobody else asks whether there is one)
        raise UsageError(
            f"policy {name!r} needs the world's seed, and cannot be built inside a policy that "
            "does not have it"
        )
    return seat


def _without_options(role: Role) -> Role:
    def withheld(_: Any) -> Any:
        raise UsageError("the options use more than observations; declare takes_options = True")

    return evolve(role, options=withheld, default_action=role.default_for)
