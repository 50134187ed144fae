"""Assignment of people to tasks: of all offers and teams of free people, the most valuable pair."""

from collections.abc import Callable, Iterable, Sequence

from models.yc_bench.rules.public import PublicRules
from policies.heuristics.yc_bench.estimate import TaskOffer, TeamMember
from policies.heuristics.yc_bench.task_value import TaskValuation, fastest

__all__ = ["Assignment", "match"]

Assignment = tuple[TaskOffer, list[TeamMember]]

#: Offers of each domain that are tried with every team.
_TRIED = 8


def match(
    valuation: TaskValuation,
    ranked: Iterable[TaskOffer],
    favour: Callable[[TaskOffer], float],
    rules: PublicRules,
) -> Assignment | None:
    """Return the best task and team, or none that would be in time.

    Args:
        valuation: Values an offer for a team.
        ranked: The offers, the best first.
        favour: Factor on the value of an offer.
        rules: The rules of the world.
    """
    free = [who for who in valuation.estimate.people.values() if who.free]
    best, pair = 0.0, None
    for domain, offers in _shortlists(ranked).items():
        teams = [valuation.figures(domain, team) for team in _teams(free, domain, rules)]
        for offer in offers:
            liking = favour(offer)
            for team in teams:
                if not valuation.in_time(offer, team):
                    continue
                value = valuation.value(offer, team) * liking
                if value > best:
                    best, pair = value, (offer, list(team.team))
    return pair


def _shortlists(ranked: Iterable[TaskOffer]) -> dict[str, list[TaskOffer]]:
    short: dict[str, list[TaskOffer]] = {}
    for offer in ranked:
        tried = short.setdefault(offer.domain, [])
        if len(tried) < _TRIED:
            tried.append(offer)
    return short


def _teams(free: Sequence[TeamMember], domain: str, rules: PublicRules) -> list[list[TeamMember]]:
    """Return everybody alone, the fastest, the slowest, and those who still learn."""
    ranked = fastest(free, domain)
    size = rules.efficient_team or len(ranked)
    teams = [[who] for who in ranked]
    for many in range(2, min(size, len(ranked)) + 1):
        teams += [ranked[:many], ranked[-many:]]
    learning = [who for who in ranked if who.rates[domain] < rules.skill_rate_max]
    if 1 < len(learning) < len(ranked):
        teams += [learning[:size], learning[-size:]]
    return teams
