"""Notes of all lanes: draws, and the service of a month (J2, J13 and J14)."""

import numpy as np

from desim.lanes.lane_columns import Array
from models.enterprise_arena.lanes.decimals import rounded_sums
from models.enterprise_arena.lanes.lane_state import Notes


def no_notes(lanes: int) -> Notes:
    """Return notes without a place."""
    real = np.zeros((0, lanes))
    return Notes(real, real, real, np.zeros((0, lanes), dtype=np.int64))


def drawn_note(
    notes: Notes, draws: Array, received: Array, rate: Array, month: Array, term: int
) -> Notes:
    """Return the notes with one more in some lanes.

    Args:
        notes: The notes before.
        draws: Whether a lane draws a note.
        received: Cents drawn.
        rate: Contract rate, a share a year.
        month: The present month.
        term: Number of instalments.
    """
    lanes = np.flatnonzero(draws)
    free = notes.balance[:, lanes] == 0
    if not len(free) or not free.any(axis=0).all():
        notes = _wider(notes)
        free = notes.balance[:, lanes] == 0
    place = free.argmax(axis=0)
    principal = received[lanes]
    values = (principal, np.rint(principal / term), rate[lanes], month[lanes] + (term - 1))
    after = Notes(*[column.copy() for column in notes])
    for column, value in zip(after, values, strict=True):
        column[place, lanes] = value
    return after


def _wider(notes: Notes) -> Notes:
    """Return the notes with one more place, free in all lanes."""
    return Notes(
        *[
            np.concatenate([column, np.zeros_like(column, shape=(1, column.shape[1]))])
            for column in notes
        ]
    )


def serviced(notes: Notes, month: Array) -> tuple[Array, Array, Notes]:
    """Return the month's interest and principal in cents, and the notes after their payment."""
    if not len(notes.balance):
        nothing = np.zeros(notes.balance.shape[1])
        return nothing, nothing, notes
    balance = notes.balance
    interest = rounded_sums(balance * notes.rate / 12)
    paid: Array = np.where(month >= notes.last, balance, np.minimum(balance, notes.instalment))
    return interest, paid.sum(axis=0), notes._replace(balance=balance - paid)
