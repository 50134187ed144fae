"""An environment of OpenEnv: one episode after another, for one client.

Tried with openenv 0.10.0.
"""

import secrets
from pathlib import Path
from typing import Any

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import EnvironmentMetadata

from desim.adapters.openenv.openenv_messages import (
    EpisodeIdentity,
    WorldAction,
    WorldObservation,
    message_classes,
)
from desim.adapters.openenv.tasks import Task, Tasks, as_plain, reward_of
from desim.adapters.seat.seat_environment import SeatEnvironment
from desim.adapters.seat.setup import Setup, named_start
from desim.core.model_protocols import rules_of
from desim.episodes.caller import CallerSeat
from desim.episodes.lineup import resolve
from desim.errors import DesimError, UsageError, WrongAction, possible
from desim.short_repr import short_repr
from desim.version import __version__

#: Characters of an episode's name, at most.
_MOST_CHARACTERS = 255

_NOT_BEGUN = (
    "no episode has begun; reset first, over the web socket: "
    "every plain HTTP request has an environment of its own"
)


class Served:
    """The constant data that all environments of a server share.

    Raises:
        UsageError: The seats have different rewards, or an action has a field `metadata`.

    Attributes:
        tasks: The tasks.
        action: The class of actions.
        observation: The class of observations.
    """

    def __init__(self, setup: Setup, records: str | Path | None = None) -> None:
        reward_of(setup)  # refuses several
        self.setup, self.tasks = setup, Tasks(setup)
        self.records = None if records is None else Path(records)
        self.action, self.observation = message_classes(setup)
        policies = {**dict.fromkeys(setup.seats, CallerSeat()), **setup.others}
        self._waits = resolve(setup.model, policies, 0).waits
        self.rules = {
            preset: "\n\n".join(rules_of(one.model, seat) for seat in one.seats)
            for preset, one in self.tasks.setups.items()
        }

    def __call__(self) -> "WorldEnvironment":
        """Return a new environment."""
        return WorldEnvironment(self) if self._waits else _InTheLoop(self)

    def setup_of(self, preset: str) -> Setup:
        """Return the setup of a preset."""
        setups = self.tasks.setups
        if not isinstance(preset, str) or preset not in setups:
            hint = possible(str(preset), setups)
            raise UsageError(f"preset {short_repr(preset)} was given; {hint}")
        return setups[preset]

    def record(self, preset: str, seed: int) -> Path | None:
        """Return the file of a new episode's record; no text of a client's is part of its path."""
        if self.records is None:
            return None
        name = f"{self.tasks.name}-{preset}-{short_repr(seed)}-{secrets.token_hex(4)}.jsonl.gz"
        return self.records / name


class WorldEnvironment(Environment[WorldAction, WorldObservation, EpisodeIdentity]):
    """One episode after another, for one client.

    `reset` takes a seed, or a task by split and index. A step answers the decision of the seat that
    the last observation names. A wrong action changes nothing: its observation is the same with the
    schema's sentence under `refused`, and its reward is 0.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, served: Served) -> None:
        super().__init__()
        self._served = served
        self._world = SeatEnvironment(served.setup, "openenv")
        self._record: Path | None = None
        self._state = EpisodeIdentity()

    def reset(
        self,
        /,  # a client may send any key, also this one's
        seed: int | None = None,
        episode_id: str | None = None,
        split: str | None = None,
        index: int | None = None,
        preset: str | None = None,
        record: str | None = None,
        at: int | None = None,
        **unknown: Any,
    ) -> WorldObservation:
        """Begin an episode, and drop the one before it.

        Args:
            seed: A whole number of at least 0; 0 if neither it nor a task is given.
            episode_id: The client's name for the episode.
            split: The split of a task; with it an index, and neither seed nor preset.
            index: The number of the task in its split.
            preset: A preset of the world; default: the one that is served.
            record: The name of a record among those that the server begins episodes from; no path.
            at: With a record: how many of its decisions are repeated first. The seed then draws
                all facts that no role can have observed by then; without it the episode goes on in
                the world of the record.
            unknown: Refused.

        Raises:
            UsageError: An argument is unknown, or its value impossible.
            ModelFailed: The model raised an exception.
        """
        if unknown:
            known = ["seed", "episode_id", "split", "index", "preset", "record", "at"]
            name = next(iter(unknown))
            raise UsageError(f"reset takes no {short_repr(name)}; {possible(name, known)}")
        _check_name(episode_id)
        task = self._task(split, index, seed=seed, preset=preset)
        played = task.preset if task else preset or next(iter(self._served.tasks.setups))
        chosen = task.seed if task else seed
        setup = self._served.setup_of(played)
        world = SeatEnvironment(setup, "openenv")
        start = named_start(setup, record, at)
        file = self._served.record(played, chosen or 0)
        world.begin(chosen, file, start=start)
        self.close()
        self._world, self._record = world, file
        self._state = EpisodeIdentity(
            episode_id=episode_id or secrets.token_hex(16),
            preset=played,
            split=task.split if task else "",
            index=task.index if task else None,
        )
        return self._observation(rules=self._served.rules[played])

    def step(
        self, action: WorldAction, timeout_s: float | None = None, **_: Any
    ) -> WorldObservation:
        """Answer the decision that is open.

        Args:
            action: The tagged object.
            timeout_s: Not used: a step that has begun is completed.

        Raises:
            ModelFailed: The model raised an exception; the episode is over.
            PolicyFailed: The policy of another role raised one; the episode is over.
        """
        del timeout_s
        session = self._world.session
        if session is None:
            return self._served.observation(refused=_NOT_BEGUN, reward=0.0)
        self._state.step_count += 1
        if session.done:
            return self._refused("the episode is over; reset begins another")
        try:
            rewards = self._world.play((session.open[0], action.tagged()))
        except WrongAction as fault:
            return self._refused(str(fault))
        except DesimError:
            self.close()
            raise
        return self._observation(reward=next(iter(rewards.values())))  # the same for all seats

    @property
    def state(self) -> EpisodeIdentity:
        """The identity of the present episode."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Return name and description of the world, with the rules of the preset that is served."""
        rules = next(iter(self._served.rules.values()))
        name = self._served.tasks.name
        return EnvironmentMetadata(
            name=name,
            description=f"{rules_summary(rules)} Seats: {', '.join(self._served.setup.seats)}.",
            readme_content=rules,
            version=__version__,
        )

    def close(self) -> None:
        """Close the episode's record; one without a decision is deleted."""
        session = self._world.session
        self._world.close()
        if (
            session is not None
            and self._record is not None
            and session.answered == session.repeated
        ):
            self._record.unlink(missing_ok=True)

    # -- tasks -------------------------------------------------------------------------------------

    def list_splits(self) -> list[dict[str, str]]:
        """Return the splits."""
        return self._served.tasks.splits

    def num_tasks(self, split: str) -> int:
        """Return the number of tasks of a split."""
        return len(self._served.tasks.of(split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return a task."""
        return self._plain(self._served.tasks.get(split, index))

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Return all tasks of a split."""
        return self.get_task_range(split)

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        """Return the tasks of a split from one index up to another."""
        return [self._plain(each) for each in self._served.tasks.between(split, start, stop)]

    # -- inside ------------------------------------------------------------------------------------

    def _task(self, split: Any, index: Any, *, seed: Any, preset: Any) -> Task | None:
        if split is None and index is None:
            return None
        if seed is not None or preset is not None or split is None or index is None:
            raise UsageError("give split and index of a task, or a seed and a preset, not both")
        try:
            return self._served.tasks.get(split, index)
        except IndexError as fault:
            raise UsageError(str(fault)) from None

    def _plain(self, task: Task) -> dict[str, Any]:
        return as_plain(task, self._served.tasks.setups[task.preset])

    def _refused(self, why: str) -> WorldObservation:
        self._state.refused += 1
        return self._observation(reward=0.0, refused=why)

    def _observation(self, **facts: Any) -> WorldObservation:
        session = self._world.session
        assert session is not None
        if session.done:
            return self._served.observation(done=True, ended=session.end_facts(), **facts)
        decision = session.open[0]
        seen = session.seen(decision)
        possible = list(decision.possible)
        return self._served.observation(
            seat=decision.role, observation=seen, possible=possible, **facts
        )


class _InTheLoop(WorldEnvironment):
    """Answers in the event loop of the server, which avoids the switch to a thread and back.

    A server calls plain methods in a thread for each session. If another role is played by a policy
    that waits, such as a language model, threads keep one session from blocking the others.
    """

    async def reset_async(
        self,
        /,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str | None = None,
        index: int | None = None,
        preset: str | None = None,
        record: str | None = None,
        at: int | None = None,
        **unknown: Any,
    ) -> WorldObservation:
        """Begin an episode; see `reset`."""
        return self.reset(seed, episode_id, split, index, preset, record, at, **unknown)

    async def step_async(
        self, action: WorldAction, timeout_s: float | None = None, **_: Any
    ) -> WorldObservation:
        """Answer the open decision; see `step`."""
        return self.step(action, timeout_s)


def rules_summary(rules: str) -> str:
    """Return the first paragraph of the rules as one line."""
    return " ".join(rules.partition("\n\n")[0].split())


def _check_name(given: Any) -> None:
    if given is None:
        return
    # A lone surrogate could not be sent back; JSON can hold one.
    if not isinstance(given, str) or len(given) > _MOST_CHARACTERS or not given.isprintable():
        raise UsageError(
            f"episode_id {short_repr(given)} was given; it is a text of at most "
            f"{_MOST_CHARACTERS} printable characters"
        )
