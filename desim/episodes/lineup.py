"""The lineup of an episode: policies by role, made from specs, classes, functions or instances.

`resolve` is the one place where this is decided, for drivers, sweeps and the page.
"""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any

from attrs import Factory, define, evolve, field, frozen

from desim import catalog
from desim.catalog.policy_spec import ConfiguredClass, Spec, label
from desim.composition.parts import part_seed
from desim.core.model import Model, model_of
from desim.core.policy import (
    OutsidePolicy,
    Policy,
    as_policy,
    knows,
    most_known,
)
from desim.core.roles import Knowledge, Role, split_name
from desim.core.run import check_roles
from desim.core.streams import derived_seed, generator_of
from desim.episodes.usage import CommandBudget, command_budget
from desim.errors import UsageError, possible
from desim.faults import policy_failing
from desim.schema.arguments import build, parameters, read_arguments

#: A spec, a policy, its class (perhaps with arguments), or a function of an observation that
#: returns an action.
OnePolicy = str | Policy | type[Policy] | ConfiguredClass | Callable[[Any], Any]

#: One for the model's default roles, or one for each role named.
Policies = OnePolicy | Mapping[str, OnePolicy] | None


@define(eq=False)
class SeatDraws:
    """The generators of the policies of one episode; a redrawn future begins them anew."""

    _generators: dict[str, list[Any]] = field(factory=dict)

    def add(self, role: str, generator: Any) -> None:
        """Keep a generator of the policy of a role."""
        self._generators.setdefault(role, []).append(generator)

    def redraw(self, role: str, seed: int) -> None:
        """Begin the generators of a role's policy anew, with the seed of the streams in a future.

        A policy that makes generators of `Seat.seed` itself draws the same numbers in all futures.
        """
        from numpy.random import PCG64  # takes longer to import than all of desim

        for generator in self._generators.get(role, ()):
            generator.bit_generator.state = PCG64(derived_seed(seed, "policy", role)).state


@frozen
class Seat:
    """The argument of a policy's method `seated`.

    It shows the parameters only to a policy that declares that it knows more than observations, and
    holds the world's seed, with which a policy could play the world in advance, only for one that
    declares `needs_world_seed`.

    Attributes:
        role: The role's name.
        spec: The role's schema and options.
        seed: The seed of the policy's own draws, a whole number of 256 bits: the SHA-256 of the
            world's seed and the role's name (`derived_seed`).
        budget: What all policies of the command may use together.
        name: The role's name in the episode: `plant.retailer` where *role* is `retailer`.
        shows_model: Whether `model` may be read.
    """

    _model: Model[Any]
    role: str
    spec: Role
    seed: int
    budget: CommandBudget = field(factory=command_budget, repr=False)
    name: str = field(default=Factory(lambda seat: seat.role, takes_self=True), kw_only=True)
    shows_model: bool = field(default=True, kw_only=True, repr=False)
    _draws: SeatDraws = field(factory=SeatDraws, kw_only=True, repr=False, eq=False)
    _world_seed: int | None = field(default=None, kw_only=True, repr=False)

    @property
    def has_world_seed(self) -> bool:
        """Whether `world_seed` may be read."""
        return self._world_seed is not None

    @property
    def world_seed(self) -> int:
        """The world's seed; of a part, the part's.

        Raises:
            UsageError: The policy does not declare that it needs it.
        """
        if self._world_seed is None:
            raise UsageError("a policy reads the world's seed; declare needs_world_seed = True")
        return self._world_seed

    @property
    def model(self) -> Model[Any]:
        """The frozen parameters of the world.

        Raises:
            UsageError: The policy does not declare that it knows more than observations.
        """
        if not self.shows_model:
            raise UsageError(
                "a policy that knows 'observation' reads the world's parameters; declare "
                "knows = 'rules', or 'state' or 'future' if it uses more than constants"
            )
        return self._model

    def generator(self) -> Any:
        """Return a random generator of the seat's own, independent of all streams of the world.

        It begins anew in place where a future of the episode is redrawn.
        """
        generator = generator_of(self.seed)
        self._draws.add(self.name, generator)
        return generator


@frozen
class Lineup:
    """The policies of one episode.

    Attributes:
        policies: One policy for each role that is not left to the model.
        labels: The names of these policies in tables and records, by role.
        knows: The levels of what they know, by role, above observations.
        draws: Their generators.
    """

    policies: Mapping[str, Policy]
    labels: Mapping[str, str]
    knows: Mapping[str, Knowledge] = field(factory=dict)
    draws: SeatDraws = field(factory=SeatDraws, repr=False, eq=False)

    @property
    def roles(self) -> frozenset[str]:
        """The roles that policies play."""
        return frozenset(self.policies)

    @property
    def has_coroutines(self) -> bool:
        """Whether a policy decides in a coroutine."""
        return any(is_coroutine(policy.decide) for policy in self.policies.values())

    @property
    def waits(self) -> bool:
        """Whether a policy can wait for its decisions in a coroutine."""
        outside = any(isinstance(policy, OutsidePolicy) for policy in self.policies.values())
        return outside or self.has_coroutines


def resolve(
    model: Model[Any], policies: Policies, seed: int, labels: Mapping[str, str] | None = None
) -> Lineup:
    """Return the policies of one episode by role.

    Args:
        model: The frozen parameters.
        policies: One policy for the model's default roles, or for all roles if its class says so;
            or a mapping of roles to policies. Specs, classes and functions become new instances;
            an instance is used as it is.
        seed: The episode's seed.
        labels: Names of the policies by role, where they are known already.

    Raises:
        UsageError: An unknown policy, argument or role, a role without a policy, one instance for
            several roles, or an object that has no method `decide`.
    """
    if policies is None and (roles := tuple(model.default_roles)):
        raise UsageError(f"role {roles[0]!r} needs a policy")
    given = assign(model, policies)
    _check_line_ups(model, given)
    check_roles(model, frozenset(given))
    _one_each(given)
    draws = SeatDraws()
    made = {
        role: policy_at(one, evolve(seat_of(model, role, seed), draws=draws))
        for role, one in given.items()
    }
    named = labels or {role: label(one) for role, one in given.items()}
    return Lineup(made, named, knows_by_role(model, given), draws)


def _check_line_ups(model: Model[Any], given: Mapping[str, Any]) -> None:
    """Check that every role has a policy, in a model with line-ups that name one for each.

    Raises:
        UsageError: A role has none; the text names the line-ups.
    """
    named = catalog.lineups(model)
    for name, role in model.roles.items() if named else ():
        if name not in given and not role.optional:
            raise UsageError(
                f"role {name!r} needs a policy; give one ({name}=SPEC), or a line-up, which plays "
                f"every role: {', '.join(named)}"
            )


def knows_by_role(model: Model[Any], given: Mapping[str, Any]) -> dict[str, Knowledge]:
    """Return what the policies of roles know, by role, where it is more than observations."""
    levels = {role: policy_knows(one, model_of(model, role)[0]) for role, one in given.items()}
    return {role: level for role, level in levels.items() if level != "observation"}


def lineup_knows(model: Model[Any], policies: Policies) -> Knowledge:
    """Return the most that a policy of a line-up knows; nothing is built.

    Raises:
        UsageError: A spec names no policy, or a policy declares a level that does not exist.
    """
    return most_known(policy_knows(one, of) for one, of in assigned(model, policies))


def policy_knows(one: OnePolicy, model: Model[Any]) -> Knowledge:
    """Return what a policy with its arguments, and those that these name, know of a model.

    Raises:
        UsageError: See `lineup_knows`.
    """
    maker, arguments = maker_of(one, model), _texts(one)
    inner = maker.inner_policies(arguments)
    return most_known(
        [knows(maker, model, arguments), *(policy_knows(text, model) for text in inner)]
    )


def assign(
    model: Model[Any], policies: Policies, roles: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return what is given for each role; a single policy takes the default roles or all roles.

    In a model with parts, a rule of the whole model takes the roles outside the parts.

    Args:
        model: The frozen parameters.
        policies: See `resolve`; in a mapping, the key "" names the policy of the default roles
            that are not named.
        roles: The roles that a single policy takes instead of the model's default roles.
    """
    if isinstance(policies, Mapping):
        named = {name: one for name, one in policies.items() if name}
        rest: OnePolicy | None = policies.get("")
        others = assign(model, rest, roles) if rest is not None else {}
        return {**others, **_by_role(model, named)}
    if policies is None:
        return {}
    if isinstance(policies, str) and (specs := catalog.lineup(policies.strip(), model)):
        return _by_role(model, specs)
    if parts := model.models:
        _check_known(model, parts, policies)
        # Part by part, because a policy's name may mean the heuristic of one model.
        names = roles or _names_played(model, parts)
        if isinstance(policies, str) and Spec.read(policies).name in catalog.policies(type(model)):
            # A rule of the whole model, which no part knows: for the roles beside the parts.
            names = [name for name in names if split_name(name)[0] not in parts]
        return _by_role(model, dict.fromkeys(names, policies))
    everyone = maker_of(policies, model).seats == "all"
    roles = tuple(model.roles) if everyone else tuple(roles or model.default_roles)
    return dict.fromkeys(roles, policies)


def assigned(model: Model[Any], policies: Policies) -> Iterator[tuple[Any, Model[Any]]]:
    """Yield each policy that is given and the model, or the part's model, of which it has a role.

    Nothing is built, and the names of roles are not checked.
    """
    for role, one in assign(model, policies).items():
        yield one, model_of(model, role)[0]


def seat_of(model: Model[Any], role: str, seed: int) -> Seat:
    """Return the seat of a role; a role of a part has the part's model and seed, and its own name.

    So a policy plays a part as it plays the part's model alone. `policy_at` takes the world's seed
    out of the seat of a policy that does not declare `needs_world_seed`.
    """
    name, inside = split_name(role)
    if inside and name in (models := model.models):
        return evolve(seat_of(models[name], inside, part_seed(seed, name)), name=role)
    own = derived_seed(seed, "policy", role)
    return Seat(model, role, model.roles[role], own, world_seed=seed)


def _by_role(model: Model[Any], policies: Mapping[str, Any]) -> dict[str, Any]:
    """Return policies by role; one that is given for a part takes the part's default roles.

    Raises:
        UsageError: A role would have two policies.
    """
    parts = model.models
    given: dict[str, Any] = {}
    for name, policy in policies.items():
        for role, one in _of_name(parts, name, policy).items():
            if role in given:
                raise UsageError(f"two policies for {role!r} were given; a role takes one")
            given[role] = one
    return given


def _check_known(model: Model[Any], parts: Mapping[str, Model[Any]], policies: Any) -> None:
    """Raise an error for a name that neither the model nor a part has for a line-up or a policy.

    Without it the first part would answer, which does not know the line-ups.
    """
    named = catalog.lineups(model)
    if not named or not isinstance(policies, str):
        return
    name = Spec.read(policies).name
    known = {
        *catalog.policies(),
        *catalog.policies(type(model)),
        *(each for p in parts.values() for each in catalog.policies(type(p))),
    }
    if ":" not in name and name not in known:
        hint = possible(name, [*named, *catalog.policies(type(model)), *catalog.policies()])
        raise UsageError(f"there is no line-up and no policy {name!r}; {hint}")


def _of_name(parts: Mapping[str, Model[Any]], name: str, policy: Any) -> dict[str, Any]:
    """Return by role what is given for a role, a part, or a role of a part."""
    part, inside = split_name(name)
    if part not in parts:
        return {name: policy}
    of_part = assign(parts[part], {inside: policy} if inside else policy)
    return {f"{part}.{role}": one for role, one in of_part.items()}


def _one_each(given: Mapping[str, Any]) -> None:
    """Raise an error if one instance would play several roles: it has one seat."""
    instances: dict[int, list[str]] = {}
    for role, one in given.items():
        if not is_made_anew(one):
            instances.setdefault(id(one), []).append(role)
    for roles in instances.values():
        if len(roles) > 1:
            raise UsageError(
                f"one instance of {label(given[roles[0]])} cannot play {' and '.join(roles)}; "
                "give each an instance of its own, a class or a spec"
            )


def maker_of(policy: OnePolicy, model: Model[Any]) -> type[Policy] | Policy:
    """Return the class that a spec names for a model, or that is given; an instance; or a function.

    A function, and whatever else is called, is wrapped.

    Raises:
        UsageError: A spec names no policy, or the object is none.
    """
    if isinstance(policy, ConfiguredClass):
        return as_policy(policy.policy)
    if isinstance(policy, str):
        return as_policy(catalog.policy(Spec.read(policy).name, model))
    return as_policy(policy)


def _texts(policy: OnePolicy) -> Mapping[str, str]:
    """Return the arguments of a policy as texts; none of a class, a function or an instance."""
    if isinstance(policy, ConfiguredClass):
        return policy.arguments
    return Spec.read(policy).arguments if isinstance(policy, str) else {}


def is_made_anew(policy: object) -> bool:
    """Return whether every episode makes its own policy of it, which an instance is not."""
    plain = policy.func if isinstance(policy, partial) else policy
    return isinstance(plain, str | type | ConfiguredClass | FunctionType)


def _names_played(model: Model[Any], parts: Collection[str]) -> list[str]:
    """Return the names for which a single policy is: the parts, and the roles beside them."""
    names = [(role, split_name(role)[0]) for role in tuple(model.default_roles)]
    return list(dict.fromkeys(part if part in parts else role for role, part in names))


def _parameters(seat: Seat) -> Model[Any]:
    """Return the parameters of a seat, for the framework itself."""
    return seat._model  # noqa: SLF001 (a seat may refuse to show them)


def policy_at(one: Any, seat: Seat) -> Policy:
    """Return the policy of a seat, made of a spec, a class or a function; an instance as it is.

    Raises:
        UsageError: The policy or an argument does not exist, or the object is not a policy.
    """
    model, texts, name = _parameters(seat), _texts(one), _name(one)
    maker = maker_of(one, model)
    is_class = isinstance(maker, type)
    if texts and not is_class:
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


def _name(one: OnePolicy) -> str:
    """Return the name of a policy in errors."""
    if isinstance(one, str):
        return Spec.read(one).name
    if isinstance(one, type):
        return one.__name__
    return label(one.policy if isinstance(one, ConfiguredClass) else one)


def is_coroutine(decide: Callable[[Any], Any]) -> bool:
    """Return whether a function, or the method by which an object is called, is a coroutine."""
    return any(map(inspect.iscoroutinefunction, (decide, type(decide).__call__)))


def _arguments(
    cls: type[Policy], model: Model[Any], texts: Mapping[str, str], name: str
) -> dict[str, Any]:
    """Return the arguments of a policy class by the types of its fields.

    Raises:
        UsageError: One does not exist, is missing or is not of its type.
    """
    calls = cls.arguments(type(model), texts)
    arguments = read_arguments(calls[0], texts, f"policy {name!r} has no argument", calls[1:])
    for missing, parameter in (each for call in calls for each in parameters(call).items()):
        if missing not in arguments and parameter.default is parameter.empty:
            raise UsageError(f"policy {name!r} needs {missing}; write {name},{missing}=VALUE")
    return arguments


def _seat_for(policy: type[Policy] | Policy, seat: Seat, name: str, level: Knowledge) -> Seat:
    """Return the seat of a policy, or of its class, with no more than it declares that it knows.

    Raises:
        UsageError: It needs what the policy that builds it does not have, or declares less than it
            needs.
    """
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
    if not seat.has_world_seed:
        raise UsageError(
            f"policy {name!r} needs the world's seed, and cannot be built inside a policy that "
            "does not have it"
        )
    return seat


def _without_options(role: Role) -> Role:
    """Return a role whose options use more than observations, for a policy that may not."""

    def withheld(_: Any) -> Any:
        raise UsageError("the options use more than observations; declare takes_options = True")

    return evolve(role, options=withheld, default_action=role.default_for)
