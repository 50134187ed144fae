"""Is a false entry accepted by `desim verify`, or an honest one refused?

An honest suite is played with rules and with a scripted model through three methods. Then copies of
its entries are falsified by the kinds of reference `verification.md`, section 7, with the code of
desim itself, and verified. An entry is not accepted if it is refused, or not decidable.

    python experiments/attack_entries.py --count 1000
"""

import contextlib
import io
import random
import tempfile
from pathlib import Path

import click

from desim.errors import DesimError
from desim.show.progress import shown_progress
from desim.verification.signed.keys import new_key
from desim.verification.verify import verify
from experiments.attacks import Tally, print_tallies
from experiments.forging.honest import copied, honest_entries
from experiments.forging.kinds import Forger, kinds

#: The ends of a verification.
ENDS = ("refused", "not decidable", "accepted")


def attacked(folder: Path, count: int, seed: int) -> dict[str, Tally]:
    """Return the tally of each kind of forgery, and of the honest entries.

    Args:
        folder: An empty folder.
        count: How many false entries are made.
        seed: Of their places and values.
    """
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        entries = honest_entries(folder)
    tallies = {"honest": Tally("honest")}
    for name, entry in entries.items():
        verdict = verify(entry)
        tallies["honest"].ended[verdict.decision] += 1
        tallies["honest"].expect(f"{name}: {verdict.text}", holds=verdict.decision == "accepted")
    chance, key = random.Random(seed), new_key("forger", folder)  # noqa: S311 (places)
    pairs = [(name, kind) for name in entries for kind in kinds(name)]
    with shown_progress(None) as progress:
        for number in range(count):
            progress(number, count)
            name, kind = pairs[number % len(pairs)]
            tally = tallies.setdefault(kind.__name__, Tally(kind.__name__))
            forger = Forger(copied(entries[name], folder / "forged"), key, chance, name)
            kind(forger)
            try:
                verdict = verify(forger.path)
            except DesimError as fault:
                tally.ended["not decidable"] += 1
                tally.expect(f"{name}: {fault}", holds=bool(str(fault)))
                continue
            tally.ended[verdict.decision] += 1
            tally.expect(f"{name}, number {number}", holds=verdict.decision != "accepted")
    return tallies


@click.command()
@click.option("--count", default=1_000, show_default=True, help="False entries.")
@click.option("--seed", default=1, show_default=True, help="Of their places and values.")
def main(count: int, seed: int) -> None:
    """Print how the entries of each kind ended."""
    with tempfile.TemporaryDirectory() as folder:
        tallies = attacked(Path(folder), count, seed)
    print_tallies("kind", ENDS, tallies.values())


if __name__ == "__main__":
    main()
