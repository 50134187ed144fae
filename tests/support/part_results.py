"""The results of the parts of a group, as if each had been played alone."""

from attrs import evolve

from desim.composition import Group
from desim.composition.parts import Part
from desim.core.result import Result, summarise


def part_results(group: Group) -> dict[str, Result]:
    """Return the results of the parts that have begun, by name.

    For a repeated part, scores and decisions are sums; all else is that of its last repetition.
    """
    return {
        name: _joined([part_result(one) for one in group.every_part() if one.name == name])
        for name in group.parts
    }


def part_result(part: Part) -> Result:
    """Return the result of a part so far; it need not have ended."""
    return summarise(part.model, part.state, part.world, part.decisions)


def _joined(results: list[Result]) -> Result:
    return evolve(
        results[-1],
        score=sum(one.score for one in results),
        decisions=sum(one.decisions for one in results),
    )
