"""How is one episode played by bare `Run`, and through each adapter of desim/adapters?

A player gets an episode and returns a function that plays it once, in this process. What a client
makes once for many episodes, such as an environment and the members of its spaces, is made before.
"""

from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

from adapter_clients import inspect_ai, mcp, verifiers
from adapter_games import SEED, Game, Work
from attrs import frozen

from desim import Run
from desim.adapters.trl import environment


@frozen
class Player:
    """A player that goes through one adapter.

    Attributes:
        start: Returns for a game the function that plays it.
        needs: The package that must be installed; empty for none.
    """

    start: Callable[[Game], Work]
    needs: str = ""

    @property
    def installed(self) -> bool:
        """Whether it can play here."""
        return not self.needs or find_spec(self.needs) is not None


def bare(game: Game) -> Work:
    """Play by `Run`."""
    model, seats = game.setup.model, frozenset([game.seat])

    def work() -> str | None:
        run, left = Run(model, SEED, seats), iter(game.answers)
        while opened := run.advance():
            for decision in opened:
                run.answer(decision, next(left))
        return run.result().ledger_digest

    return work


def stepped(game: Game) -> Work:
    """Play by the session under all adapters, with a reward for every step."""
    setup = game.setup

    def work() -> str | None:
        with setup.begin(SEED) as session:
            for answer in game.answers:
                session.step(answer)
                session.rewards()
            assert session.result is not None
            return session.result.ledger_digest

    return work


def trl(game: Game) -> Work:
    """Play by calls of methods."""
    rollouts = environment(game.model, game.preset, seat=game.seat)

    def work() -> str | None:
        rollout = rollouts()
        rollout.reset(seed=SEED)
        for name, arguments in game.calls:
            getattr(rollout, name)(**arguments)
        assert rollout.session is not None
        assert rollout.session.result is not None
        return rollout.session.result.ledger_digest

    return work


def gymnasium(game: Game, *, flat: bool = False) -> Work:
    """Play by members of the action space; observe fields, or one flat box."""
    from gymnasium import make

    from desim.adapters.gymnasium import env_id

    env = make(env_id(game.model), preset=game.preset, seat=game.seat, flat=flat)
    members = [env.unwrapped.encode(answer) for answer in game.answers]

    def work() -> str | None:
        env.reset(seed=SEED)
        info: Mapping[str, Any] = {}
        for member in members:
            _, _, _, _, info = env.step(member)
        return info["ledger_digest"]

    return work


def parallel(game: Game) -> Work:
    """Play one agent of PettingZoo's parallel environment."""
    from desim.adapters.pettingzoo import parallel_env

    env = parallel_env(game.model, game.preset, seats=game.seat)
    members = [env.encode(game.seat, answer) for answer in game.answers]

    def work() -> str | None:
        _, infos = env.reset(seed=SEED)
        for member in members:
            _, _, _, _, infos = env.step({game.seat: member})
        return infos[game.seat]["ledger_digest"]

    return work


def in_turn(game: Game) -> Work:
    """Play one agent of PettingZoo's AEC environment."""
    from desim.adapters.pettingzoo import aec_env

    env = aec_env(game.model, game.preset, seats=game.seat)
    members = [env.encode(game.seat, answer) for answer in game.answers]

    def work() -> str | None:
        env.reset(seed=SEED)
        for member in members:
            env.last()
            env.step(member)
        return env.last()[-1]["ledger_digest"]

    return work


def openenv(game: Game) -> Work:
    """Play an environment of OpenEnv without its server."""
    from desim.adapters.openenv.environment import Served

    served = Served(game.setup)

    def work() -> str | None:
        environment = served()
        seen = environment.reset(seed=SEED)
        for answer in game.answers:
            seen = environment.step(served.action.model_validate(answer))
        assert seen.ended is not None
        return seen.ended["ledger_digest"]

    return work


PLAYERS: dict[str, Player] = {
    "stepped session": Player(stepped),
    "trl": Player(trl),
    "gymnasium": Player(gymnasium, "gymnasium"),
    "gymnasium, flat": Player(partial(gymnasium, flat=True), "gymnasium"),
    "pettingzoo, parallel": Player(parallel, "pettingzoo"),
    "pettingzoo, aec": Player(in_turn, "pettingzoo"),
    "openenv, in process": Player(openenv, "openenv"),
    "mcp, in memory": Player(mcp, "mcp"),
    "inspect_ai, mock model": Player(inspect_ai, "inspect_ai"),
    "verifiers, loopback": Player(verifiers, "verifiers"),
}
