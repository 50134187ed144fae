"""Who sits where: policies from specs, classes or instances, one fresh instance a role and episode.

A spec is a policy's name or `package.module:Class`, then `,key=value` for each argument:
`base_stock,target=1200`.
"""

from collections.abc import Mapping
from typing import Any

import attrs
from attrs import frozen

from desim import catalog
from desim.errors import UsageError
from desim.kernel import Role
from desim.params import build, parameters, read_arguments
from desim.protocols import Model, Policy, lead
from desim.world import generator

__all__ = ["Policies", "Seat", "Spec", "label", "read_seats", "seat_all"]

#: What may be given as policies: one for the model's lead seats, or one a role.
Policies = Any


@frozen
class Seat:
    """What the framework tells a policy's `seated` class method.

    Attributes:
        model: The frozen parameters of the world.
        role: The seat's name.
        does: The role's schema and options.
        seed: The episode's seed.
    """

    model: Model[Any]
    role: str
    does: Role
    seed: int

    def generator(self) -> Any:
        """Make random numbers of this seat's own, which no stream of the world shares."""
        return generator(self.seed, "policy", self.role)


@frozen
class Spec:
    """A policy as text: its name and arguments.

    >>> Spec.read("base_stock,target=1200")
    Spec(name='base_stock', arguments={'target': '1200'})
    """

    name: str
    arguments: Mapping[str, str] = attrs.field(factory=dict)

    @classmethod
    def read(cls, text: str) -> "Spec":
        """Read a spec.

        Raises:
            UsageError: It has no name, or an argument is not KEY=VALUE or given twice.
        """
        name, *parts = text.strip().split(",")
        arguments = {}
        for part in parts:
            key, equals, value = part.partition("=")
            key = key.strip()
            if not (key and equals):
                raise UsageError(f"{part!r} in policy {text!r} is not KEY=VALUE")
            if key in arguments:
                raise UsageError(f"{key} was given twice in policy {text!r}")
            arguments[key] = value.strip()
        if not name:
            raise UsageError(f"policy {text!r} has no name; write NAME[,KEY=VALUE]...")
        return cls(name, arguments)

    def __str__(self) -> str:
        return ",".join([self.name, *(f"{k}={v}" for k, v in self.arguments.items())])


def read_seats(texts: tuple[str, ...] | list[str]) -> Policies:
    """Read `[ROLE=]SPEC` texts: one spec for the lead seats, or a mapping of roles to specs.

    Raises:
        UsageError: A role is named twice, or specs with and without a role are mixed.
    """
    seats: dict[str, str] = {}
    for text in texts:
        head = text.split(",", 1)[0]
        role, equals, name = head.partition("=")
        role, spec = (role, name + text[len(head) :]) if equals else ("", text)
        if role in seats:
            raise UsageError(
                f"two policies for {role!r} were given; a role takes one"
                if role
                else f"policies {seats['']!r} and {text!r} name no role; write ROLE=SPEC"
            )
        seats[role] = spec
    if "" in seats and len(seats) > 1:
        raise UsageError(f"policy {seats['']!r} names no role while others do; write ROLE=SPEC")
    return seats.get("", seats)


def spread(model: Model[Any], policies: Policies) -> dict[str, Any]:
    """Say which role gets what: a single policy takes the lead seats, or all if it asks for all."""
    if isinstance(policies, Mapping):
        return dict(policies)
    if policies is None:
        return {}
    found = (
        catalog.policy(Spec.read(policies).name, model) if isinstance(policies, str) else policies
    )
    seats = tuple(model.roles) if getattr(found, "seats", "") == "all" else lead(model)
    if len(seats) > 1 and not isinstance(policies, str | type):
        raise UsageError(
            f"one instance of {label(policies)} cannot sit at {' and '.join(seats)}; "
            "give a mapping of roles to policies, a class or a spec"
        )
    return dict.fromkeys(seats, policies)


def seat_all(model: Model[Any], policies: Policies, seed: int) -> dict[str, Policy]:
    """Make the policies of one episode, by role.

    Args:
        model: The frozen parameters.
        policies: A spec, a class or an instance for the lead seats, or a mapping of roles to such.
        seed: The episode's seed.

    Raises:
        UsageError: An unknown policy, argument or role, or an object that cannot decide.
    """
    given = spread(model, policies)
    roles = model.roles
    return {
        role: _make(one, Seat(model, role, roles[role], seed)) if role in roles else one
        for role, one in given.items()
    }


def label(policy: Any) -> str:
    """Name a policy in tables and records: its spec, or what it says of itself."""
    if isinstance(policy, str):
        return str(Spec.read(policy))
    cls = policy if isinstance(policy, type) else type(policy)
    if isinstance(policy, type) or not attrs.has(cls):
        return f"{cls.__module__}:{cls.__qualname__}"
    return repr(policy)


def _make(one: Any, seat: Seat) -> Policy:
    if isinstance(one, str):
        spec = Spec.read(one)
        cls = catalog.policy(spec.name, seat.model)
        return _build(cls, seat, spec.arguments, spec.name)
    if isinstance(one, type):
        return _build(one, seat, {}, one.__name__)
    return _checked(one)


def _build(cls: type, seat: Seat, texts: Mapping[str, str], name: str) -> Policy:
    make = getattr(cls, "seated", None)
    if make is None:
        _checked(cls)
    call = make or cls
    arguments = read_arguments(call, texts, what=f"policy {name!r} has no argument")
    for missing, parameter in parameters(call).items():
        if missing not in arguments and parameter.default is parameter.empty:
            raise UsageError(f"policy {name!r} needs {missing}; write {name},{missing}=VALUE")
    return _checked(make(seat, **arguments) if make else build(cls, arguments))


def _checked(policy: Any) -> Policy:
    if not callable(getattr(policy, "decide", None)):
        raise UsageError(f"{policy!r} is no policy: it has no method decide(observation)")
    checked: Policy = policy
    return checked
