"""Who plays in the place of a person: the baselines of the model, and of the person's parts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from desim import catalog
from desim.catalog.policy_spec import Spec, read_policies
from desim.core.model_protocols import Model
from desim.core.policy_protocols import is_informed
from desim.episodes.lineup import assign, seat_of
from desim.errors import UsageError

__all__ = ["Contender", "contenders"]

#: The baseline of a person's other parts while one part tries all of its own.
_USUAL = "greedy"


@frozen
class Contender:
    """One baseline in the place of a person.

    Attributes:
        label: Its spec; of parts also whose it is.
        specs: By part the spec that plays the person's seats in it; "" stands for the roles that
            are in no part, and alone for all of the person's seats.
    """

    label: str
    specs: Mapping[str, str]

    def policies(self, model: Model[Any], seats: Sequence[str]) -> dict[str, Any]:
        """Return the policies of the person's roles; a role that its specs leave out is missing.

        Raises:
            UsageError: A policy is unknown.
        """
        parts = _parts(model, seats)
        if [*self.specs] == [""]:
            parts = {"": _Part(model, tuple(seats))}
        given: dict[str, Any] = {}
        for name, spec in self.specs.items():
            taken = assign(parts[name].model, read_policies((spec,)), parts[name].seats)
            given |= {f"{name}.{role}" if name else role: one for role, one in taken.items()}
        return {role: given[role] for role in seats if role in given}

    def plays(self, model: Model[Any], seats: Sequence[str]) -> bool:
        """Return whether it plays all of the person's roles, so that scores can be compared.

        A spec that is wrong counts as one that does: its error is shown in place of a score.
        """
        try:
            return len(self.policies(model, seats)) == len(seats)
        except UsageError:
            return True

    def is_informed(self, model: Model[Any], seats: Sequence[str]) -> bool:
        """Return whether one of its policies uses facts that its role cannot observe.

        Raises:
            UsageError: A policy is unknown.
        """
        policies = self.policies(model, seats).items()
        named = ((Spec.read(spec).name, seat_of(model, role, 0).model) for role, spec in policies)
        return any(is_informed(catalog.policy(name, of), of) for name, of in named)


@frozen
class _Part:
    """A model and the person's seats in it, by the names that they have there."""

    model: Model[Any]
    seats: tuple[str, ...]


def contenders(model: Model[Any], seats: Sequence[str]) -> tuple[Contender, ...]:
    """Return the baselines and line-ups of a model, then those that only parts of it have.

    Parts are those in which a person has seats.

    Where these are several parts, one part tries all of its baselines while the person's seats in
    the others are played by `greedy`, or by the first baseline of a part without options.
    """
    # For one seat a line-up is a single rule, which the baselines name.
    joint = catalog.lineups(model) if len(seats) > 1 else ()
    whole = tuple(dict.fromkeys((*catalog.baselines(model), *joint)))
    named = {name: catalog.baselines(part.model) for name, part in _parts(model, seats).items()}
    every = tuple(Contender(name, {"": name}) for name in whole)
    return (*every, *_by_part(named, whole)) if all(named.values()) else every


def _by_part(named: Mapping[str, Sequence[str]], known: Sequence[str]) -> Iterator[Contender]:
    """Yield the baselines of each part that the whole model does not have."""
    usual = {part: _USUAL if _USUAL in names else names[0] for part, names in named.items()}
    for part, names in named.items():
        for name in names:
            if name not in known:
                specs = {**usual, part: name}
                label = "; ".join(
                    f"{part}: {spec}" if part else spec for part, spec in specs.items()
                )
                yield Contender(label, specs)


def _parts(model: Model[Any], seats: Sequence[str]) -> dict[str, _Part]:
    """Return by name the parts in which a person has seats; "" holds roles that are in none."""
    parts: dict[str, _Part] = {}
    for role in seats:
        # The part's own model, which the heuristics are of.
        seat = seat_of(model, role, 0)
        name = role.removesuffix(seat.role).removesuffix(".")
        before = parts[name].seats if name in parts else ()
        parts[name] = _Part(seat.model, (*before, seat.role))
    return parts
