"""Measurements of a world for the checks of OpenEnv's severity-v2.json: one function a check.

Each returns a result and a figure. Scores count as shares of the way from the floor of their seed
(0 %) to its best known score (100 %).
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import httpx
from canaries import CANARIES, INVALID, no_op, played
from openenv.validation import load_policy
from openenv_validate import package
from openenv_world import (
    SEEDS,
    World,
    child,
    digest,
    on_scale,
    run_of,
    share_of,
    trace,
    traced,
)

import desim
from desim.adapters.openenv.environment import Served
from desim.adapters.openenv.server import serving
from desim.adapters.openenv.tasks import SPLITS
from desim.core.model_protocols import is_deterministic
from desim.errors import UsageError, WrongAction

#: Met; not met; not decided by the known scores; nothing to measure.
PASS, FAIL, OPEN, NONE = "pass", "FAIL", "open", "n/a"

#: A canary may reach this share of the scale; a baseline leaves as much to be learned.
CANARY = 0.1

#: Policies whose mean shares are nearer to one another count as equal.
APART = 0.01

Found = tuple[str, str]


def _percent(share: float) -> str:
    return f"{share:.1%}" if share > -1 else "below -100%"


def _met(met: bool, figure: str) -> Found:  # noqa: FBT001
    return PASS if met else FAIL, figure


# -- what is declared ------------------------------------------------------------------------------


def _declared(world: World) -> dict[str, Any]:
    with package(world.setup) as folder:
        whole: dict[str, Any] = json.loads((folder / "openenv.yaml").read_text())
    declared: dict[str, Any] = whole["validation"]
    return declared


def resources(world: World) -> Found:
    """The manifest declares processor, memory and disk."""
    declared = _declared(world)["resources"]
    return _met(
        all(declared[key] > 0 for key in ("cpu", "memory_mb", "disk_mb")), f"{declared['cpu']} cpu"
    )


def timeout(world: World) -> Found:
    """An episode's declared time limit is at most the policy's."""
    declared = _declared(world)["resources"]["episode_timeout_s"]
    return _met(0 < declared <= load_policy("v2").bounds.max_episode_timeout_s, f"{declared} s")


def task_pins(world: World) -> Found:
    """The manifest names the version that makes the tasks; splits share no seed."""
    version = _declared(world)["task_distribution"]["dataset_version"]
    train, test = (set(seeds) for seeds in SPLITS.values())
    return _met(version == desim.__version__ and not train & test, f"version {version}")


def task_counts(world: World) -> Found:
    """The manifest declares as many tasks as the server has."""
    counts = _declared(world)["capabilities"]["declared_task_count"]
    environment = world.served()
    same = counts == {split: len(environment.list_tasks(split)) for split in SPLITS}
    return _met(same, " + ".join(f"{count:,}" for count in counts.values()))


def tools(world: World) -> Found:
    """Actions are steps: the manifest declares no MCP tool, and the server has none."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with serving(world.setup) as url:
        said = httpx.post(f"{url}/mcp", json=request).json()
    none = "declared_tools" not in _declared(world)["capabilities"]
    return _met(none and "error" in said, str(said.get("error", {}).get("message")))


# -- the same again --------------------------------------------------------------------------------


def seed_control(world: World) -> Found:
    """Five seeds give five episodes to the same actions."""
    if is_deterministic(world.setup.model):
        return NONE, "the preset draws nothing"
    different = len({tuple(trace(world, seed)) for seed in SEEDS})
    return _met(different == len(SEEDS), f"{different} of {len(SEEDS)} differ")


@cache
def determinism(world: World) -> Found:
    """The same seed and actions give the same observations and rewards, byte for byte."""
    again = traced(world.served, world.actions, 0)
    return _met(again == trace(world, 0), f"{len(again):,} observations")


def isolation(world: World) -> Found:
    """Two episodes that alternate are those that are played one after the other."""
    alone = [trace(world, 0), trace(world, 1)]
    both = [world.served(), world.served()]
    seen = [[each.reset(seed=seed).model_dump_json()] for seed, each in enumerate(both)]
    for action in world.actions:
        for each, its, whole in zip(both, seen, alone, strict=True):
            if len(its) < len(whole):
                its.append(each.step(world.served.action.model_validate(action)).model_dump_json())
    return _met(seen == alone, "two at once")


def portability(world: World) -> Found:
    """Two other processes with other hash seeds give the same observations and rewards."""
    own = digest(trace(world, 0))
    found = [child(world, seed)["digest"] for seed in ("1", "2")]
    return _met(found == [own, own], "2 processes")


def envelope(world: World) -> Found:
    """An episode in a process of its own, start included, stays within the declared resources."""
    used, limits = child(world, "1"), _declared(world)["resources"]
    met = used["mb"] < limits["memory_mb"] and used["s"] < limits["episode_timeout_s"]
    return _met(met, f"{used['mb']:.0f} MB, {used['s']:.1f} s")


@cache
def replayability(world: World) -> Found:
    """The record of an episode replays to the same score and ledger digest."""
    with tempfile.TemporaryDirectory() as folder:
        environment = Served(world.setup, folder)()
        seen = environment.reset(seed=0)
        for action in world.actions:
            seen = environment.step(world.served.action.model_validate(action))
        (file,) = Path(folder).iterdir()
        again = desim.replay(file).result
    assert again is not None
    ended = seen.ended["score"], seen.ended["ledger_digest"]
    return _met((again.score, again.ledger_digest) == ended, f"{len(world.actions):,} decisions")


# -- scores ----------------------------------------------------------------------------------------


def oracle_max(world: World) -> Found:
    """The best known run, played again, has its score and nearly reaches a bound of all scores."""
    known = world.known
    try:
        score = run_of(world.setup, known.policy, 0).score
    except UsageError:  # a run of an earlier search, which the known scores name in words
        return OPEN, f"{known.policy!r} is no policy that can be played again"
    if abs(score - known.best) > 1e-6 * max(1.0, abs(score)):
        return FAIL, f"{known.policy} has {score:,.6g}, not {known.best:,.6g}"
    if known.bound is None:
        return OPEN, f"{known.policy}; no bound is known"
    way = (score - known.floor) / (known.bound.value - known.floor)
    figure = f"{known.policy} has {_percent(way)} of the bound ({known.bound.kind})"
    if way >= 1 - CANARY:
        return PASS, figure
    return FAIL if known.bound.kind == "proved" else OPEN, figure


def floor_gap(world: World) -> Found:
    """The best known score is above the floor by a tenth of the larger of the two."""
    known = world.known
    gap = (known.best - known.floor) / max(abs(known.best), abs(known.floor))
    return _met(gap >= CANARY, f"{known.floor:,.6g} to {known.best:,.6g}")


@cache
def canary_floor(world: World) -> Found:
    """Zeros, the largest numbers and the longest texts earn at most a tenth of the scale."""
    shares = {
        name: on_scale(world, played(world.setup, canary, 0)[0])
        for name, canary in CANARIES.items()
    }
    strongest = max(shares, key=lambda name: shares[name])
    return _met(shares[strongest] <= CANARY, f"{strongest} {_percent(shares[strongest])}")


def default_share(world: World) -> str:
    """Return the share of each role's default action, which some worlds make a sensible one."""
    return _percent(on_scale(world, played(world.setup, no_op, 0)[0]))


def gameability(world: World) -> Found:
    """Actions that fit no schema change neither the score nor the clock."""
    with world.setup.begin(0) as session:
        before = session.score, session.tick, session.answered
        refused = 0
        for action in INVALID * 100:
            try:
                session.answer(session.open[0], action)
            except WrongAction:
                refused += 1
        same = (session.score, session.tick, session.answered) == before
    return _met(same and refused == len(INVALID) * 100, f"{refused} refused")


def leakage(world: World) -> Found:
    """Before the end a message has the fields of the seat's observation, and no other fact."""
    roles = world.setup.model.roles
    *before, last = (json.loads(each) for each in trace(world, 0))
    clean = all(
        each["ended"] is None
        and not each["metadata"]
        and each["observation"].keys() == _fields(roles[each["seat"]].observation)
        and bool(each["rules"]) == (number == 0)
        for number, each in enumerate(before)
    )
    return _met(clean and last["observation"] is None, f"{len(before):,} messages")


def _fields(cls: Any) -> set[str]:
    return {each.alias for each in cls.__attrs_attrs__}


def reachability(world: World) -> Found:
    """The greedy baseline, which was taught nothing, earns more than the floor."""
    share = share_of(world, "greedy")
    return _met(share > 0, f"greedy {_percent(share)}")


def separation(world: World) -> Found:
    """The greedy baseline is above chance by at least 1 % of the scale."""
    chance, greedy = (share_of(world, each) for each in ("random", "greedy"))
    return _met(greedy - chance >= APART, f"random {_percent(chance)}, greedy {_percent(greedy)}")


def headroom(world: World) -> Found:
    """The greedy baseline leaves at least a tenth of the scale to be learned."""
    share = share_of(world, "greedy")
    return _met(share <= 1 - CANARY, f"greedy {_percent(share)}")


def training_signal(world: World) -> Found:
    """Rewards come before the last step, with greedy's actions."""
    rewards = [json.loads(each)["reward"] for each in trace(world, 0)[1:-1]]
    some = sum(1 for each in rewards if each)
    return _met(some > 0, f"{some:,} of {len(rewards):,} steps before the last")


MEASURES: Mapping[str, Callable[[World], Found]] = {
    "static.resource_declaration": resources,
    "static.timeout_ceiling": timeout,
    "static.task_distribution_pinning": task_pins,
    "runtime.trajectory_record": replayability,
    "runtime.tool_declaration_accuracy": tools,
    "runtime.task_declaration_accuracy": task_counts,
    "runtime.seed_control": seed_control,
    "runtime.episode_determinism": determinism,
    "runtime.episode_isolation": isolation,
    "semantic.oracle_max": oracle_max,
    "semantic.floor_gap": floor_gap,
    "semantic.canary_floor": canary_floor,
    "semantic.no_solution_leakage": leakage,
    "semantic.verifier_determinism": determinism,
    "semantic.verifier_portability": portability,
    "semantic.resource_envelope": envelope,
    "semantic.replayability": replayability,
    "statistical.reward_reachability": reachability,
    "statistical.difficulty_separation": separation,
    "statistical.headroom": headroom,
    "statistical.variance_bound": determinism,
    "statistical.training_signal": training_signal,
    "statistical.adversarial_floor": canary_floor,
    "statistical.gameability_gap": gameability,
}
