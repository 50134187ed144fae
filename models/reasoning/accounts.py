"""The accounts of the book of items: where each item of the episode is."""

from ledgers.accounts import Account

__all__ = ["CHART", "GIVEN", "OUTCOMES", "UNDER_WAY", "WAITING", "outcome"]

#: Against which the items of the episode are posted when it begins.
GIVEN = "given"

#: Items that have not arrived, and items that have arrived and are not answered.
WAITING, UNDER_WAY = "waiting", "under_way"

#: Items that are answered, by outcome; the scorer of a raised one has failed.
OUTCOMES = ("right", "wrong", "raised")

CHART: tuple[str | Account, ...] = (WAITING, UNDER_WAY, *OUTCOMES, GIVEN)


def outcome(correct: bool | None) -> str:  # noqa: FBT001 (a result, not a switch)
    """Return the account of an answered item."""
    right, wrong, raised = OUTCOMES
    if correct is None:
        return raised
    return right if correct else wrong
