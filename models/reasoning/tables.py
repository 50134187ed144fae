"""The analyst's tables: the items answered, with the outcomes shown to the analyst."""

from typing import Any

from models.reasoning.state import Desk, outcome


def tables(desk: Desk) -> dict[str, list[dict[str, Any]]]:
    """Return the items answered so far; outcomes are empty until they are shown, or all is over."""
    over = len(desk.grades) == len(desk.items)
    shown = len(desk.grades) if over else desk.shown
    return {
        "answers": [
            {
                "number": at + 1,
                "id": item.id,
                "task": item.task,
                "answer": _short(graded.extracted),
                "outcome": outcome(graded.correct) if at < shown else "",
                "right_answer": _short(item.answer) if at < shown else "",
            }
            for at, (item, graded) in enumerate(zip(desk.items, desk.grades, strict=False))
        ]
    }


def _short(text: str, most: int = 100) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 3]}..."
