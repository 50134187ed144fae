"""An episode at play: a run, who sits at it, and what is written down."""

import contextlib
import inspect
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import msgspec
from attrs import evolve

from desim import catalog
from desim.episode import Episode, Header, Recorder, Said, Step
from desim.errors import DesimError, PolicyFailed, UsageError
from desim.kernel import Run
from desim.protocols import Model, Policy
from desim.replay import same_step
from desim.seating import Policies, label, seat_all, spread
from desim.usage import summed
from desim.world import Decision

__all__ = ["Table", "built", "labels_of"]


class Table:
    """What the drivers share: a run, who sits at it, and what was written down.

    Args:
        model: A model, or its name in the catalog.
        policies: As `play` takes them.
        seed: A whole number of at least 0.
        record: The file that receives the episode.
        labels: What the policies are called, where it is known better than by looking.
        past: What is on record already: the answers must come out the same, and the record
            is written on behind them.
    """

    def __init__(
        self,
        model: Model[Any] | str,
        policies: Policies,
        seed: int,
        record: str | Path | None,
        labels: Mapping[str, str] | None = None,
        past: Episode | None = None,
    ) -> None:
        self.model = built(model)
        given = spread(self.model, policies)
        self.players: dict[str, Policy] = seat_all(self.model, given, seed)
        self.run = Run(self.model, seed, frozenset(given) if policies is not None else None)
        for role in sorted(self.run.world.seats - self.players.keys()):
            raise UsageError(f"role {role!r} needs somebody to decide; give it a policy")
        self.header = Header.of(self.model, seed, labels or labels_of(self.model, policies))
        self.steps: list[Step] = []
        self.said: list[Said] = []
        self.past = past.steps if past else ()
        self._noting = any(hasattr(player, "notes") for player in self.players.values())
        self._again = past is not None
        self._recorder = None
        if record:
            self._recorder = Recorder.again(record) if self._again else Recorder(record)
        self._stack = contextlib.ExitStack()
        self._listen(past.said if past else ())

    def __enter__(self) -> Self:
        if self._recorder:
            self._stack.enter_context(self._recorder)
            if not self._again:
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
        """Give the answer to the run and write it down, unless it is on record already."""
        run = self.run
        run.answer(decision, action)
        t = run.world.now
        kept = self._notes(decision) if self._noting else None
        step = Step(t, decision.role, decision.observation, decision.action, kept)
        self.steps.append(step)
        if len(self.steps) <= len(self.past):
            same_step(len(self.steps), self.past[len(self.steps) - 1], step)
        elif self._recorder:
            self._recorder.step(t, decision, kept)

    def hear(self, role: str, said: Any) -> None:
        """Keep what a policy has heard; it is on disk when this returns."""
        self.said.append(Said(said, role))
        if self._recorder:
            self._recorder.said(self.said[-1])

    def episode(self) -> Episode:
        """Sum up and write the last line."""
        result = self.run.result()
        if self._noting:
            result = evolve(result, usage=summed(self.steps))
        if self._recorder:
            self._recorder.result(result)
        return Episode(self.header, tuple(self.steps), result, tuple(self.said))

    def _listen(self, said: Sequence[Said]) -> None:
        """Give policies their journal, and back what was said before."""
        self.said.extend(said)
        for role, player in self.players.items():
            if hasattr(player, "journal"):
                player.journal = partial(self.hear, role)
            if said and (resume := getattr(player, "resume", None)):
                resume([one.said for one in said if one.role == role])

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


def built(model: Model[Any] | str) -> Model[Any]:
    """Return the model, by its name if that is what was given."""
    if isinstance(model, type):
        raise UsageError(f"{model.__name__} is a class; give an instance: {model.__name__}()")
    return catalog.model(model) if isinstance(model, str) else model


def labels_of(model: Model[Any], policies: Policies) -> dict[str, str]:
    """Return by role what the policies are called."""
    return {role: label(one) for role, one in spread(model, policies).items()}


def _discard(awaitable: Any) -> None:
    # An unawaited coroutine would warn when it is collected; the error to come says enough.
    if inspect.iscoroutine(awaitable):
        awaitable.close()
