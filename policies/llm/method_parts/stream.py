"""A method on a stream of independent questions, in the published modes."""

from collections.abc import Sequence

from policies.llm.chat.options import LearningMode
from policies.llm.method_parts.items import Answered, Grade, Item
from policies.llm.method_parts.method import Method


def answer_stream(
    method: Method,
    items: Sequence[Item],
    grade: Grade,
    *,
    mode: LearningMode = "online",
    window: int | None = None,
    train: Sequence[Item] = (),
) -> list[Answered]:
    """Answer questions and score them, learning as the mode says.

    Args:
        method: The method; its memory changes.
        items: The questions, numbered from 1.
        grade: Scores a reply; learning may score further replies.
        mode: One of `LEARNING_MODES`.
        window: Items answered before the memory changes; None for the method's own number.
        train: In the mode offline: the questions to learn from, which are not scored.

    Returns:
        The first answer to each item, in order; only these count.
    """
    if mode == "offline":
        method.learns = True
        method.begin_stream(train)
        method.learn_apart(train, grade)
    method.learns = mode == "online" or (mode == "eval_only" and method.learns_always)
    method.begin_stream(items)
    answered: list[Answered] = []
    size = max(1, window or method.WINDOW) if mode == "online" else 1
    for start in range(0, len(items), size):
        part = items[start : start + size]
        done = [method.answered(item, grade) for item in part]
        answered += done
        if method.learns:
            method.learn(done, grade)
    return answered
