"""Checks of single decisions: observations, and the options of roles."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from desim.errors import DesimError, ModelFailed, WrongAction
from desim.faults import RAISED
from desim.schema import codec, encode_observation, from_plain
from desim.short_repr import short_repr
from desim.studies.checks.checked_world import CheckedWorld
from desim.studies.checks.course import Asked, CheckedCourse
from desim.studies.checks.outcomes import CheckFailed, NotChecked, fault_sentence
from desim.studies.checks.wording import counted

#: Decisions of each role, from its first one, at which every option is tried.
_TRIED = 2

#: The field of an observation that states why the role's last action was refused; else it is empty.
REFUSAL = "refusal"


def observations(world: CheckedWorld) -> str:
    """Each recorded observation fits its schema and equals the one handed out to the end."""
    roles, count = world.model.roles, 0
    for course in world.courses():
        for one in course.asked:
            kind = roles[one.role].observation
            where = f"the observation of {one.role!r} at t={one.t}"
            if encode_observation(one.observation, kind) != one.seen:
                raise CheckFailed(f"{where} changes after it was handed out", one.observe)
            _check_read(one, kind, where)
            count += 1
    if not count:
        raise NotChecked("no role was asked; see `plays`")
    return f"{counted(count, 'observation')}: in the schema, and not changed later"


def _check_read(one: Asked, kind: Any, where: str) -> None:
    try:
        again = from_plain(msgspec.json.decode(one.seen), kind)
    except DesimError as fault:
        text = f"{where} does not fit its schema: {fault_sentence(fault)}"
        raise CheckFailed(text, one.observe) from None
    if encode_observation(again, kind) != one.seen:
        raise CheckFailed(f"{where}, read from its record, is another one", one.observe)


def options(world: CheckedWorld) -> str:
    """Every option fits the schema of its role, none is refused, and the model plays on after."""
    offered = 0
    for course in world.courses():
        for one in course.asked:
            offered += sum(1 for _ in _checked_options(one)) if one.spec.options else 0
        _check_refusals(world, course)
    if not offered:
        raise NotChecked("no role offers options; see `random`")
    tried = sum(_tried(world, one) for one in world.courses()[:1] if one.fault is None)
    return f"{counted(offered, 'option')}: in the schema, and {tried} of them tried"


def _checked_options(one: Asked) -> Iterator[Any]:
    """Yield the actions of the options of a decision.

    Raises:
        CheckFailed: The options are empty, cannot be made, or include one that does not fit.
    """
    where, role = f"the options of {one.role!r} at t={one.t}", one.spec
    assert role.options is not None
    try:
        found = [option.action for option in role.options(one.observation)]
    except RAISED as fault:
        raise CheckFailed(f"{where} cannot be made: {fault_sentence(fault)}") from fault
    if not found:
        raise CheckFailed(f"{where} are none; at least one is needed", role.options)
    for action in found:
        try:
            codec(role.action).take(action)
        except WrongAction as fault:
            text = f"{where}: the schema refuses {short_repr(action)}: {fault}"
            raise CheckFailed(text, role.options) from None
        yield action


def _check_refusals(world: CheckedWorld, course: CheckedCourse) -> None:
    """Check that no option was refused, where observations say so.

    Raises:
        CheckFailed: A role took an option, and its next observation has a refusal.
    """
    before: dict[str, Asked] = {}
    for one in course.asked:
        refusal, role = getattr(one.observation, REFUSAL, ""), world.model.roles[one.role]
        if refusal and one.role in before and role.options is not None:
            taken = before[one.role]
            text = f"{one.role!r} took the option {taken.wire.decode()} at t={taken.t}, which was "
            raise CheckFailed(f"{text}refused: {short_repr(refusal)}", role.options)
        before[one.role] = one


def _tried(world: CheckedWorld, course: CheckedCourse) -> int:
    """Take every option of the first decisions of each role; return how many.

    Raises:
        CheckFailed: The model fails after one.
    """
    tried, seen = 0, Counter[str]()
    for number, one in enumerate(course.asked):
        seen[one.role] += 1
        if seen[one.role] > _TRIED or one.spec.options is None:
            continue
        for action in _checked_options(one):
            _try(world, course, number, action)
            tried += 1
    return tried


def _try(world: CheckedWorld, course: CheckedCourse, number: int, action: Any) -> None:
    """Take an option in place of an answer of a course.

    Raises:
        CheckFailed: The model fails.
    """
    again, one = world.played_otherwise(course, number, action), course.asked[number]
    if isinstance(again.fault, ModelFailed):
        text = f"{one.role!r} took the option {short_repr(action)} at t={one.t}, and the model "
        raise CheckFailed(f"{text}failed: {fault_sentence(again.fault)}") from again.fault
