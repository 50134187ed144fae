"""What is R, the share of revenue that the consulting firm accepts to risk, worth?

R opens follow-on projects and extensions with a probability above 1 - R. `AtRisk` takes every
project for the longest window, as the published Simple rule, with a given R and share of the staff
that Simple keeps. The table shows the best share for each R; it is chosen on the seeds shown, so
that the earnings are somewhat too high for all of them. Without chance, one seed is played.
"""

from typing import Any

import click
from attrs import evolve, field, frozen
from attrs.validators import ge, le

from desim import Policy, Rows, sweep
from desim.statistics.pairing import paired
from models.edt import EnterpriseDigitalTwin
from models.edt.actions import Decide
from models.edt.desk import Briefing
from policies.heuristics.edt import Simple

RISKS = [round(0.1 * tenth, 1) for tenth in range(11)]
STAFF = [0.8, 1.0, 1.2, 1.5, 2.0, 3.0]
MILLION = 1e6


@frozen
class AtRisk(Policy):
    """Simple's decision with another R and more or fewer consultants.

    Attributes:
        risk: R, 0 to 1.
        staff: Consultants as a multiple of those that Simple keeps.
    """

    risk: float = field(default=0.0, validator=[ge(0), le(1)])
    staff: float = field(default=1.0, validator=[ge(0.01), le(100)])

    def decide(self, seen: Briefing) -> Decide:
        plan = Simple().decide(seen)
        assert isinstance(plan, Decide)
        kept = max(1, min(seen.consultants, round(self.staff * plan.consultants)))
        return evolve(plan, consultants=kept, revenue_risk=self.risk)


@click.command()
@click.option("--preset", default="paper", type=click.Choice(["published", "paper"]))
@click.option("--seeds", default=50, show_default=True, help="Seeds of every point, from 0.")
@click.option("--jobs", default=1, show_default=True, help="Worker processes.")
def main(preset: str, seeds: int, jobs: int) -> None:
    """Print the earnings with the best staff for each R, and the gain over R = 0."""
    model = EnterpriseDigitalTwin.preset(preset)
    seeds = 1 if model.deterministic else seeds
    design = {"policy.risk": RISKS, "policy.staff": STAFF}
    rows = sweep(model, AtRisk, range(seeds), set=design, jobs=jobs)
    print(
        f"edt/{preset}, seeds 0 to {seeds - 1}: earnings, millions; gain over R = 0 [95 % interval]"
    )
    none = best(rows, RISKS[0])[1]
    for risk in RISKS:
        staff, scores = best(rows, risk)
        mean = sum(scores.values()) / len(scores)
        gain = paired(scores, none)
        ends = "" if gain.low is None else f" [{gain.low:z.3f}, {gain.high:z.3f}]"
        print(f"R {risk:.1f}  staff x {staff:3}  {mean:8.3f}  {gain.mean:+8.3f}{ends}")


def best(rows: Rows, risk: float) -> tuple[float, dict[Any, float]]:
    """Return the staff with the highest mean for an R, and its earnings by seed, millions."""
    found = {
        staff: rows.where(**{"policy.risk": risk, "policy.staff": staff}).by_seed("score")
        for staff in STAFF
    }
    staff = max(found, key=lambda one: sum(found[one].values()))
    return staff, {seed: score / MILLION for seed, score in found[staff].items()}


if __name__ == "__main__":
    main()
