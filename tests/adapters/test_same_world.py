"""The same answers give the same ledgers and the same score through every adapter.

A driver plays the answers of a case's seats through one adapter, whose packages it imports when it
plays.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from attrs import frozen
from click.testing import CliRunner
from support.adapters import CASES, Case, played

from desim.cli.main import main
from desim.ui.game import Game

#: The tagged objects of each seat's actions, in their order.
Answers = Mapping[str, list[dict[str, Any]]]

#: The score and the ledger digest of an episode.
Ended = tuple[float, str | None]

#: Enough for the texts, lists and numbers of the answers in the spaces of Gymnasium and PettingZoo.
SPACES: dict[str, Any] = {"max_text": 20_000, "max_entries": 40, "bounds": "schema"}


@frozen
class Driver:
    """A way to play a case.

    Attributes:
        play: Plays a case with a seed and the answers of its seats.
        packages: Must be installed.
        carries: Whether it can play a case.
    """

    play: Callable[[Case, int, Answers], Ended]
    packages: tuple[str, ...] = ()
    carries: Callable[[Case], bool] = lambda _: True


def has_one_seat(case: Case) -> bool:
    """Return whether a case is for an adapter that has one seat."""
    return len(case.seats) == 1


def by_seat(answers: Answers) -> dict[str, Iterator[dict[str, Any]]]:
    """Return the answers of each seat that are left."""
    return {seat: iter(each) for seat, each in answers.items()}


def play_session(case: Case, seed: int, answers: Answers) -> Ended:
    """Play the session under all adapters."""
    left = by_seat(answers)
    with case.setup().begin(seed) as session:
        while session.open:
            for decision in list(session.open):
                session.answer(decision, next(left[decision.role]))
            session.advance()
        assert session.result is not None
        return session.result.score, session.result.ledger_digest


def play_page(case: Case, seed: int, answers: Answers) -> Ended:
    """Play the game of the page, without a browser."""
    setup, left = case.setup(), by_seat(answers)
    with (
        tempfile.TemporaryDirectory() as folder,
        Game(
            setup.model, seed, Path(folder, "g.jsonl"), seats=setup.seats, others=setup.others
        ) as game,
    ):
        while game.view.role:
            game.answer(game.view.turn, next(left[game.view.role]))
        assert game.view.episode is not None
        result = game.view.episode.result
    assert result is not None
    return result.score, result.ledger_digest


def play_command_line(case: Case, seed: int, answers: Answers) -> Ended:
    """Run `desim run`, where a script plays every seat."""
    with tempfile.TemporaryDirectory() as folder, patch.object(sys, "path", [*sys.path]):
        policies = {**case.setup().others, **scripts(Path(folder), answers)}
        options = [f"--policy={role}={policy}" for role, policy in policies.items()]
        options += [f"--set={key}={value}" for key, value in case.params.items()]
        done = CliRunner().invoke(
            main,
            ["run", case.model, "--preset", case.preset, "--seed", str(seed), "--json", *options],
            prog_name="desim",
        )
    assert done.exit_code == 0, done.stderr
    row = json.loads(done.stdout)
    return row["score"], row["ledger_digest"]


def scripts(folder: Path, answers: Answers) -> dict[str, str]:
    """Write the answers of every seat into a script, and return the specs that play them."""
    specs = {}
    for seat, actions in answers.items():
        file = folder / f"{seat}.jsonl"
        file.write_text("".join(json.dumps(action) + "\n" for action in actions))
        specs[seat] = f"script,file={file}"
    return specs


def play_gymnasium(case: Case, seed: int, answers: Answers) -> Ended:
    """Pass every answer through the action space of one seat."""
    import gymnasium

    from desim.adapters.gymnasium import env_id

    (seat,) = case.seats
    arguments = {**case.arguments(), "seat": seat, **SPACES}
    arguments.pop("seats")
    env = gymnasium.make(env_id(case.model), preset=case.preset, **arguments)
    env.reset(seed=seed)
    terminated, info = False, {}
    for action in answers[seat]:
        assert not terminated
        member = env.unwrapped.encode(action)
        assert env.action_space.contains(member)
        _, _, terminated, truncated, info = env.step(member)
        assert not truncated
    assert terminated
    env.close()
    return info["score"], info["ledger_digest"]


def play_pettingzoo(case: Case, seed: int, answers: Answers) -> Ended:
    """Pass every answer through the action space of its seat, in the parallel environment."""
    from desim.adapters.pettingzoo import SeatsEnv

    left = by_seat(answers)
    env = SeatsEnv(case.model, case.preset, **case.arguments(), **SPACES)
    _, infos = env.reset(seed=seed)
    while env.agents:
        deciding = [agent for agent in env.agents if infos[agent]["deciding"]]
        actions = {agent: env.encode(agent, next(left[agent])) for agent in deciding}
        assert all(env.action_space(agent).contains(each) for agent, each in actions.items())
        _, _, terminations, _, infos = env.step(actions)
    assert all(terminations.values())
    env.close()
    facts = next(iter(infos.values()))
    return facts["score"], facts["ledger_digest"]


def play_inspect(case: Case, seed: int, answers: Answers) -> Ended:
    """Let the mock model of Inspect call tools, ten in a reply, which takes Inspect 15 ms."""
    from support.agents import evaluated, ordered, sample_of

    from desim.adapters.inspect_ai import world_task

    arguments = {**case.arguments(), "seat": case.seats[0]}
    arguments.pop("seats")
    task = world_task(case.model, case.preset, [seed], **arguments)
    sample = sample_of(evaluated(task, ordered(answers[case.seats[0]], 10)))
    assert sample.scores["world_score"].value["ended"] == 1
    return sample.scores["world_score"].value["score"], sample.metadata["ledger_digest"]


async def play_mcp(case: Case, seed: int, answers: Answers) -> Ended:
    """Let an agent call the tools of a Model Context Protocol server in this process."""
    from support.mcp_agent import in_memory

    from desim.adapters.mcp_episodes import Episodes

    async with in_memory(Episodes(case.setup())) as agent:
        seen = await agent.call("begin_episode", seed=seed)
        for answer in answers[case.seats[0]]:
            arguments = dict(answer)
            seen = await agent.call(arguments.pop("do"), **arguments)
    return seen["ended"]["score"], seen["ended"]["ledger_digest"]


DRIVERS = {
    "command_line": Driver(play_command_line),
    "gymnasium": Driver(play_gymnasium, ("gymnasium",), has_one_seat),
    "inspect_ai": Driver(play_inspect, ("inspect_ai",), has_one_seat),
    "mcp": Driver(lambda *given: asyncio.run(play_mcp(*given)), ("mcp",), has_one_seat),
    "page": Driver(play_page),
    "pettingzoo": Driver(play_pettingzoo, ("pettingzoo",), lambda case: not has_one_seat(case)),
    "stepped": Driver(play_session),
}


def plays() -> Iterator[Any]:
    """Yield every driver with every case that it carries; one skipped entry for a missing one."""
    for name, driver in DRIVERS.items():
        missing = [package for package in driver.packages if find_spec(package) is None]
        if missing:
            reason = f"{' and '.join(missing)} not installed"
            yield pytest.param(name, CASES[0], marks=pytest.mark.skip(reason=reason), id=name)
            continue
        yield from (pytest.param(name, c, id=f"{name}-{c}") for c in CASES if driver.carries(c))


@pytest.mark.parametrize(("name", "case"), list(plays()))
def test_an_adapter_plays_the_same_world(name: str, case: Case) -> None:
    """Score and digest are those of `desim.play` with the same actions."""
    direct = played(case, 5)
    assert DRIVERS[name].play(case, 5, direct.answers) == (direct.score, direct.digest)
