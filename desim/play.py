"""Drivers: one episode with policies, the same with coroutines, several with a learning policy."""

import contextlib
import inspect
from collections.abc import Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from desim import catalog
from desim.episode import Episode, Header, Recorder, Step
from desim.errors import DesimError, PolicyFailed, UsageError
from desim.kernel import Run
from desim.protocols import Model, Policy
from desim.seating import Policies, label, seat_all, spread
from desim.world import Decision

__all__ = ["play", "play_async", "play_series"]


def play(
    model: Model[Any] | str,
    policies: Policies = None,
    seed: int = 0,
    *,
    record: str | Path | None = None,
) -> Episode:
    """Play one episode.

    Args:
        model: A model, or its name in the catalog, perhaps with `/preset` behind.
        policies: A policy for the lead seats, or a mapping of roles to policies. A policy is an
            instance, a class, or a spec such as "base_stock,target=1200".
        seed: A whole number of at least 0.
        record: A new file that receives the episode line by line.

    Raises:
        UsageError: Something named does not exist.
        WrongAction: A policy answered what its role cannot do.
        PolicyFailed: A policy raised an exception or answered with a coroutine.
    """
    with _Table(model, policies, seed, record) as table:
        return table.played()


async def play_async(
    model: Model[Any] | str,
    policies: Policies = None,
    seed: int = 0,
    *,
    record: str | Path | None = None,
) -> Episode:
    """Play one episode with policies of which some are coroutines.

    Decisions of one instant are gathered concurrently. Otherwise as `play`.
    """
    with _Table(model, policies, seed, record) as table:
        while decisions := table.run.advance():
            actions = await _gathered([table.decide_async(d) for d in decisions])
            for decision, action in zip(decisions, actions, strict=True):
                table.take(decision, action)
        return table.episode()


def play_series(
    model: Model[Any] | str,
    policies: Policies,
    seeds: Iterable[int],
    *,
    record: str | Path | None = None,
) -> list[Episode]:
    """Play several episodes with the same policy instances, which may learn in between.

    After every episode each policy that has `after(episode)` is shown it.

    Args:
        model: As in `play`.
        policies: As in `play`; specs and classes are built once, for the first seed.
        seeds: One episode each, in this order. They need not differ.
        record: A folder that receives one file an episode, `episode-001.jsonl` and so on.
    """
    seeds = list(seeds)
    model = _built(model)
    players = seat_all(model, policies, seeds[0]) if seeds else {}
    named = _labels(model, policies)
    episodes = []
    for number, seed in enumerate(seeds, 1):
        file = Path(record) / f"episode-{number:03d}.jsonl" if record else None
        with _Table(model, players, seed, file, named) as table:
            episodes.append(table.played())
        for player in players.values():
            if after := getattr(player, "after", None):
                after(episodes[-1])
    return episodes


class _Table:
    """What the drivers share: a run, who sits at it, and what was written down."""

    def __init__(
        self,
        model: Model[Any] | str,
        policies: Policies,
        seed: int,
        record: str | Path | None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        self.model = _built(model)
        given = spread(self.model, policies)
        self.players: dict[str, Policy] = seat_all(self.model, given, seed)
        self.run = Run(self.model, seed, frozenset(given) if policies is not None else None)
        for role in sorted(self.run.world.seats - self.players.keys()):
            raise UsageError(f"role {role!r} needs somebody to decide; give it a policy")
        self.header = Header.of(self.model, seed, labels or _labels(self.model, policies))
        self.steps: list[Step] = []
        self._noting = any(hasattr(player, "notes") for player in self.players.values())
        self._recorder = Recorder(record) if record else None
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        if self._recorder:
            self._stack.enter_context(self._recorder)
            self._recorder.head(self.header)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def played(self) -> Episode:
        """Play to the end without coroutines."""
        while decisions := self.run.advance():
            for decision in decisions:
                self.take(decision, self.decide(decision))
        return self.episode()

    def decide(self, decision: Decision) -> Any:
        """Ask the policy that sits there."""
        try:
            action = self.players[decision.role].decide(decision.observation)
        except DesimError:
            raise
        except Exception as fault:
            raise self._failed(decision, fault) from fault
        if hasattr(action, "__await__"):
            _discard(action)
            raise PolicyFailed(f"{decision.role!r} is played by a coroutine; use play_async")
        return action

    async def decide_async(self, decision: Decision) -> Any:
        """Ask the policy that sits there and wait for it, if it is one to wait for."""
        try:
            action = self.players[decision.role].decide(decision.observation)
            return await action if inspect.isawaitable(action) else action
        except DesimError:
            raise
        except Exception as fault:
            raise self._failed(decision, fault) from fault

    def take(self, decision: Decision, action: Any) -> None:
        """Give the answer to the run and write it down."""
        run = self.run
        run.answer(decision, action)
        t = run.world.now
        kept = self._notes(decision) if self._noting else None
        self.steps.append(Step(t, decision.role, decision.observation, decision.action, kept))
        if self._recorder:
            self._recorder.step(t, decision, kept)

    def episode(self) -> Episode:
        """Sum up and write the last line."""
        result = self.run.result()
        if self._recorder:
            self._recorder.result(result)
        return Episode(self.header, tuple(self.steps), result)

    def _notes(self, decision: Decision) -> dict[str, Any] | None:
        """Copy the policy's notes, which may change before the next decision."""
        notes = getattr(self.players[decision.role], "notes", None)
        try:
            return msgspec.to_builtins(dict(notes), str_keys=True) if notes else None
        except (TypeError, ValueError) as fault:
            raise self._failed(decision, fault) from fault

    def _failed(self, decision: Decision, fault: Exception) -> PolicyFailed:
        role = decision.role
        return PolicyFailed(
            f"policy {self.header.policies[role]} failed as {role!r} at t={self.run.world.now}: "
            f"{type(fault).__name__}: {fault}"
        )


async def _gathered(answers: list[Coroutine[Any, Any, Any]]) -> list[Any]:
    """Wait for all answers; when one fails, nobody goes on thinking for nothing."""
    # Its sockets and certificates take longer to import than desim itself.
    import asyncio

    tasks = [asyncio.ensure_future(answer) for answer in answers]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _built(model: Model[Any] | str) -> Model[Any]:
    if isinstance(model, type):
        raise UsageError(f"{model.__name__} is a class; give an instance: {model.__name__}()")
    return catalog.model(model) if isinstance(model, str) else model


def _labels(model: Model[Any], policies: Policies) -> dict[str, str]:
    return {role: label(one) for role, one in spread(model, policies).items()}


def _discard(awaitable: Any) -> None:
    # An unawaited coroutine would warn when it is collected; the error to come says enough.
    if inspect.iscoroutine(awaitable):
        awaitable.close()
