"""Decisions of a record and the futures in which they are judged: their names, seeds and notes."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec
from attrs import frozen

from desim.catalog.policy_spec import label
from desim.core.model import kept_facts
from desim.episodes.counterfactual import Past
from desim.errors import UsageError
from desim.short_repr import short_repr, shortened
from desim.show.labels import is_number, number_text

#: Most futures of a decision.
MOST_FUTURES = 100_000

#: Characters of an action in a table.
_ACTION = 57


@frozen
class Place:
    """A decision by its number in the episode, from 1, its tick, ISO date (or None) and role."""

    at: int
    t: int
    date: str | None
    role: str

    @classmethod
    def of(cls, past: Past, at: int) -> "Place":
        """Return where a decision is."""
        moment, date = past.moment(at), past.model.time.date
        return cls(at, moment.t, date(moment.t).isoformat() if date else None, moment.role)

    @property
    def when(self) -> str:
        """The date, or the tick."""
        return self.date or f"t={self.t}"


def action_text(action: Mapping[str, Any]) -> str:
    """Return a tagged object in a few words.

    >>> action_text({"do": "order", "quantity": 12})
    'order quantity=12'
    """
    # Texts as JSON, because one of a stranger's record may move the cursor.
    texts = (
        f" {key}={number_text(one) if is_number(one) else msgspec.json.encode(one).decode()}"
        for key, one in action.items()
        if key != "do"
    )
    return shortened(f"{action['do']}{''.join(texts)}", _ACTION)


def labels(policies: Mapping[str, Any]) -> str:
    """Return the policies of some roles as text; one that plays all of them is named once."""
    named = {role: label(one) for role, one in policies.items()}
    if len({*named.values()}) == 1:
        return next(iter(named.values()))
    return ", ".join(f"{role}={name}" for role, name in named.items())


def seeds_of_futures(futures: int | None) -> tuple[int | None, ...]:
    """Return the seeds of a number of futures; None means the true one alone."""
    if futures is None:
        return (None,)
    if type(futures) is not int or not 1 <= futures <= MOST_FUTURES:
        raise UsageError(
            f"{short_repr(futures)} futures were given; 1 to {MOST_FUTURES:,} are possible"
        )
    return tuple(range(futures))


def notes_on(
    past: Past, futures: int | None, policies: Mapping[str, Any], fresh: Collection[str]
) -> Iterator[str]:
    """Yield the sentences about the futures, and about the policies that play on in them.

    Policies of *fresh* roles observe nothing before they decide.
    """
    if futures is None:
        yield (
            "hindsight: played in the future that came, which no role could observe, so the "
            "difference is luck as much as judgement and has no interval; redrawn futures "
            "(--futures) judge the decision"
        )
    elif kept := kept_facts(past.model):
        yield (
            "redrawn futures: later draws were made anew, the same for every action; hidden facts "
            f"stayed, so the differences depend on these as well: {'; '.join(kept)}"
        )
    else:
        yield (
            "redrawn futures: what no role could have observed when the decision was open was "
            "drawn anew, the same for every action, so the differences judge the decision and not "
            "the luck that followed it"
        )
    if futures == 1:
        yield "one future gives no interval; give more (--futures)"
    if fresh:
        names = labels({role: one for role, one in policies.items() if role in fresh})
        yield (
            f"{names} cannot follow decisions that others made: it begins after the changed one, "
            "without a memory of what came before"
        )
