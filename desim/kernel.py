"""What stops the clock: roles, and the run that hands out their questions and takes the answers.

A `Run` owns a world. It moves the clock until the present instant has settled (nothing else is left
at that tick, or nothing that a question does not come before), hands out the open decisions, and
goes on when all are answered. It never calls a policy.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Any

from attrs import field, frozen

from desim.errors import Stuck, Unanswered, UsageError, WrongAction, WrongResult, possible
from desim.protocols import PATIENCE, Model, lead
from desim.schema import codec, to_plain
from desim.world import Decision, World

__all__ = ["Option", "Result", "Role", "Run", "seated"]


@frozen
class Option:
    """One sensible answer at this moment.

    Attributes:
        action: What to answer.
        worth: A quick estimate of what it is worth, higher is better, in the model's own unit.
        note: Why, in a few words; shown to a person.
    """

    action: Any
    worth: float
    note: str = ""


@frozen
class Role:
    """What somebody at this seat sees and does.

    Attributes:
        sees: The frozen class of the observation.
        does: The frozen class of the action, or a union of such classes.
        options: Sensible answers to an observation, never none, all accepted by the model. Greedy
            and random policies and a person's menu live on it.
        optional: The model plays this seat itself when nobody sits there.
        neutral: The answer of somebody who does not decide any more and lets things take their
            course; the first option where the model does not say.
    """

    sees: type
    does: type | UnionType
    options: Callable[[Any], Sequence[Option]] | None = None
    optional: bool = False
    neutral: Callable[[Any], Any] | None = None

    def rest(self, observation: Any) -> Any:
        """Return the neutral answer to an observation.

        Raises:
            UsageError: The role has neither a neutral answer nor options.
        """
        if self.neutral is not None:
            return self.neutral(observation)
        if self.options is None:
            raise UsageError("the role has no neutral answer and offers no options to take one of")
        return self.options(observation)[0].action


@frozen
class Result:
    """How an episode ended.

    Attributes:
        score: The model's score, higher is better.
        ended: The reason the model gave, or "finished" when nothing was left to happen.
        metrics: Further figures by name.
        decisions: How many questions were answered.
        ledger_digest: SHA-256 over the state's ledgers; None for a state without ledgers.
        usage: By role, the sums of what its policy noted under "usage" (calls, tokens, cost).
    """

    score: float
    ended: str
    metrics: Mapping[str, Any]
    decisions: int
    ledger_digest: str | None
    usage: Mapping[str, Mapping[str, float]] = field(factory=dict)


class Run:
    """One episode: a model, a seed, and the answers still to come.

    Args:
        model: The frozen parameters.
        seed: A whole number of at least 0.
        seats: Who sits in; None stands for the model's own choice.

    Raises:
        UsageError: A seat the model does not have, a seat it needs left empty, or an odd seed.
    """

    def __init__(
        self, model: Model[Any], seed: int = 0, seats: Sequence[str] | frozenset[str] | None = None
    ) -> None:
        if type(seed) is not int or seed < 0:
            raise UsageError(f"seed {seed!r} was given; a seed is a whole number of at least 0")
        self.model = model
        self.roles = model.roles
        self.decisions = 0
        self._codec = {name: codec(role.does) for name, role in self.roles.items()}
        self._patience = getattr(model, "patience", PATIENCE)
        self._open: list[Decision] = []
        self._asked_now: dict[str, int] = {}
        self._instant = -1
        self.world = World(seed, seated(model, seats))
        self.state = model.begin(self.world)

    def advance(self) -> list[Decision]:
        """Move the clock to the next instant with open decisions and hand them out together.

        Returns:
            The decisions in the order in which they were asked; empty once the episode has ended.

        Raises:
            Unanswered: Decisions handed out before have no answer yet.
            Stuck: A role is asked more often at one instant than the model allows.
        """
        self._release()
        world, queue = self.world, self.world._queue  # noqa: SLF001
        step = world.step
        while not world.ended:
            if (
                world.asked
                and (not queue or queue[0][0] > world._now or queue[0][1] >= world.urgent)  # noqa: SLF001
                and self._hand_out()
            ):
                return self._open
            if not queue:
                world.end("finished")
                break
            step()
        world.log.info("episode ended", reason=world.ended, decisions=self.decisions)
        return []

    @property
    def open(self) -> list[Decision]:
        """The decisions handed out last that have no answer yet."""
        return [decision for decision in self._open if not decision.wire]

    def answer(self, decision: Decision, action: Any) -> None:
        """Answer an open decision; nothing moves before `advance` is called.

        Args:
            decision: One of those handed out last.
            action: An instance of a class the role does, or its tagged object (a mapping).

        Raises:
            WrongAction: The action is not in the role's schema.
            UsageError: The decision is not open.
        """
        if decision not in self._open or decision.wire:
            raise UsageError(f"the decision of {decision.role!r} is not open")
        try:
            decision.action, decision.wire = self._codec[decision.role].take(action)
        except WrongAction as wrong:
            raise WrongAction(
                f"{decision.role!r} answered at t={self.world.now}: {wrong}"
            ) from None

    def result(self) -> Result:
        """Sum up an ended episode.

        Raises:
            UsageError: It has not ended.
            WrongResult: The model's score is no finite number, or a metric is no JSON value.
        """
        if not self.world.ended:
            raise UsageError("the episode still runs: advance until it hands out no decision")
        return Result(
            score=_score(self.model.score(self.state)),
            ended=self.world.ended,
            metrics=_metrics(self.model.metrics(self.state)),
            decisions=self.decisions,
            ledger_digest=_digest(getattr(self.state, "ledgers", ())),
        )

    def _release(self) -> None:
        for decision in self._open:
            if not decision.wire:
                raise Unanswered(
                    f"{decision.role!r} has not answered at t={self.world.now}; answer every "
                    "decision before the clock moves on"
                )
        debug = self.world.log.debug
        for decision in self._open:
            debug("answered", role=decision.role, action=decision.action)
            decision.settle(decision.action)
        self.decisions += len(self._open)
        self._open = []

    def _hand_out(self) -> list[Decision]:
        world = self.world
        now: Any = world._now  # noqa: SLF001
        for decision in world.take_asked():
            if decision.callbacks:
                self._count(decision.role, now)
                decision.observation = decision.observe()
                self._open.append(decision)
            else:
                decision.withdraw()
        return self._open

    def _count(self, role: str, now: int) -> None:
        """Count the questions of one instant; a second one to the same role is rare."""
        if now != self._instant:
            self._instant, self._asked_now = now, {role: 1}
            return
        self._asked_now[role] = count = self._asked_now.get(role, 0) + 1
        if count > self._patience:
            raise Stuck(
                f"{role!r} was asked {count} times at t={now} and time does not move on; "
                f"the model's patience is {self._patience}"
            )


def seated(model: Model[Any], seats: Sequence[str] | frozenset[str] | None) -> frozenset[str]:
    """Check who sits in: only roles the model has, and every role it cannot play itself."""
    taken = frozenset(lead(model) if seats is None else seats)
    for name in sorted(taken - model.roles.keys()):
        raise UsageError(f"there is no role {name!r}; {possible(name, model.roles)}")
    for name, role in model.roles.items():
        if name not in taken and not role.optional:
            raise UsageError(f"role {name!r} needs somebody to decide; give it a policy")
    return taken


def _score(given: Any) -> float:
    try:
        score = float(given)
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise WrongResult(f"the model's score is {given!r}; a score is a finite number")
    return score


def _metrics(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return metrics as a record will hold them; what is not finite is not known."""
    try:
        plain: dict[str, Any] = to_plain(dict(given))
    except (TypeError, ValueError) as fault:
        raise WrongResult(f"the model's metrics are no JSON values: {fault}") from None
    return plain


def _digest(ledgers: Sequence[Any]) -> str | None:
    if not ledgers:
        return None
    return hashlib.sha256("".join(ledger.digest() for ledger in ledgers).encode()).hexdigest()
