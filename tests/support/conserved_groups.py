"""The balances between parts, verified at the end of every instant while tests run."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from desim.composition.group import Group
from desim.core.world import World


@contextmanager
def checked() -> Iterator[None]:
    """Verify groups that begin until the context is left, before every event of a later tick.

    Raises:
        NotConserved: Cash or goods were created or lost in the tick before.
    """
    begin = Group.__init__

    @wraps(begin)
    def begin_checked(group: Group, world: World, *args: Any, **options: Any) -> None:
        begin(group, world, *args, **options)

        def check(present: World) -> None:
            if present is world and world.peek() > world.now:
                group.check_conserved()

        world.on_event = (*world.on_event, check)

    setattr(Group, "__init__", begin_checked)  # noqa: B010 (mypy forbids the assignment)
    try:
        yield
    finally:
        setattr(Group, "__init__", begin)  # noqa: B010 (mypy forbids the assignment)
