"""The end of a person's game: what the page and the terminal show of it.

Also the games that follow it: again, with the next seed, or as a branch of it.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from attrs import define, field

from desim.core.model import Model
from desim.episodes.replay import trusted_model
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.records.lines import PERSON
from desim.ui.comparison import Baseline, BaselineComparison
from desim.ui.ending.other_games import branched, next_file
from desim.ui.ending.score_place import ScorePlace, place_of
from desim.ui.ending.trails import Trail, TrailReader
from desim.ui.game import Game


@define(eq=False)
class GameEnd:
    """The facts about a game that has ended.

    Attributes:
        model: The model.
        episode: The game.
        file: Its record.
        seats: The person's roles.
        comparison: The baselines in place of the person.
        reader: Reads the trails of all of them.
        place: The place between floor and bound, or why none is known.
        trail: How the person's score came about.
    """

    model: Model[Any]
    episode: Episode
    file: Path
    seats: tuple[str, ...]
    others: Mapping[str, Any]
    comparison: BaselineComparison = field(init=False)
    reader: TrailReader = field(init=False)
    place: ScorePlace | str = field(init=False)
    trail: Trail = field(factory=Trail)
    _thread: threading.Thread | None = None

    def __attrs_post_init__(self) -> None:
        header = self.episode.header
        self.comparison = BaselineComparison(self.model, header.seed, self.seats, self.others)
        self.reader = TrailReader(self.model, self.seats)
        self.place = place_of(self.model, header, self.seats, self.episode.score)

    @classmethod
    def of_game(cls, game: Game) -> Self:
        """Return the end of a game that has ended."""
        assert game.view.episode is not None
        return cls(game.model, game.view.episode, game.file, game.seats, game.others)

    @classmethod
    def of_record(cls, record: str | Path, *, trust: bool = False) -> Self:
        """Return the end of a recorded game; `work` fills it.

        Args:
            record: The whole record of a person's game.
            trust: Whether modules may be imported and files may be opened that the record names.

        Raises:
            BadRecord: It cannot be read, or is not whole.
            UsageError: No person played, or the record names something and is not trusted.
        """
        episode = Episode.read(record)
        header = episode.header
        seats = tuple(role for role, label in header.policies.items() if label == PERSON)
        if not seats:
            raise UsageError(f"{record} is no person's game; its players are {_players(header)}")
        model = trusted_model(record, header, trust=trust)
        others = {role: one for role, one in header.policies.items() if role not in seats}
        return cls(model, episode, Path(record), seats, others)

    def start(self) -> None:
        """Do the work in the background; a second call does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self.work, daemon=True)
            self._thread.start()

    def work(self) -> None:
        """Read the course of the game, and play the baselines."""
        with suppress(BadRecord):  # of other code; the rest of the end is shown
            self.trail = self.reader.replayed(self.episode)
        self.comparison.play()

    def courses(self) -> Iterator[tuple[str, Trail]]:
        """Yield the trails of one chart by name: the person's, and those of two baselines."""
        yield "you", self.trail
        best, median = self.comparison.best, self.comparison.median
        if self.comparison.done:
            yield from _named("best rule", best)
            yield from _named("median rule", None if median is best else median)


class Sitting:
    """The games that a person plays in a row; every tab of a page shows the present one.

    Attributes:
        game: The present game.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self._end: GameEnd | None = None
        self._lock = threading.Lock()

    @property
    def end(self) -> GameEnd:
        """The facts about the end of the present game, which has ended; gathered once."""
        assert self.game.view.episode is not None
        if self._end is None or self._end.episode is not self.game.view.episode:
            self._end = GameEnd.of_game(self.game)
        return self._end

    def again(self, file: Path, seed: int) -> None:
        """Begin another game with the same seats.

        Args:
            file: The record of the game that has ended; another tab may have gone on already.
            seed: The seed of the new game.

        Raises:
            UsageError: No name is left for its record.
        """
        with self._lock:
            if self.game.file == file:
                self._open(next_file(file), seed)

    def branch(self, file: Path, decisions: int) -> None:
        """Begin a game that has the first decisions of the present one, with a record of its own.

        Raises:
            UsageError: The record has fewer decisions, or the new one cannot be written.
        """
        with self._lock:
            if self.game.file == file:
                self._open(branched(file, decisions), self.game.seed)

    def _open(self, file: Path, seed: int) -> None:
        old = self.game
        self.game = old.another(file, seed)
        old.close()

    def close(self) -> None:
        """Close the record of the present game."""
        self.game.close()


def _named(name: str, row: Baseline | None) -> Iterator[tuple[str, Trail]]:
    if row is not None:
        yield f"{name} ({row.policy})", row.trail


def _players(header: Any) -> str:
    return ", ".join(dict.fromkeys(header.policies.values())) or "none"
