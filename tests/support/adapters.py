"""Episodes that every adapter must play exactly as `desim.play` does."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from attrs import field, frozen

import desim
from desim import catalog
from desim.adapters.seat.setup import Setup
from desim.schema import to_plain


@frozen
class Case:
    """A world, the seats that an adapter plays, and by which policy its answers are made.

    Attributes:
        model: The model's name.
        preset: Its preset.
        seats: The roles that the adapter plays.
        policy: Decides for the seats in the episode that is played directly.
        others: The policies of the other roles; empty for those that an adapter gives them.
        params: Parameters that differ from the preset's.
    """

    model: str
    preset: str
    seats: tuple[str, ...]
    policy: str = "greedy"
    others: str = ""
    params: Mapping[str, Any] = field(factory=dict, hash=False)

    def __str__(self) -> str:
        return f"{self.model}/{self.preset}:{'+'.join(self.seats)}"

    def setup(self, **options: Any) -> Setup:
        """Return what `Setup.of` returns for the case."""
        return Setup.of(self.model, self.preset, **{**self.arguments(), **options})

    def arguments(self) -> dict[str, Any]:
        """Return the arguments after model and preset that adapters pass to `Setup.of`."""
        others = {"others": self.others} if self.others else {}
        return {"seats": self.seats, "params": dict(self.params), **others}


@frozen
class Played:
    """An episode that was played directly.

    Attributes:
        answers: The tagged objects of the seats' actions, by seat, in their order.
        score: The score.
        digest: The ledger digest.
    """

    answers: Mapping[str, list[dict[str, Any]]]
    score: float
    digest: str | None


CASES = (
    Case("beer_game", "poisson", ("retailer",), "last_demand", "order_up_to"),
    Case("beer_game", "poisson", ("retailer", "wholesaler", "distributor", "factory"), "sterman"),
    Case("yc_bench", "direct", ("founder",)),
    Case("enterprise_arena", "capped", ("cfo",), "raise_below"),
    Case("edt", "interactive", ("manager",)),
    Case("edt", "published", ("manager",)),
    Case("consulting", "published", ("candidate",), "framework"),
    Case("consulting", "published", ("candidate", "interviewer"), "framework"),
    Case("reasoning", "small", ("analyst",)),
    Case("enterprise", "small", ("controller", "treasury.cfo", "plant.retailer")),
    Case("enterprise", "small", ("plant.retailer",)),
)


@cache
def played(case: Case, seed: int) -> Played:
    """Return the episode of a case, played by `desim.play`."""
    setup = case.setup()
    mine = {seat: _policy(case, seat) for seat in case.seats}
    episode = desim.play(
        catalog.model(case.model, case.preset), {**setup.others, **mine}, seed, keep_state=False
    )
    answers: dict[str, list[dict[str, Any]]] = {seat: [] for seat in case.seats}
    for step in episode.steps:
        if step.role in answers:
            answers[step.role].append(_tagged(step.action))
    assert episode.result is not None
    return Played(answers, episode.result.score, episode.result.ledger_digest)


def _policy(case: Case, seat: str) -> str:
    return "scripted" if seat == "interviewer" else case.policy


def _tagged(action: Any) -> dict[str, Any]:
    from desim.schema import tag

    return {"do": tag(type(action)), **to_plain(action)}
