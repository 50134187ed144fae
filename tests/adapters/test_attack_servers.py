"""The attack of `experiments/attack_servers.py` in small; the script sends 500 requests."""

import random

import pytest

from experiments.attack_servers import SERVERS, Attack, installed, serving
from experiments.hostile_requests import KINDS


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
def test_a_server_withstands_hostile_requests(server: str) -> None:
    """Each is refused in time, and the server answers and holds as much as before."""
    if server not in installed():
        pytest.skip(f"the extra `{server}` is not installed")
    with serving(server) as (place, pid):
        attack = Attack(place, pid, random.Random(3)).run(4 * len(KINDS), silent=400)  # noqa: S311 (no secret)
        if server == "openenv":
            attack.messages(28)
    assert not attack.holes
    assert {kind for kind, _ in attack.outcomes} >= {*KINDS, "silent"}
