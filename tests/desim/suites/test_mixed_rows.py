"""Episodes of two prompts, or of two versions of code, have no common mean."""

from pathlib import Path
from typing import Any

import pytest

from desim.errors import UsageError
from desim.jobs.keep.outcome import JobOutcome
from desim.suites.results import results
from desim.suites.suite_plan import Plan, read_plan

SUITE = """
seeds = [0, 1]
[worlds.game]
model = "beer_game"
[worlds.long]
model = "beer_game"
[entries.first]
policy = "typical"
[entries.second]
policy = "last_demand"
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Two entries in two worlds."""
    (tmp_path / "suite.toml").write_text(SUITE)
    return read_plan(tmp_path / "suite.toml")


def outcomes(plan: Plan, **versions: Any) -> dict[str, JobOutcome]:
    """Return outcomes of all jobs; those of the first entry have versions by job, in order."""
    first = [job.name for job in plan.jobs if (job.world, job.entry) == ("game", "first")]
    by_job = {
        name: {key: values[place] for key, values in versions.items()}
        for place, name in enumerate(first)
    }
    return {
        job.name: JobOutcome(job=job.name, score=1.0, ended="horizon", **by_job.get(job.name, {}))
        for job in plan.jobs
    }


@pytest.mark.parametrize(
    ("field", "what"), [("prompt", "2 prompts"), ("code", "2 versions of the policies' code")]
)
def test_two_versions_are_not_averaged(plan: Plan, field: str, what: str) -> None:
    """The sentence names entry, world, both versions with their seeds, and the way out."""
    mixed = outcomes(plan, **{field: ("aa", "bb")})
    with pytest.raises(UsageError) as refused:
        results(plan, mixed)
    assert str(refused.value) == (
        f"the episodes of first in game have {what}, aa (seeds 0) and bb (seeds 1), so that they "
        "have no common mean; play all of them again, in another folder (--out) or in this one "
        "(--restart)"
    )


def test_what_is_not_stated_differs_from_nothing(plan: Plan) -> None:
    """A record of format 3 states neither; another world or entry may have another prompt."""
    for prompt in (("aa", "aa"), ("aa", ""), ("", "")):
        assert [line.n for line in results(plan, outcomes(plan, prompt=prompt))] == [2, 2, 2, 2]
