"""The session under all adapters."""

from collections.abc import Mapping
from typing import Any

from support.adapters import Case

#: What must be installed.
REQUIRES: tuple[str, ...] = ()


def carries(case: Case) -> bool:
    """Return whether the adapter can play a case."""
    return True


def play(
    case: Case, seed: int, answers: Mapping[str, list[dict[str, Any]]]
) -> tuple[float, str | None]:
    """Play the answers through the adapter; return the score and the ledger digest."""
    left = {seat: iter(each) for seat, each in answers.items()}
    with case.setup().begin(seed) as session:
        while session.open:
            for decision in list(session.open):
                session.answer(decision, next(left[decision.role]))
            session.advance()
        assert session.result is not None
        return session.result.score, session.result.ledger_digest
