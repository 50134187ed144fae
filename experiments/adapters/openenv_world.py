"""A world under OpenEnv's checks: its server's part, its known scores, episodes played in it."""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

from attrs import frozen
from openenv_validate import validated

import desim
from desim.adapters.openenv.environment import Served
from desim.adapters.seat.setup import Setup
from desim.catalog.known_scores import KnownScore, KnownScores
from desim.catalog.policy_spec import read_policies
from desim.jobs.rows.known_means import known_scores
from desim.schema import TAG, tag, to_plain

#: The seeds of policies' mean scores.
SEEDS = range(5)


@frozen(eq=False)  # measurements of an instance are cached
class World:
    """A world under check.

    Attributes:
        setup: The setup that is served.
        served: The environments' common part.
        scores: The known scores.
        actions: The tagged actions of greedy with seed 0, in their order.
        graded: Results of the package's own graders, with their evidence.
    """

    setup: Setup
    served: Served
    scores: KnownScores
    actions: list[dict[str, Any]]
    graded: Mapping[str, tuple[str, str]]

    @classmethod
    def of(cls, name: str, preset: str) -> "World":
        """Prepare a world."""
        setup = Setup.of(name, preset)
        found = known_scores(setup.model, preset)
        assert found is not None
        return cls(setup, Served(setup), found, _answers(setup), validated(setup)[0])

    @property
    def known(self) -> KnownScore:
        """The known score of seed 0."""
        found = self.scores.of(0)
        assert found is not None
        return found

    @property
    def name(self) -> str:
        """Its name and its preset."""
        return f"{self.served.tasks.name}/{next(iter(self.served.tasks.setups))}"


def _answers(setup: Setup) -> list[dict[str, Any]]:
    episode = run_of(setup, "greedy", 0)
    mine = [each.action for each in episode.steps if each.role in setup.seats]
    return [{TAG: tag(type(action)), **to_plain(action)} for action in mine]


def run_of(setup: Setup, policy: str, seed: int) -> desim.Episode:
    """Return an episode of the default seats that a policy plays.

    Args:
        setup: The setup to play; its seats are the default roles.
        policy: A spec, `ROLE=SPEC + ROLE=SPEC`, or the name of a line-up.
        seed: The seed.

    Raises:
        UsageError: A policy does not exist.
    """
    return desim.play(setup.model, read_policies(policy.split(" + ")), seed, keep_state=False)


def on_scale(world: World, score: float, seed: int = 0) -> float:
    """Return where a score lies between the floor of its seed (0) and its best known score (1)."""
    known = world.scores.of(seed)
    assert known is not None
    return (score - known.floor) / (known.best - known.floor)


@cache
def share_of(world: World, policy: str) -> float:
    """Return the mean share of a policy over `SEEDS`."""
    return mean(on_scale(world, run_of(world.setup, policy, seed).score, seed) for seed in SEEDS)


@cache
def trace(world: World, seed: int) -> list[str]:
    """Return every observation of an episode with greedy's actions of seed 0, as JSON."""
    return traced(world.served, world.actions, seed)


def traced(served: Served, actions: list[dict[str, Any]], seed: int) -> list[str]:
    """Return every observation of an episode with some actions, as JSON."""
    environment = served()
    seen = [environment.reset(seed=seed)]
    for action in actions:
        if seen[-1].done:
            break
        seen.append(environment.step(served.action.model_validate(action)))
    return [each.model_dump_json() for each in seen]


def episode_facts(name: str) -> str:
    """Return as JSON the digest of an episode's observations, and what it took of this process."""
    setup = Setup.of(name)
    seen = traced(Served(setup), _answers(setup), 0)
    # ru_maxrss would begin with the size of the process that has started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    return json.dumps({"digest": digest(seen), "mb": peak, "s": time.process_time()})


def digest(seen: list[str]) -> str:
    """Return the SHA-256 of a trace."""
    return hashlib.sha256("".join(seen).encode()).hexdigest()


@cache
def child(world: World, hash_seed: str) -> dict[str, Any]:
    """Return the facts of an episode that a process of its own has played."""
    script = Path(__file__).with_name("openenv_checks.py")
    command = [sys.executable, str(script), "--episode", world.name]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONWARNINGS": "ignore"}
    text = subprocess.run(  # noqa: S603 (our script)
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout
    facts: dict[str, Any] = json.loads(text)
    return facts
