"""What are the score and the ledger digest of every baseline of every world?

Prints one line an episode, separated by tabs: world and preset, policy, seed, score, ledger
digest. `tests/golden/digests.tsv` is what it printed for seeds 0 to 4; a change of the code that is
meant to keep behaviour keeps every line. To renew the file on purpose, say why in the commit:

    python experiments/digests.py > tests/golden/digests.tsv
"""

import sys
from collections.abc import Iterable, Iterator, Sequence

from desim import catalog, play
from desim.catalog.policy_spec import read_policies
from desim.studies.boards.leaderboard import everything

SEEDS = range(5)


def line(world: str, spec: str, seed: int) -> str:
    """Play one episode and return its line."""
    episode = play(world, read_policies([spec]), seed)
    return f"{world}\t{spec}\t{seed}\t{episode.score!r}\t{episode.ledger_digest}"


def lines(worlds: Sequence[str], seeds: Iterable[int]) -> Iterator[str]:
    """Play every baseline of some worlds, each named `model/preset`."""
    for world in everything(worlds):
        for spec in catalog.baselines(catalog.model(world)):
            for seed in seeds:
                yield line(world, spec, seed)


def main() -> None:
    """Print the lines of the worlds named, or of all."""
    for each in lines(sys.argv[1:], SEEDS):
        print(each, flush=True)


if __name__ == "__main__":
    main()
