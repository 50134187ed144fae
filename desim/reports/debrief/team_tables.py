"""The tables of a debrief: amplification, costs by seat and cause, and the teams by rank."""

import math
from collections.abc import Iterator, Mapping, Sequence

from desim.core.roles import knowledge_legend
from desim.reports.debrief.teams import Team, differences, ranks
from desim.reports.elements.charts import bars
from desim.reports.elements.page import Figure, Given, clean, cleaned
from desim.reports.record.record_read import policies_text
from desim.show.column import Column, money_text
from desim.show.labels import NOTHING, estimate_text, words_text
from desim.show.table import Table
from desim.statistics.variance import equal_variance_limits

#: Seats and causes that a table shows.
_SEATS, _CAUSES = 6, 5

#: Characters of policies, of a seat or a cause, and of the reason why a record has no result.
_POLICIES, _PART, _REASON = 24, 16, 40

#: Records without a result that are named.
_NAMED = 4

#: From here on sums have no decimals.
_WHOLE = 1e4

#: A larger ratio is not written out.
_MOST_RATIO = 1_000_000_000

#: Weeks from which a variance is compared, at least.
_FEWEST = 3


def amplification(team: Team) -> Figure | None:
    """Return the amplification of each stage as bars; None if the world has none.

    It is the variance of a stage's orders over that of the customers' demand: Chen, Drezner, Ryan
    and Simchi-Levi (2000), Quantifying the bullwhip effect in a simple supply chain, Management
    Science 46(3).
    """
    found = team.debriefing
    if found is None or not found.amplification:
        return None
    ratios = [*found.amplification.values()][:_SEATS]
    stages = [clean(stage, _PART) for stage in found.amplification][:_SEATS]
    texts = [*map(_ratio_text, ratios)]
    return Figure(
        "Amplification",
        bars(stages, ratios, texts),
        f"A bar for each of {len(stages)} stages.",
        cleaned(["stage", "amplification"], zip(stages, texts, strict=True)),
    )


def _ratio_text(ratio: float | None) -> str:
    if ratio is None:
        return "not defined"
    if ratio > _MOST_RATIO:
        return f"over {_MOST_RATIO:,}"
    return f"\N{MULTIPLICATION SIGN}{ratio:,.1f}"


def amplification_note(team: Team) -> str:
    """Return what amplification is, and how the number of periods limits it.

    The limits are those between which the ratio of two samples of so many periods lies by chance.
    """
    overlays = team.debriefing.overlays if team.debriefing else ()
    n = max((len(line) for one in overlays if one.base for line in one.lines.values()), default=0)
    text = "Amplification: the variance of a stage's orders over that of the customers' demand."
    if n < _FEWEST:
        return f"{text} The game is too short for it."
    low, high = equal_variance_limits(n)
    return (
        f"{text} Over {n:,} independent periods of equal variance it is between {low:.2g} and "
        f"{high:.2g} in 95 of 100 games; orders depend on the orders before, so the real range is "
        "wider."
    )


def costs(team: Team) -> Table | None:
    """Return the costs by seat and cause; None if the world states none."""
    found = team.debriefing
    if found is None or not any(found.costs.values()):
        return None
    if len(found.costs) == 1:
        return _by_cause(next(iter(found.costs.values())), found.currency)
    causes = list(dict.fromkeys(cause for mine in found.costs.values() for cause in mine))[:_CAUSES]
    lines = [
        [
            clean(seat, _PART),
            *(_sum_text(mine.get(cause, 0.0), found.currency) for cause in causes),
            _sum_text(math.fsum(mine.values()), found.currency),
        ]
        for seat, mine in found.costs.items()
    ]
    totals = [math.fsum(mine.get(cause, 0.0) for mine in found.costs.values()) for cause in causes]
    whole = math.fsum(team.costs.values())
    total = [
        "team",
        *(_sum_text(one, found.currency) for one in totals),
        _sum_text(whole, found.currency),
    ]
    unit = found.currency.unit
    return cleaned(
        [f"cost ({unit})", *(clean(words_text(cause), _PART) for cause in causes), "sum"],
        [*lines[:_SEATS], total],
        notes=[f"{_SEATS} of {len(lines):,} seats are shown"] if len(lines) > _SEATS else [],
    )


def _by_cause(mine: Mapping[str, float], currency: Column) -> Table:
    """Return the costs of the only seat, the largest first, with their shares."""
    whole = math.fsum(mine.values())
    each = sorted(mine.items(), key=lambda cost: -cost[1])
    lines = [
        [
            words_text(cause),
            _sum_text(cost, currency),
            f"{100 * cost / whole:.0f} %" if whole else NOTHING,
        ]
        for cause, cost in each
    ]
    return cleaned(
        [f"cost ({currency.unit})", "sum", "share"],
        [*lines[:_SEATS], ["all", _sum_text(whole, currency), NOTHING]],
    )


def _sum_text(money: float, currency: Column) -> str:
    """Return a sum without its unit, which the head of the table has."""
    if currency.unit == "dollars":
        return money_text(money)
    return estimate_text(round(money, 2 if abs(money) < _WHOLE else 0))


def ranking(teams: Sequence[Team]) -> Iterator[Given]:
    """Yield the teams by rank, or in the order given with the reason for missing ranks."""
    if why := differences(teams):
        yield (
            f"The teams are not ranked, because their games differ in {' and '.join(why)}: a "
            "difference of their scores need not be one of their decisions."
        )
    found = ranks(teams)
    last = len(teams) + 1
    ordered = sorted(teams, key=lambda team: found.get(team.name, last))
    has_costs = any(len(team.costs) > 0 for team in teams)
    has_ratios = any(team.debriefing and team.debriefing.amplification for team in teams)
    heads = ["rank", "team", "policies", "score"]
    heads += ["cost", "most costly"] if has_costs else []
    heads += ["amplification"] if has_ratios else []
    yield cleaned(
        heads,
        (
            [
                found.get(team.name),
                team.title,
                _policies(team),
                _score_text(team),
                *(_cost_cells(team) if has_costs else []),
                *([_last_ratio(team)] if has_ratios else []),
            ]
            for team in ordered
        ),
        left=(1, 2),
        notes=_notes(teams, found),
    )


def _policies(team: Team) -> str:
    """Return the policies by role, or the one that plays all roles."""
    given = team.record.episode.header.policies
    one = len({*given.values()}) == 1
    return clean(next(iter(given.values())) if one else policies_text(given), _POLICIES)


def _score_text(team: Team) -> str:
    score = team.record.score
    return estimate_text(round(score, 2)) if score is not None and team.is_whole else NOTHING


def _cost_cells(team: Team) -> list[str]:
    """Return the sum of all costs, and the seat or the cause that cost most."""
    found = team.debriefing
    if found is None or not team.costs or not team.is_whole:
        return [NOTHING, NOTHING]
    parts = team.costs if len(team.costs) > 1 else next(iter(found.costs.values()))
    most = max(parts, key=lambda part: parts[part], default=NOTHING)
    return [
        _sum_text(math.fsum(team.costs.values()), found.currency),
        clean(words_text(most), _PART),
    ]


def _last_ratio(team: Team) -> str:
    """Return the amplification of the stage that is farthest from the customers."""
    ratios = [*(team.debriefing.amplification if team.debriefing else {}).values()]
    return _ratio_text(ratios[-1]) if ratios and team.is_whole else NOTHING


def _notes(teams: Sequence[Team], found: Mapping[str, int]) -> Iterator[str]:
    if found and len({*found.values()}) < len(found):
        yield "equal scores share a rank"
    unranked = [team for team in teams if not team.is_whole]
    if unranked:
        reasons = [f"{team.name} ({clean(team.record.ended, _REASON)})" for team in unranked]
        more = f" and {len(unranked) - _NAMED:,} more" if len(unranked) > _NAMED else ""
        yield f"without a result, and so without a rank: {', '.join(reasons[:_NAMED])}{more}"
    if any(not team.is_rival for team in teams):
        yield "policies that know more than their seats observe are no rivals and have no rank"
        levels = [*(team.knows for team in teams)]
        yield from knowledge_legend(levels)
    if any(team.debriefing and team.debriefing.amplification for team in teams):
        yield "amplification: of the stage that is farthest from the customers"
