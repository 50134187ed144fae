"""The policies of a sweep: one labelled entry for each way to play."""

from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

import attrs
from attrs import evolve, frozen

from desim.catalog import policy_finder
from desim.core.protocols import Model, Seated, model_arguments, model_of, offers
from desim.episodes.lineup import Policies, assigned
from desim.episodes.spec import Spec, label
from desim.errors import UsageError, possible
from desim.schema.arguments import parameters
from desim.sweeps.combinations import combinations

__all__ = ["PolicyEntry", "entries"]


@frozen
class PolicyEntry:
    """One way to play, and its name in rows and tables.

    Attributes:
        label: A text without memory addresses; equal labels mean equal policies.
        policies: What `desim.play` takes as its policies.
    """

    label: str
    policies: Policies


def entries(
    policies: Sequence[Policies], arguments: Mapping[str, Any], model: Model[Any]
) -> Iterator[PolicyEntry]:
    """Yield one entry for each policy and each combination of the arguments that it takes.

    An argument that a spec sets already is not varied, so a fixed policy can be compared with
    varied ones.

    Args:
        policies: Specs, classes, functions, instances of attrs classes, or mappings of roles to
            these.
        arguments: A value or a list of values by argument.
        model: The model whose policies the specs name.

    Raises:
        UsageError: An unknown policy, an argument that no policy takes, or an instance that has no
            distinct label.
    """
    unused = dict(arguments)
    for given in policies:
        free = _free_arguments(given, model)
        varied = {name: values for name, values in arguments.items() if name in free}
        unused = {name: values for name, values in unused.items() if name not in free}
        for texts in combinations(varied):
            policy = _with_arguments(given, texts, model)
            yield PolicyEntry(_label(policy), policy)
    for name in unused:
        known = sorted({n for given in policies for n in _free_arguments(given, model)})
        raise UsageError(f"no policy here lets {name!r} vary; {possible(name, known)}")


def _free_arguments(given: Policies, model: Model[Any]) -> set[str]:
    """Return the names of the arguments that a policy takes and that are not set yet."""
    found: set[str] = set()
    for one, of in assigned(model, given):
        if isinstance(one, type):
            found |= _arguments(one, of)
        elif isinstance(one, str):
            spec = Spec.read(one)
            found |= _arguments(policy_finder.policy(spec.name, of), of) - set(spec.arguments)
    return found


def _arguments(maker: policy_finder.PolicyMaker, model: Model[Any]) -> set[str]:
    """Return the names of the arguments that a spec may set; a function of a policy has none."""
    if not isinstance(maker, type):
        return set()
    own = maker.seated if offers(maker, Seated) else maker
    calls = (own, *model_arguments(maker, type(model)))
    return {name for call in calls for name in parameters(call)}


def _with_arguments(given: Any, texts: Mapping[str, str], model: Model[Any]) -> Any:
    """Return the policy as a spec with the arguments that it takes, or unchanged if none."""
    named = policy_finder.lineup(given, model) if isinstance(given, str) and texts else None
    given = named or given
    if isinstance(given, Mapping):
        # Each with what its own model knows, which for a part is not the model of the sweep.
        return {
            name: _with_arguments(one, texts, model_of(model, name)[0])
            for name, one in given.items()
        }
    taken = {name: text for name, text in texts.items() if name in _free_arguments(given, model)}
    if not taken:
        return given
    spec = Spec.read(given if isinstance(given, str) else label(given))
    return str(evolve(spec, arguments={**spec.arguments, **taken}))


def _label(given: Policies) -> str:
    if isinstance(given, Mapping):
        named = (f"{role}={_label(one)}" if role else _label(one) for role, one in given.items())
        return " ".join(named) or "nobody"
    if not isinstance(given, str | type | FunctionType) and not attrs.has(type(given)):
        raise UsageError(
            f"an instance of {type(given).__qualname__} has no distinct label; "
            "give a spec, the class, or an instance of an attrs class"
        )
    return label(given)
