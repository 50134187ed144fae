"""Do our companies end where the published ones do, and how do our rules do beside its models?

Left of each arrow the published figure (reference `bots.md`, SPEC section 17), right of it ours.
"""

import click
from beside import pair, table, verdict
from rich.console import Console
from rich.table import Table

from desim import play, sweep
from desim.stats import interval

#: Final funds in cents, tasks in time, late, highest prestige, turns; by preset, rule and seed.
TOLD: dict[str, dict[str, tuple[tuple[int, int, int, float, int], ...]]] = {
    "direct": {
        "greedy": (
            (-2_438_278, 1, 2, 1.215, 9),
            (-2_853_827, 5, 2, 1.098, 15),
            (-3_017_422, 3, 2, 1.242, 12),
        ),
        "random": (
            (-1_143_065, 2, 1, 1.176, 9),
            (-1_369_573, 2, 1, 1.249, 9),
            (-3_088_417, 0, 1, 1.0, 7),
        ),
        "throughput": (
            (-391_880, 6, 3, 1.468, 16),
            (-3_212_093, 5, 3, 1.139, 16),
            (-2_505_298, 1, 2, 1.0, 9),
        ),
        "prestige": (
            (-1_978_037, 5, 2, 1.297, 14),
            (-2_573_157, 1, 2, 1.249, 9),
            (-1_819_337, 2, 1, 1.25, 9),
        ),
    },
    "default": {
        "greedy": (
            (42_029_521, 42, 10, 3.799, 64),
            (27_129_705, 39, 11, 1.912, 62),
            (-1_630_305, 10, 9, 1.421, 27),
        ),
        "random": (
            (-1_238_431, 9, 7, 1.286, 23),
            (2_602_375, 27, 14, 1.469, 53),
            (1_541_194, 32, 13, 1.917, 57),
        ),
        "throughput": (
            (14_803_418, 41, 16, 1.986, 69),
            (46_294_651, 55, 13, 4.080, 80),
            (-2_714_447, 6, 9, 1.302, 22),
        ),
        "prestige": (
            (-1_013_311, 8, 8, 1.513, 23),
            (6_407_731, 30, 14, 2.755, 56),
            (12_163_758, 42, 12, 3.848, 66),
        ),
        "focus,tasks=1": (
            (143_779_143, 126, 0, 6.807, 138),
            (146_840_368, 134, 0, 7.192, 146),
            (154_588_789, 134, 0, 8.007, 146),
        ),
        "focus,tasks=2": (
            (178_188_521, 156, 0, 7.759, 101),
            (179_212_522, 164, 0, 7.738, 116),
            (187_107_082, 162, 0, 8.213, 110),
        ),
    },
}

#: Mean month-end funds of greedy over seeds 1 to 3, dollars, February to December 2025.
CURVE = (195_084, 160_215, 129_408, 96_259, 55_134, 19_994, 3_756, 0, 0, 0, 0)

#: Average funds at the end over three seeds, dollars, and bankruptcies: the project's public
#: results (the paper's abstract names the first two).
MODELS = {
    "Claude Opus 4.6": (1_270_000, 0),
    "GLM-5": (1_210_000, 0),
    "GPT-5.4": (1_000_000, 0),
    "Kimi-K2.5": (409_000, 1),
    "Gemini 3 Flash": (394_000, 0),
    "Gemini 3.1 Flash Lite": (203_000, 1),
    "GPT-5.4 Mini": (138_000, 1),
    "Claude Sonnet 4.6": (104_000, 2),
}

RULES = (
    "greedy",
    "random",
    "throughput",
    "prestige",
    "focus,tasks=1",
    "focus",
    "planner",
    "planner,rerolls=0",
    "oracle",
)


@click.command()
@click.option("--seeds", default=20, show_default=True, help="Episodes of each rule.")
@click.option("--jobs", default=2, show_default=True, help="Worker processes.")
def main(seeds: int, jobs: int) -> None:
    """Print the bots' tables, the greedy curve and the standing."""
    out = Console(highlight=False, width=120)
    for preset in TOLD:
        out.print(bots(preset))
    out.print(curve())
    out.print(standing(seeds, jobs))


def bots(preset: str) -> Table:
    """The scripted players of one preset, seed by seed."""
    rows = table(f"yc_bench/{preset}", "seed", "cents at the end", "ok", "late", "turns", "same")
    for rule, told in TOLD[preset].items():
        for seed, published in enumerate(told, 1):
            m = play(f"yc_bench/{preset}", rule, seed).metrics
            ours = (
                m["final_funds_cents"],
                m["tasks_succeeded"],
                m["tasks_failed"],
                m["max_prestige"],
                m["turns"],
            )
            done = [pair(published[i], ours[i]) for i in (1, 2, 4)]
            rows.add_row(
                rule, str(seed), pair(published[0], ours[0]), *done, verdict(published, ours)
            )
    return rows


def curve() -> Table:
    """The published greedy baseline, month by month."""
    rows = table("greedy, month end", "mean of seeds 1 to 3, dollars", "same")
    runs = [play("yc_bench/direct", "greedy", s).metrics["funds_by_month_cents"] for s in (1, 2, 3)]
    months = list(runs[0])[1:]
    for month, published in zip(months, CURVE, strict=True):
        # The published curve counts funds below zero as none.
        ours = round(sum(max(0, run[month]) for run in runs) / 300)
        rows.add_row(month, pair(published, ours), verdict([published], [ours]))
    return rows


def standing(seeds: int, jobs: int) -> Table:
    """Our rules over many seeds, among the published language models."""
    played = sweep("yc_bench", policies=list(RULES), seeds=range(1, seeds + 1), jobs=jobs)
    rows = table(f"yc_bench/default, {seeds} seeds", "funds, dollars", "95 %", "least", "bankrupt")
    lines = [
        (funds, [f"paper: {name}", f"{funds:,.0f}", "", "", f"{bankrupt} of 3"])
        for name, (funds, bankrupt) in MODELS.items()
    ]
    for rule in RULES:
        mine = played.where(policy=rule)
        funds = mine.values("score")
        mean = interval(funds)
        ruined = sum(f < 0 for f in funds)
        half = f"± {mean.half:,.0f}" if mean.half is not None else ""
        told = [f"{mean.mean:,.0f}", half, f"{min(funds):,.0f}", f"{ruined} of {seeds}"]
        lines.append((mean.mean, [rule, *told]))
    for _, cells in sorted(lines, key=lambda line: -line[0]):
        rows.add_row(*cells)
    return rows


if __name__ == "__main__":  # spawn imports this file again
    main()
