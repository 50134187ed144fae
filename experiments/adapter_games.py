"""Which episodes are played through every adapter? Those of one seat whose answers are known."""

from collections.abc import Callable
from functools import cache
from typing import Any

from attrs import frozen

from desim import catalog, play
from desim.adapters.seat.setup import Setup
from desim.schema import TAG, tag, to_plain

#: Worlds, the seat that is played, and the policy whose answers are played again.
GAMES = (
    ("beer_game", "poisson", "retailer", "last_demand"),
    ("yc_bench", "direct", "founder", "greedy"),
)

#: The seed of all episodes. With it both worlds end after about as many decisions.
SEED = 2

#: Plays an episode and returns its ledger digest.
Work = Callable[[], str | None]


@frozen
class Game:
    """An episode of one seat, whose answers are known.

    Attributes:
        model: The model's name.
        preset: Its preset.
        seat: The role that is played; the model plays the others.
        answers: The tagged objects of its actions.
        digest: The ledger digest at the end.
    """

    model: str
    preset: str
    seat: str
    answers: list[dict[str, Any]]
    digest: str | None

    @classmethod
    @cache
    def of(cls, model: str, preset: str, seat: str, policy: str) -> "Game":
        """Return the episode of a policy."""
        episode = play(catalog.model(model, preset), {seat: policy}, SEED, keep_state=False)
        assert episode.result is not None
        answers = [{TAG: tag(type(one.action)), **to_plain(one.action)} for one in episode.steps]
        return cls(model, preset, seat, answers, episode.result.ledger_digest)

    def __str__(self) -> str:
        return f"{self.model}/{self.preset} ({self.seat}, {len(self.answers)} steps)"

    @property
    def setup(self) -> Setup:
        """The setup that an adapter plays."""
        return Setup.of(self.model, self.preset, seats=self.seat)

    @property
    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """The answers as calls of tools: names and arguments."""
        return [
            (one[TAG], {key: each for key, each in one.items() if key != TAG})
            for one in self.answers
        ]
