"""Do our monitors measure what queueing theory says?

An office whose customers interrupt each other (`office.py`), with one desk and with three: with
services of one exponential law, interruptions change who waits but not how many, so that the number
inside is that of M/M/c. By Burke's theorem customers leave as they come, at random, so that the
clerk behind the desks is an M/M/1 queue. Formulas: L. Kleinrock, Queueing Systems, volume 1 (1975),
sections 3.2 (M/M/1) and 3.5 (M/M/m, Erlang's C); P. J. Burke, Operations Research 4 (1956).
"""

from math import factorial

import click
from office import Office

from desim import play
from desim.show.console import console
from desim.show.table import Table
from desim.statistics.intervals import Interval, interval

#: The level of each interval; all ten hold together with at least 0.99.
LEVEL = 0.999


@click.command()
@click.option("--seeds", default=20, show_default=True, type=click.IntRange(2))
@click.option("--services", default=5_000, show_default=True, type=click.IntRange(1_000))
def main(seeds: int, services: int) -> None:
    """Print what was measured beside the formulas."""
    heads = ("desks", "metric", "formula", "measured", f"{LEVEL:.1%} interval", "holds")
    lines = []
    for desks in (1, 3):
        office = Office(desks=desks, services=services)
        for name, found in measured(office, seeds).items():
            truth = expected(office)[name]
            ends = f"[{found.low:.4f}, {found.high:.4f}]"
            holds = "yes" if found.low <= truth <= found.high else "NO"
            lines.append((desks, name, f"{truth:.4f}", f"{found.mean:.4f}", ends, holds))
    console().print(Table(heads, lines, (1, 5)))


def measured(office: Office, seeds: int) -> dict[str, Interval]:
    """Return the mean of each metric with a formula over independent episodes."""
    played = [play(office, seed=seed, keep_state=False).metrics for seed in range(seeds)]
    return {name: interval([one[name] for one in played], LEVEL) for name in expected(office)}


def expected(office: Office) -> dict[str, float]:
    """Return the long-run means of an office by metric."""
    load, servers = office.load, office.desks
    waiting = erlang_c(servers, servers * load) * load / (1 - load)
    return {
        "desk.utilisation": load,
        "desk.queue_mean": waiting,
        "inside.level_mean": waiting + servers * load,
        "decided.level_mean": office.filing**2 / (1 - office.filing),
        "decided.get_queue_mean": 1 - office.filing,  # the clerk waits for work
    }


def erlang_c(servers: int, offered: float) -> float:
    """Return the share of customers who wait, by the load offered to all servers together."""
    all_busy = offered**servers / factorial(servers) * servers / (servers - offered)
    return all_busy / (sum(offered**n / factorial(n) for n in range(servers)) + all_busy)


if __name__ == "__main__":
    main()
