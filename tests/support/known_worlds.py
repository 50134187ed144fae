"""Walks without wind, of whose scores something is known: `greedy` goes 6 places in three steps."""

from typing import Any

from attrs import frozen
from support.small_worlds import Walk

from desim.catalog import known_scores
from desim.catalog.known_scores import (
    KnownScore,
    KnownScores,
    MeanBound,
    fingerprint,
)
from desim.catalog.presets import from_preset

MEASURED, ROUND, WRONG = (f"support.known_worlds:{name}" for name in ("Measured", "Round", "Wrong"))

#: A bound that is not reached, one that is, none, and a seed on which nothing can be gained.
SHORT = {
    0: KnownScore(0.0, 6.0, "greedy", 8.0, "relaxation"),
    1: KnownScore(2.0, 6.0, "support.small_worlds:Seer", 6.0, "proved"),
    2: KnownScore(6.0, 6.0, "greedy"),
    3: KnownScore(5.0, 5.5, "random"),
}

#: A fair bound of the same walk.
FAIR = MeanBound(7.25, "estimated", 0.5, "greedy", 1.0, 0.25, "100:200")


def known(model: type, preset: str, by_seed: dict[int, KnownScore], **changes: Any) -> KnownScores:
    """What is known of a preset of a walk."""
    scores = {str(seed): one for seed, one in by_seed.items()}
    facts = {
        "fingerprint": fingerprint(from_preset(model, preset)),
        "desim": "1.0",
        "roles": (("walker",),),
        "floor": "random",
        "played": {"greedy": 1, "random": 20},
        "knows": {"support.small_worlds:Seer": "state"},
    }
    return KnownScores(**{**facts, **changes}, scores=scores)  # type: ignore[arg-type]


@frozen
class Measured(Walk):
    """On seed 2 of the first preset and everywhere in the second nothing can be gained."""

    wind: float = 0.0


@frozen
class Round(Measured):
    """The same under another name."""


@frozen
class Wrong(Measured):
    """A bound that `greedy` exceeds."""


@frozen
class Stale(Measured):
    """Data of other parameters."""


#: A bound that `greedy` exceeds, of four seeds.
_EXCEEDED = dict.fromkeys(range(4), KnownScore(0, 4, "random", 5, "proved"))

_FLAT = dict.fromkeys(range(3), KnownScore(18, 18, "greedy"))

#: By class what is known of four seeds of one preset, and three of the other.
KNOWN = {
    model: {"short": known(model, "short", by_seed), "long": known(model, "long", _FLAT)}
    for model, by_seed in {Measured: SHORT, Round: SHORT, Wrong: _EXCEEDED}.items()
}
KNOWN[Stale] = {"short": known(Measured, "long", SHORT), "long": known(Measured, "short", SHORT)}

# As if it had been read from a file beside each class, which all share this folder.
known_scores.READ.update(KNOWN)
