"""A stock with a fixed cost of ordering, the problem of `relaxation.json`, and its figures."""

from typing import Any

from desim.statistics.information_relaxation import CostToGo, FiniteProblem, Relaxation
from desim.statistics.intervals import interval

Given = dict[str, Any]


def stock(given: Given) -> FiniteProblem[int]:
    """Return the problem: an order arrives at once, then the demand of the week is known."""

    def step(_: int, held: int, ordered: int, demand: int) -> tuple[float, int]:
        left = held + ordered - demand
        fixed = given["fixed"] if ordered else 0.0
        return fixed + max(given["holding"] * left, -given["backlog"] * left), left

    actions = range(given["most"] + 1)
    noise = dict(zip(given["demand"], given["chance"], strict=True))
    return FiniteProblem(given["weeks"], given["start"], lambda *_: actions, noise, step)


def figures(given: Given) -> Given:
    """Return the figures of the vector."""
    problem, weeks = stock(given), given["weeks"]
    optimum, paths = problem.optimal(), given["sample"]

    def rule(_: int, held: int) -> int:
        return given["level"] - held if held <= given["reorder"] else 0

    def quadratic(week: int, held: int) -> float:
        return float(given["quad"] * (weeks - week) * (held - given["centre"]) ** 2)

    guesses: dict[str, CostToGo[int]] = {
        "zero": lambda *_: 0.0,
        "rule": problem.costs_of(rule),
        "quadratic": quadratic,
        "exact": optimum,
    }
    charged = {name: Relaxation(problem, guess) for name, guess in guesses.items()}
    informed = Relaxation(problem)
    return {
        "optimum": optimum(0, given["start"]),
        "rule": guesses["rule"](0, given["start"]),
        "rule_penalised_quadratic": informed.mean(lambda p: charged["quadratic"].cost(rule, p)),
        "perfect_information": informed.mean(informed.bound),
        **{f"penalised_{name}": one.mean(one.bound) for name, one in charged.items()},
        "sample": {
            "perfect_information": summary(map(informed.bound, paths)),
            "penalised_rule": summary(map(charged["rule"].bound, paths)),
            "penalised_exact_values": list(map(charged["exact"].bound, paths)),
            "gap_of_rule_quadratic": summary(charged["quadratic"].gap(rule, p) for p in paths),
        },
        "first_orders": [optimum.action(0, held) for held in range(-2, 4)],
    }


def summary(values: Any) -> Given:
    """Return values with Student's interval of their mean."""
    values = list(values)
    found = interval(values)
    return {"values": values, "mean": found.mean, "low": found.low, "high": found.high}
