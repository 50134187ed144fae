"""Facts of a world that methods get in addition to the messages, and values by kind of task.

Tables made by `per_task` hold a method's values that differ between tasks, such as temperatures;
`only_for` states the kinds of task from which it learns.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Literal, TypeVar, get_args

from attrs import frozen

T = TypeVar("T")

#: Kinds of items, for which the published methods have different procedures and temperatures:
#: decisions that follow each other, one decision for a whole episode, replies in a dialogue, and
#: independent questions.
Task = Literal["game", "plan", "interview", "questions"]


def per_task(default: T, **own: T) -> Mapping[Task, T]:
    """Return a table of values by kind of task; the kinds not named have the default."""
    tasks: tuple[Task, ...] = get_args(Task)
    return {task: own.get(task, default) for task in tasks}


def only_for(
    *tasks: Task, as_published: tuple[Task, ...] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator of a step of a method, which then does nothing for other kinds of task.

    Args:
        tasks: The kinds for which it does something.
        as_published: The kinds for a method with `as_published`, if they differ.
    """

    def decorated(step: Callable[..., None]) -> Callable[..., None]:
        @wraps(step)
        def of_some(method: Any, *given: Any) -> None:
            published = as_published if method.as_published else None
            if method.task in (tasks if published is None else published):
                step(method, *given)

        return of_some

    return decorated


@frozen(kw_only=True)
class Setting:
    """Facts of the world that a method gets in addition to the messages.

    Attributes:
        task: The kind of items.
        role: The role that decides, as a word for notes.
        name: The name of the case or scenario, if there are several.
        keys: Keys of a decision; if given, a reviewer sees only these and not the whole reply.
        topics: Words; a playbook is then shown by its lines that contain one of them.
        goal: A metric and the value from which on an episode counts as a success.
        figures: Metrics of an episode from which the method learns; empty for all.
    """

    task: Task = "game"
    role: str = ""
    name: str = ""
    keys: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    goal: tuple[str, float] | None = None
    figures: tuple[str, ...] = ()
