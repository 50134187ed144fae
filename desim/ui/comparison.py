"""The baselines' scores on the same model and seed, shown at the end of a person's game."""

import threading
from collections.abc import Mapping
from typing import Any

from attrs import asdict, define, field, frozen

from desim import catalog
from desim.core.protocols import Model
from desim.episodes.episode import Episode
from desim.episodes.lineup import assign
from desim.episodes.play import play
from desim.episodes.spec import read_policies
from desim.ui.layout import TextTable, text_table

__all__ = ["Baseline", "BaselineComparison"]


@frozen
class Baseline:
    """One baseline's episode.

    Attributes:
        policy: Its spec.
        score: Higher is better; None if the episode failed.
        ended: Why the episode ended, or why it failed.
    """

    policy: str
    score: float | None
    ended: str


@define(eq=False)
class BaselineComparison:
    """The baselines of a model, played one after another on the seed of a person's game.

    Attributes:
        model: The model.
        seed: The seed of the person's game.
        seats: The person's roles, which a baseline takes unless its spec or class names others.
        others: The policies of other roles.
        names: The baselines' specs.
        played: The baselines that have played so far.
    """

    model: Model[Any]
    seed: int
    seats: tuple[str, ...]
    others: Mapping[str, Any]
    names: tuple[str, ...] = field(init=False)
    played: list[Baseline] = field(factory=list)
    _thread: threading.Thread | None = None

    def __attrs_post_init__(self) -> None:
        self.names = catalog.baselines(self.model)

    @property
    def done(self) -> bool:
        """Whether all baselines have played."""
        return len(self.played) == len(self.names)

    def start(self) -> None:
        """Play all baselines in a thread; a second call does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self.play, daemon=True)
            self._thread.start()

    def play(self) -> None:
        """Play all baselines."""
        for name in self.names:
            self.played.append(self._episode_of(name))

    def ranked(self, episode: Episode) -> TextTable:
        """Rank the person's episode among the baselines that have played, best first."""
        you = Baseline("you", episode.score, episode.ended)
        rows = sorted((you, *self.played), key=_order)
        ranks = [{"rank": rank, **asdict(row)} for rank, row in enumerate(rows, 1)]
        return text_table("Scores on the same seed, higher is better", ranks)

    def _episode_of(self, name: str) -> Baseline:
        try:
            policies = {**self.others, **assign(self.model, read_policies((name,)), self.seats)}
            episode = play(self.model, policies, self.seed)
        except Exception as fault:  # noqa: BLE001 (the other baselines play even if one fails)
            return Baseline(name, None, str(fault))
        return Baseline(name, episode.score, episode.ended)


def _order(row: Baseline) -> tuple[bool, float]:
    """Sort higher scores first, rows without a score last."""
    return row.score is None, -(row.score or 0)
