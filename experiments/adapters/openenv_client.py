"""How does a program play a world that another process serves? The client of the package openenv.

Start a server first: desim serve beer_game --preset poisson --openenv --port 8000
"""

import sys

from openenv.core.generic_client import GenericEnvClient

from desim.adapters.openenv.server import serving
from desim.adapters.seat.setup import Setup


def play(url: str, tasks: range) -> None:
    """Order each week what was ordered from us; print the score of each task of the test split."""
    with GenericEnvClient(base_url=url).sync() as client:
        for index in tasks:
            seen = client.reset(split="test", index=index)
            refused = client.step({"do": "order", "quantity": "a few"}).observation["refused"]
            while not seen.done:
                stage = seen.observation["observation"]
                seen = client.step({"do": "order", "quantity": stage["incoming_order"]})
            ended = seen.observation["ended"]
            print(
                f"task {index}: score {ended['score']:,.1f}, ledger {ended['ledger_digest'][:12]}"
            )
        print(f"a wrong action is refused: {refused}")


def main() -> None:
    """Play at the address that is given; without one serve the world here."""
    if len(sys.argv) > 1:
        return play(sys.argv[1], range(3))
    with serving(Setup.of("beer_game/poisson")) as url:
        return play(url, range(3))


if __name__ == "__main__":
    main()
