"""Walks without wind, of whose scores something is known: `greedy` goes 6 places in three steps."""

from typing import Any, ClassVar

from attrs import frozen
from support.small_worlds import Walk

from desim.catalog.known_scores import KnownBound, KnownScore, KnownScores, fingerprint
from desim.catalog.mean_bound import MeanBound
from desim.catalog.presets import from_preset

MEASURED, ROUND, WRONG = (f"support.known_worlds:{name}" for name in ("Measured", "Round", "Wrong"))

#: A bound that is not reached, one that is, none, and a seed on which nothing can be gained.
SHORT = {
    0: KnownScore(0, 6, "greedy", KnownBound(8, "relaxation")),
    1: KnownScore(2, 6, "support.small_worlds:Seer", KnownBound(6, "proved")),
    2: KnownScore(6, 6, "greedy"),
    3: KnownScore(5, 5.5, "random"),
}

#: A fair bound of the same walk.
FAIR = MeanBound(7.25, "estimated", 0.5, "greedy", 1.0, 0.25, "100:200")


def known(model: type, preset: str, by_seed: dict[int, KnownScore], **changes: Any) -> KnownScores:
    """What is known of a preset of a walk."""
    facts = {
        "fingerprint": fingerprint(from_preset(model, preset)),
        "desim": "1.0",
        "roles": (("walker",),),
        "floor": "random",
        "played": {"greedy": 1, "random": 20},
        "knows": {"support.small_worlds:Seer": "state"},
    }
    return KnownScores(**{**facts, **changes}, by_seed=by_seed)  # type: ignore[arg-type]


@frozen
class Measured(Walk):
    """On seed 2 of the first preset and everywhere in the second nothing can be gained."""

    wind: float = 0.0

    scores: ClassVar[dict[int, KnownScore]] = SHORT

    @classmethod
    def known_scores(cls, preset: str) -> KnownScores | None:
        """Return four seeds of one preset, and three of the other."""
        flat = dict.fromkeys(range(3), KnownScore(18, 18, "greedy"))
        return known(cls, preset, cls.scores if preset == "short" else flat)


@frozen
class Round(Measured):
    """The same under another name."""


@frozen
class Wrong(Measured):
    """A bound that `greedy` exceeds."""

    scores: ClassVar[dict[int, KnownScore]] = dict.fromkeys(
        range(4), KnownScore(0, 4, "random", KnownBound(5, "proved"))
    )


@frozen
class Stale(Measured):
    """Data of other parameters."""

    @classmethod
    def known_scores(cls, preset: str) -> KnownScores | None:
        """Return data with the fingerprint of another preset."""
        return known(Measured, "long" if preset == "short" else "short", cls.scores)
