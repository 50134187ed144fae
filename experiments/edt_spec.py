"""The tables of the reference SPEC (section 11): a firm that takes every project."""

from attrs import frozen
from beside import pair, table, verdict
from published import markdown, number
from rich.table import Table

from desim import play
from models.edt import Briefing, Decide, EnterpriseDigitalTwin, Window


@frozen
class Everything:
    """Take every project for the longest window."""

    consultants: int
    revenue_risk: float

    def decide(self, seen: Briefing) -> Decide:
        """Return the decision."""
        windows = (Window(0, seen.horizon),) * len(seen.projects)
        return Decide(self.consultants, self.revenue_risk, windows)


def staff() -> Table:
    """Return the table of earnings by consultants, with every gate closed."""
    rows = table("SPEC: consultants, R = 0", "earnings", "utilisation", "same")
    for consultants, earned, *_, used in markdown("edt/SPEC.md", "11. Simple", 0)[1:]:
        metrics = earnings(int(consultants), 0.0)
        ours = (metrics["accumulated_earnings"], round(metrics["mean_step_utilization"], 5))
        known = (number(earned), number(used))
        rows.add_row(consultants, *map(pair, known, ours), verdict(known, ours))
    return rows


def risk() -> Table:
    """Return the table of earnings by risk level, by number of consultants."""
    levels, *lines = markdown("edt/SPEC.md", "11. Simple", 1)
    rows = table("SPEC: R", *(line[0] for line in lines), "same")
    for level, *known in zip(*[levels[1:], *(line[1:] for line in lines)], strict=True):
        for each in level.replace(",", " ").split():
            ours = [
                earnings(int(line[0].split()[-1]), float(each))["accumulated_earnings"]
                for line in lines
            ]
            published = list(map(number, known))
            rows.add_row(each, *map(pair, published, ours), verdict(published, ours))
    return rows


def earnings(consultants: int, level: float) -> dict[str, float]:
    """Return the metrics of an episode that takes every project."""
    return dict(play(EnterpriseDigitalTwin(), {"manager": Everything(consultants, level)}).metrics)
