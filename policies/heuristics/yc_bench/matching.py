"""Who does what: of all offers and all teams of free people, the pair that is worth most."""

from collections.abc import Callable, Iterable, Sequence

from policies.heuristics.yc_bench.estimate import Offer, Person
from policies.heuristics.yc_bench.ruleset import Ruleset
from policies.heuristics.yc_bench.worth import Worth, fastest

__all__ = ["Pair", "match"]

Pair = tuple[Offer, list[Person]]

#: Offers of each domain that are tried with every team.
_TRIED = 8


def match(
    worth: Worth, ranked: Iterable[Offer], favour: Callable[[Offer], float], rules: Ruleset
) -> Pair | None:
    """Return the best task and team, or none that would be in time.

    Args:
        worth: Judges.
        ranked: What is on offer, the best first.
        favour: What the worth of an offer is multiplied with.
        rules: Say how large a team is of use.
    """
    free = [who for who in worth.estimate.people.values() if who.free]
    best, found = 0.0, None
    for domain, offers in _shortlists(ranked).items():
        teams = _teams(free, domain, rules)
        for offer in offers:
            for team in teams:
                value = worth.now(offer, team) * favour(offer)
                if value > best:
                    best, found = value, (offer, team)
    return found


def _shortlists(ranked: Iterable[Offer]) -> dict[str, list[Offer]]:
    short: dict[str, list[Offer]] = {}
    for offer in ranked:
        tried = short.setdefault(offer.domain, [])
        if len(tried) < _TRIED:
            tried.append(offer)
    return short


def _teams(free: Sequence[Person], domain: str, rules: Ruleset) -> list[list[Person]]:
    """Return everybody alone, the fastest, the slowest, and those who still learn."""
    ranked = fastest(free, domain)
    size = rules.efficient_team or len(ranked)
    found = [[who] for who in ranked]
    for many in range(2, min(size, len(ranked)) + 1):
        found += [ranked[:many], ranked[-many:]]
    learning = [who for who in ranked if who.rates[domain] < rules.skill_rate_max]
    if 1 < len(learning) < len(ranked):
        found += [learning[:size], learning[-size:]]
    return found
