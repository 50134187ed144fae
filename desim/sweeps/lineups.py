"""Who plays in a sweep: policies by label, and policies whose arguments vary."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
from attrs import evolve

from desim import catalog
from desim.errors import UsageError, possible
from desim.params import parameters
from desim.protocols import Model
from desim.seating import Policies, Spec, label
from desim.sweeps.axes import combinations
from desim.sweeps.jobs import Lineup

__all__ = ["lineups"]


def lineups(
    policies: Sequence[Policies], arguments: Mapping[str, Any], model: Model[Any]
) -> Iterator[Lineup]:
    """Yield each policy once, or once for every combination of the arguments that it takes.

    An argument that a spec has fixed stays as it is, so a fixed policy can stand beside those that
    vary.

    Args:
        policies: Specs, classes, instances of attrs classes, or mappings of roles to such.
        arguments: A value or a list of values by argument.
        model: Where specs find their policies.

    Raises:
        UsageError: An unknown policy, an argument that none of them takes, or an instance that
            cannot be told from others of its class.
    """
    unused = dict(arguments)
    for given in policies:
        free = _free(given, model)
        mine = {name: values for name, values in arguments.items() if name in free}
        unused = {name: values for name, values in unused.items() if name not in free}
        for texts in combinations(mine):
            varied = _with(given, texts, model)
            yield Lineup(_label(varied), varied)
    for name in unused:
        known = sorted({n for given in policies for n in _free(given, model)})
        raise UsageError(f"no policy here lets {name!r} vary; {possible(name, known)}")


def _free(given: Policies, model: Model[Any]) -> set[str]:
    """Name the arguments that a policy takes and that are not fixed already."""
    if isinstance(given, Mapping):
        return {name for one in given.values() for name in _free(one, model)}
    if isinstance(given, type):
        return _takes(given)
    if not isinstance(given, str):
        return set()
    spec = Spec.read(given)
    return _takes(catalog.policy(spec.name, model)) - set(spec.arguments)


def _takes(cls: type) -> set[str]:
    """Name what a spec may set."""
    return set(parameters(getattr(cls, "seated", None) or cls))


def _with(given: Policies, texts: Mapping[str, str], model: Model[Any]) -> Policies:
    """Return the policy with arguments added to its spec, where it takes them."""
    if isinstance(given, Mapping):
        return {role: _with(one, texts, model) for role, one in given.items()}
    mine = {name: text for name, text in texts.items() if name in _free(given, model)}
    if not mine:
        return given
    spec = Spec.read(given if isinstance(given, str) else label(given))
    return str(evolve(spec, arguments={**spec.arguments, **mine}))


def _label(given: Policies) -> str:
    if isinstance(given, Mapping):
        return " ".join(f"{role}={_label(one)}" for role, one in given.items()) or "nobody"
    if not isinstance(given, str | type) and not attrs.has(type(given)):
        raise UsageError(
            f"an instance of {type(given).__qualname__} cannot be told from others of its class; "
            "give a spec, the class, or an instance of an attrs class"
        )
    return label(given)
