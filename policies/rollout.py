"""Rollouts: each option is played ahead in redrawn futures, and the best on average is taken."""

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from attrs import define, field
from attrs.validators import ge, le

from desim import Option, Policy, Role, Seat
from desim.core.policy import decide_as
from desim.episodes.ahead import Simulator
from desim.episodes.lineup import policy_at
from desim.errors import UsageError
from desim.schema import codec
from policies.greedy import check_options, options

if TYPE_CHECKING:  # numpy takes longer to import than all of desim
    from numpy import float64
    from numpy.typing import NDArray


@define
class Rollout(Policy):
    """Take the option that plays out best if a base rule goes on, on average over redrawn futures.

    The candidates are what the base decides and the role's options of the highest value. Each is
    answered in the same futures, and the base decides everything after it. Another candidate than
    the base's is taken where its mean difference to it is the largest, and above *margin* of its
    standard errors: the best of several noisy means is too high.

    It knows the `rules`, as its futures follow the world's constants, and the `state` where a
    redrawn future keeps facts that no role observes (the world's README says which).

    Attributes:
        base: The rule to improve: a spec in which `+` stands for the comma, such as
            `base_stock+target=20`.
        depth: Ticks of the episode's clock after which a rollout ends, with the score so far; 0
            plays to the end. A model whose score says nothing before its end needs 0.
        samples: Futures for each decision, 2 to 100,000.
        candidates: Options beside the base's action, those of the highest value, 1 to 1,000.
        margin: Standard errors by which an option must be better than the base's action.
        others: The spec for the seats of other roles; empty stands for *base*.
        notes: The basis of the last decision.
    """

    draws = True
    looks_ahead = True
    takes_options = True
    takes_role = True

    base: str = "greedy"
    depth: int = field(default=0, validator=ge(0))
    samples: int = field(default=16, validator=[ge(2), le(100_000)])
    candidates: int = field(default=8, validator=[ge(1), le(1_000)])
    margin: float = field(default=1.0, validator=ge(0))
    others: str = ""
    notes: dict[str, Any] = field(init=False, factory=dict, repr=False)
    #: Decides in the episode, as far as no other candidate is better.
    _usual: Policy = field(init=False, repr=False)
    #: Returns an action and its tagged object as JSON.
    _wire: Any = field(init=False, repr=False)
    _simulator: Simulator | None = field(init=False, default=None)

    def seated(self, seat: Seat) -> None:
        """Build the base.

        Raises:
            UsageError: The role offers no options, or the base cannot be built.
        """
        check_options(seat)
        self._usual = policy_at(_spec(self.base), seat)
        self._wire = codec(seat.spec.action).take

    @staticmethod
    def inner_policies(arguments: Mapping[str, str]) -> Iterator[str]:
        """Yield the specs of the base and of the other seats."""
        yield from (_spec(arguments[name]) for name in ("base", "others") if arguments.get(name))

    def take_simulator(self, simulator: Simulator) -> None:
        """Take the simulator of the episode.

        Raises:
            UsageError: A rule cannot play ahead, or not in the seat that it is given.
        """
        self._simulator = simulator
        simulator.lineup(self._seats(simulator), 0)

    def decide(self, observation: Any, role: Role | None = None) -> Any:
        """Return the base's action, or an option that is better."""
        if self._simulator is None:
            raise UsageError("rollout needs an episode to play ahead from; play it with desim.play")
        usual = decide_as(self._usual, role, observation)
        actions = self._actions(options(role, observation), usual)
        if len(actions) == 1:
            self.notes = {}
            return usual
        scores = self._simulator.scores(
            observation,
            actions,
            self._seats(self._simulator),
            futures=self._simulator.futures(self.samples),
            ticks=self.depth or None,
        )
        return actions[self._best(scores)]

    def _seats(self, simulator: Simulator) -> dict[str, str]:
        others = dict.fromkeys(simulator.roles, _spec(self.others or self.base))
        return {**others, simulator.role: _spec(self.base)}

    def _actions(self, offered: Sequence[Option], usual: Any) -> list[Any]:
        """Return the base's action first, then other options, the highest values first."""
        by_value = sorted(offered, key=attrgetter("value"), reverse=True)
        actions = {self._wire(usual)[1]: usual}
        for option in by_value:
            actions.setdefault(self._wire(option.action)[1], option.action)
        return [*actions.values()][: self.candidates + 1]

    def _best(self, scores: "NDArray[float64]") -> int:
        """Return the place of the candidate to take, 0 for the base's action."""
        gains = scores[1:] - scores[0]
        means = gains.mean(axis=1)
        errors = gains.std(axis=1, ddof=1) / sqrt(self.samples)
        sure = means > self.margin * errors
        best = int((means * sure).argmax())
        taken = best + 1 if sure[best] else 0
        gain, error = (float(means[best]), float(errors[best])) if taken else (0.0, 0.0)
        self.notes = {"taken": taken, "gain": gain, "error": error}
        return taken


def _spec(text: str) -> str:
    return text.replace("+", ",")
