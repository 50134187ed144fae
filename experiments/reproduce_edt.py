"""Does our firm earn what the published Enterprise Digital Twin says, and what could it earn?

Left of each arrow the figure of the paper or of the reference SPEC (section 11), right of it ours.
"""

from attrs import frozen
from beside import pair, table, verdict
from rich.console import Console
from rich.table import Table

from desim import play
from models.edt import Briefing, Decide, EnterpriseDigitalTwin, Window
from models.edt.protocol import BEST_MEAN, play_six
from policies.heuristics.edt.optimal import solve

#: Earnings and utilisation of the Simple row of the paper's Table 3, as printed.
SIMPLE = (7.12e6, 0.934)

#: The paper's language model methods on this game, its Table 3: mean, deviation, utilisation.
PAPER = {
    "AMEM": (6.76e6, 0.322e6, 0.907),
    "Reflexion": (6.20e6, 0.113e6, 0.933),
    "Dynamic Cheatsheet": (6.04e6, 0.0, 0.922),
    "GEPA": (6.04e6, 0.323e6, 0.925),
    "CoT": (5.82e6, 0.457e6, 0.913),
    "ACE": (5.63e6, 0.381e6, 0.902),
    "Discussion": (5.36e6, 0.0, 0.888),
    "Debate": (5.12e6, 1.43e6, 0.843),
    "Self-refine": (4.32e6, 4.48e6, 0.729),
}

#: Consultants, accumulated earnings, mean utilisation; R = 0, all projects, longest windows.
STAFF = [
    (7, 5_180_500, 0.97024),
    (8, 6_124_500, 0.94922),
    (9, 7_116_500, 0.93403),
    (10, 7_190_500, 0.87917),
    (11, 6_452_500, 0.80019),
    (12, 5_692_500, 0.73351),
]

#: R, accumulated earnings with 9 and with 12 consultants; all projects, longest windows.
RISK = [
    (0.0, 7_116_500, 5_692_500),
    (0.1, 7_116_500, 5_692_500),
    (0.2, 7_314_500, 6_746_500),
    (0.3, 8_206_500, 9_746_500),
    (0.5, 8_285_500, 11_560_500),
    (0.7, 7_921_000, 11_585_000),
    (0.75, 7_921_000, 11_635_000),
    (0.8, 7_689_000, 10_843_000),
    (0.9, 7_005_000, 10_459_000),
    (1.0, 7_005_000, 10_459_000),
]

#: What the reference SPEC knows of better decisions: by hand, by a short search, a crude bound.
KNOWN = {"greedy": 14_369_000.0, "optimal": 14_756_000.0}
CRUDE_BOUND = 15_206_000.0

POLICIES = ("simple", "greedy", "random", "local_search", "optimal")
GAME = EnterpriseDigitalTwin()


@frozen
class Everything:
    """Take every project for the longest window."""

    consultants: int
    revenue_risk: float

    def decide(self, seen: Briefing) -> Decide:
        """Decide without looking at the projects."""
        windows = (Window(0, seen.horizon),) * len(seen.projects)
        return Decide(self.consultants, self.revenue_risk, windows)


def main() -> None:
    """Print four tables and the bound."""
    out = Console(highlight=False, width=120)
    out.print(simple())
    out.print(staff())
    out.print(risk())
    out.print(standing())
    solution = solve(GAME)
    out.print(
        f"found {solution.found:,.0f}; no decision earns more than {solution.bound:,.0f}; "
        f"gap {solution.gap:,.0f} ({solution.gap / solution.bound:.2%}); "
        f"crude bound of the SPEC {CRUDE_BOUND:,.0f}"
    )


def simple() -> Table:
    """Table 3's Simple row: six episodes, E_mean, E_std, utilisation."""
    rows = table("paper, Table 3", "E_mean", "E_std", "utilisation", "same")
    scores = play_six(GAME, "simple")
    assert scores.e_mean is not None
    assert scores.mean_step_utilization is not None
    ours = (scores.e_mean, scores.mean_step_utilization)
    printed = (round(ours[0], -4), round(ours[1], 3))
    rows.add_row(
        "simple",
        pair(SIMPLE[0], ours[0]),
        f"{scores.e_std:g}",
        f"{SIMPLE[1]} → {ours[1]:.5f}",
        verdict(SIMPLE, printed),
    )
    return rows


def staff() -> Table:
    """How many consultants, with every gate closed."""
    rows = table("C, with R = 0", "earnings", "utilisation", "same")
    for consultants, earned, used in STAFF:
        told = _metrics(consultants, 0.0)
        ours = (told["accumulated_earnings"], round(told["mean_step_utilization"], 5))
        rows.add_row(
            str(consultants),
            pair(earned, ours[0]),
            f"{used} → {ours[1]}",
            verdict((earned, used), ours),
        )
    return rows


def risk() -> Table:
    """How much risk, with few and with all consultants."""
    rows = table("R", "C = 9", "C = 12", "same")
    for level, *published in RISK:
        ours = [_metrics(c, level)["accumulated_earnings"] for c in (9, 12)]
        cells = [pair(p, o) for p, o in zip(published, ours, strict=True)]
        rows.add_row(f"{level:g}", *cells, verdict(published, ours))
    return rows


def standing() -> Table:
    """Every policy over six episodes, among the language model methods of the paper."""
    rows = table("six episodes", "E_mean", "E_std", "E_norm", "utilisation", "overall")
    lines = [
        (
            mean,
            [
                f"paper: {name}",
                f"{mean:,.0f}",
                f"{sd:,.0f}",
                f"{mean / BEST_MEAN:.3f}",
                f"{use}",
                "",
            ],
        )
        for name, (mean, sd, use) in PAPER.items()
    ]
    lines += [_ours(policy) for policy in POLICIES]
    for _, cells in sorted(lines, key=lambda line: -line[0]):
        rows.add_row(*cells)
    return rows


def _ours(policy: str) -> tuple[float, list[str]]:
    """Return what a policy earns and its line."""
    told = play_six(GAME, policy)
    known = KNOWN.get(policy)
    assert told.e_mean is not None
    return told.e_mean, [
        policy,
        pair(known, told.e_mean) if known else f"{told.e_mean:,.0f}",
        f"{told.e_std:,.0f}",
        f"{told.e_norm:.3f}",
        f"{told.mean_step_utilization:.5f}",
        f"{told.overall_avg_utilization:.5f}",
    ]


def _metrics(consultants: int, level: float) -> dict[str, float]:
    return dict(play(GAME, {"manager": Everything(consultants, level)}).metrics)


if __name__ == "__main__":
    main()
