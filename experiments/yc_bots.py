"""The recorded bots of the reference (`bots.md`), seed by seed."""

from collections.abc import Iterator

from beside import pair, table, verdict
from published import markdown, number
from rich.table import Table

from desim import play

#: Policies by the heading of their recorded runs, and presets by its second word.
BOTS = {
    **{n: f"published_{n}" for n in ("greedy", "random", "throughput", "prestige")},
    "focus1": "focus,tasks=1",
    "focus2": "focus,tasks=2",
}
PRESETS = {"direct": "direct", "cli": "default"}


def bots() -> Table:
    """Return the recorded bots, seed by seed."""
    rows = table("bots.md", "seed", "dollars at the end", "ok", "late", "turns", "same")
    for name, preset, policy in recorded():
        for seed, funds, ok, late, _, prestige, turns, *_ in markdown("ycbench/bots.md", name)[1:]:
            m = play(f"yc_bench/{preset}", policy, int(seed)).metrics
            known = tuple(map(number, (funds, ok, late, turns, prestige)))
            counts = ("tasks_succeeded", "tasks_failed", "turns", "max_prestige")
            ours = (m["final_funds_cents"] / 100, *(m[count] for count in counts))
            texts = map(pair, known[:4], ours[:4])
            rows.add_row(f"{policy}, {preset}", seed, *texts, verdict(known, ours))
    return rows


def recorded() -> Iterator[tuple[str, str, str]]:
    """Yield heading, preset and policy of the recorded runs."""
    for kind, preset in PRESETS.items():
        for name, policy in BOTS.items():
            if kind == "cli" or not name.startswith("focus"):
                yield f"{name} ({kind})", preset, policy
