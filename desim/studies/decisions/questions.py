"""The decisions of a record that are judged, and the alternative actions of each."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from desim.core.streams import generator
from desim.episodes.counterfactual import Past, decided_at
from desim.errors import UsageError, possible
from desim.schema import tagged
from desim.schema.codecs import tagged_object


@frozen
class Question:
    """A decision and its alternative actions.

    Attributes:
        at: How many decisions precede it.
        actions: The recorded action first, then the others.
        left_out: The number of options that are left out because there are too many.
    """

    at: int
    actions: tuple[Any, ...]
    left_out: int = 0


def chosen(
    past: Past, role: str = "", decisions: slice | None = None, kinds: Collection[str] = ()
) -> list[int]:
    """Return for each decision that is judged how many precede it.

    Args:
        past: The record.
        role: The role that made them; empty for any.
        decisions: The decisions by their numbers from 1; None for all.
        kinds: Names of recorded actions, such as `task_accept` of `{"do": "task_accept"}`; empty
            for any.

    Raises:
        UsageError: The role has no policy in the record, or one of the filters matches nothing.
    """
    if role and role not in past.header.policies:
        roles = ", ".join(past.header.policies)
        raise UsageError(f"no policy plays {role!r} in the record; its roles are {roles}")
    count = len(past.moments)
    if not count:
        raise UsageError("the record has no decision")
    numbers = range(count)[_from_0(decisions or slice(None))]
    if not numbers:
        raise UsageError(f"no decision of the record is meant; it has {count}: 1 to {count}")
    found = [at for at in numbers if role in ("", past.moments[at].role)]
    if not found:
        raise UsageError(f"none of these {len(numbers)} decisions is one of {role!r}")
    return _of_kinds(past, found, kinds) if kinds else found


def _from_0(decisions: slice) -> slice:
    """Return a slice of numbers from 1 as one of places from 0; below 0 both count from the end.

    Raises:
        UsageError: A bound is 0.
    """
    first, end = decisions.start, decisions.stop
    if 0 in (first, end):
        raise UsageError(f"decisions {first}:{end} were given; the first decision is 1")
    first, end = (n - 1 if n and n > 0 else n for n in (first, end))
    return slice(first, end, decisions.step)


def _of_kinds(past: Past, numbers: Sequence[int], kinds: Collection[str]) -> list[int]:
    """Return the decisions whose recorded action has one of the given names.

    Raises:
        UsageError: A name matches none of the recorded actions.
    """
    by_number = {at: tagged_object(past.moments[at].action)["do"] for at in numbers}
    for kind in kinds:
        if kind not in by_number.values():
            known = possible(kind, dict.fromkeys(by_number.values()))
            raise UsageError(f"none of these {len(numbers)} decisions was {kind!r}; {known}")
    return [at for at in numbers if by_number[at] in kinds]


def of_options(past: Past, at: int, most: int) -> Question:
    """Return a decision with the options of its role as alternatives.

    Raises:
        UsageError: The role offers no options.
    """
    moment = past.moments[at]
    options = (moment.narrowed or past.model.roles[moment.role]).options
    if options is None:
        raise UsageError(
            f"role {moment.role!r} offers no options; name a policy instead (--against SPEC), or "
            "a role that offers some (--role)"
        )
    offered = list(options(moment.observation))
    ranked = sorted(range(len(offered)), key=lambda n: -offered[n].value)
    taken = offered
    if len(offered) > most:
        draws = generator(past.header.seed, "regret", str(at))
        some = draws.choice(ranked[1:], most - 1, replace=False) if most > 1 else ()
        taken = [offered[n] for n in sorted({ranked[0], *map(int, some)})]
    actions = _distinct(moment.action, [one.action for one in taken])
    return Question(at, actions, len(offered) - len(taken))


def of_policies(
    past: Past, numbers: Sequence[int], others: Mapping[str, Any], base: Mapping[str, Any]
) -> list[Question]:
    """Return decisions with the actions that a policy of their role would have taken."""
    wanted = frozenset(numbers)
    found = [
        Question(at, _distinct(past.moments[at].action, [action]))
        for at, action in enumerate(decided_at(past, others, base))
        if at in wanted and past.moments[at].role in others
    ]
    if not found:
        raise UsageError(f"none of these decisions is one of {' or '.join(map(repr, others))}")
    return found


def _distinct(recorded: Any, others: Iterable[Any]) -> tuple[Any, ...]:
    """Return the recorded action first, then the others that differ from it and from each other."""
    found: dict[bytes, Any] = {}
    for one in (recorded, *others):
        found.setdefault(tagged(one), one)
    return tuple(found.values())
