"""Policies that play many courses of one episode: which can, and their decisions."""

import inspect
from typing import Any

from desim.core.model import offers
from desim.core.policy import (
    LooksAhead,
    Policy,
    ReachesOutside,
    decide_arguments,
    knows,
    sees_more_than_rules,
)
from desim.core.roles import Role
from desim.errors import DesimError, PolicyFailed, UsageError
from desim.faults import RAISED, fault_text


def decide_at_once(
    policy: Policy, role: str, t: int, observation: Any, narrowed: Role | None
) -> Any:
    """Return what a policy decides in a branch or a rollout, where nothing is awaited.

    Args:
        policy: The policy.
        role: The name of its role.
        t: The tick.
        observation: The observation.
        narrowed: See `decide_arguments`.

    Raises:
        PolicyFailed: The policy raised an exception.
        UsageError: The policy decides in a coroutine.
    """
    try:
        action = policy.decide(*decide_arguments(policy, observation, narrowed))
    except DesimError:
        raise
    except RAISED as fault:
        raise PolicyFailed(
            f"the policy of {role!r} failed at t={t} of a branch, after actions that were not all "
            f"its own: {fault_text(fault)}"
        ) from fault
    if hasattr(action, "__await__"):
        if inspect.iscoroutine(action):
            action.close()  # Python warns of one that is never awaited
        raise UsageError(
            f"the policy of {role!r} is a coroutine, and branches and rollouts await none"
        )
    return action


def check_repeatable(name: str, policy: Any, use: str, *, redrawn: bool = True) -> None:
    """Check that a policy can play many courses of one episode.

    Args:
        name: Its label, for the error.
        policy: The policy, or its class.
        use: "rollouts" or "branches".
        redrawn: Whether the future is drawn anew.

    Raises:
        UsageError: The policy cannot play them; the text names the reason.
    """
    for reason, is_one in (
        ("opens files or contacts a host, and would do so in each", offers(policy, ReachesOutside)),
        ("looks ahead itself", offers(policy, LooksAhead)),
        (
            "knows hidden state or the true future, which is redrawn",
            redrawn and sees_more_than_rules(knows(policy)),
        ),
    ):
        if is_one:
            raise UsageError(f"policy {name!r} cannot play in {use}: it {reason}")
