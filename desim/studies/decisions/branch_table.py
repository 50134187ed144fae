"""Decisions in the tables of branches, and the notes that a reader of these tables needs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from attrs import frozen

from desim.catalog.policy_spec import label
from desim.core.model import kept_facts
from desim.episodes.counterfactual import Past
from desim.errors import UsageError
from desim.short_repr import short_repr, shortened
from desim.show.labels import number_text
from desim.statistics.intervals import Interval

#: Most futures of a comparison.
MOST_FUTURES = 100_000

#: Characters of an action in a table.
_ACTION = 57


@frozen
class Place:
    """The place of a decision in an episode.

    Attributes:
        at: Its number in the episode, from 1, the value of `desim branch --at`.
        t: The tick.
        date: Its date in ISO form; empty in a model without dates.
        role: Who decided.
    """

    at: int
    t: int
    date: str
    role: str

    @property
    def when(self) -> str:
        """The date, or the tick."""
        return self.date or f"t={self.t}"

    def plain(self) -> dict[str, Any]:
        """Return it as a plain object."""
        return {"at": self.at, "t": self.t, "date": self.date or None, "role": self.role}


def place_of(past: Past, at: int) -> Place:
    """Return where a decision is.

    Raises:
        UsageError: The record has no such decision.
    """
    moment = past.moment(at)
    date = past.model.time.date
    day = date(moment.t) if date else None
    return Place(at, moment.t, day.isoformat() if day else "", moment.role)


def action_text(action: Mapping[str, Any]) -> str:
    """Return a tagged object in a few words.

    >>> action_text({"do": "order", "quantity": 12})
    'order quantity=12'
    """
    # Texts as JSON, because one of a stranger's record may move the cursor.
    values = (f" {key}={_value_label(value)}" for key, value in action.items() if key != "do")
    return shortened(f"{action['do']}{''.join(values)}", _ACTION)


def _value_label(value: Any) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number_text(value) if number else msgspec.json.encode(value).decode()


def plain_difference(paired: Interval | None) -> dict[str, Any]:
    """Return a paired difference as a plain object; None if nothing was compared."""
    names = {"difference": "mean", "low": "low", "high": "high"}
    return {key: getattr(paired, name) if paired else None for key, name in names.items()}


def labels(policies: Mapping[str, Any]) -> str:
    """Return the policies of some roles as text; one that plays all of them is named once."""
    named = {role: label(one) for role, one in policies.items()}
    if len({*named.values()}) == 1:
        return next(iter(named.values()))
    return ", ".join(f"{role}={name}" for role, name in named.items())


def check_futures_count(futures: int | None) -> None:
    """Check how many futures are wanted; None means the true one alone.

    Raises:
        UsageError: The number is not a whole number from 1 to `MOST_FUTURES`.
    """
    if futures is None:
        return
    if type(futures) is not int or not 1 <= futures <= MOST_FUTURES:
        raise UsageError(
            f"{short_repr(futures)} futures were given; 1 to {MOST_FUTURES:,} are possible"
        )


def hindsight_note() -> str:
    """Return the sentence about a comparison in the true future."""
    return (
        "hindsight: played in the future that came, which no role could observe, so the difference "
        "is luck as much as judgement and has no interval; redrawn futures (--futures) judge the "
        "decision"
    )


def fresh_note(policies: Mapping[str, Any], fresh: Collection[str]) -> Sequence[str]:
    """Return the sentence about policies that observe nothing before they decide, if any do."""
    if not fresh:
        return ()
    names = labels({role: one for role, one in policies.items() if role in fresh})
    return (
        (
            f"{names} cannot follow decisions that others made: it begins after the changed one, "
            "without a memory of what came before"
        ),
    )


def redrawn_notes(past: Past) -> Sequence[str]:
    """Return the sentences about a comparison in redrawn futures."""
    if kept := kept_facts(past.model):
        redrawn = (
            "redrawn futures: later draws were made anew, the same for every action; hidden facts "
            f"stayed, so the differences depend on these as well: {'; '.join(kept)}"
        )
        return (redrawn,)
    redrawn = (
        "redrawn futures: what no role could have observed when the decision was open was drawn "
        "anew, the same for every action, so the differences judge the decision and not the luck "
        "that followed it"
    )
    return (redrawn,)
