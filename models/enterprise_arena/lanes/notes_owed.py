"""Notes of all lanes: draws, and the service of a month (J2, J13 and J14)."""

import numpy as np

from desim.lanes.lane_columns import Array
from models.enterprise_arena.lanes.decimals import rounded_sums
from models.enterprise_arena.lanes.lane_state import Notes


def no_notes(lanes: int) -> Notes:
    """Return notes without a place."""
    real = np.zeros((0, lanes))
    return Notes(real, real, real, np.zeros((0, lanes), dtype=np.int64))


def new_note(received: Array, rate: Array, month: Array, term: int) -> Notes:
    """Return a note of every lane; one of 0 cents stands for none.

    Args:
        received: Cents drawn.
        rate: Contract rate, a share a year.
        month: The month of the draw.
        term: Number of instalments.
    """
    return Notes(received, np.rint(received / term), rate, month + (term - 1))


def with_notes(notes: Notes, new: Notes, owed: Array) -> Notes:
    """Return the notes with one more in some lanes.

    Args:
        notes: After the service of a month, whose balances no state has taken yet.
        new: A note of every lane.
        owed: The balances before that service; a place without one is free.
    """
    lanes = np.flatnonzero(new.balance)
    if not len(lanes):
        return notes
    free = owed[:, lanes] == 0
    if not free.any(axis=0).all():
        notes = _wider(notes)
        free = np.concatenate([free, np.ones((1, len(lanes)), dtype=bool)])
    place = free.argmax(axis=0)
    # Written in place: the state before the service reads nothing of a place without a balance.
    for column, value in zip(notes, new, strict=True):
        column[place, lanes] = value[lanes]
    return notes


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
