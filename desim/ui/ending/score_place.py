"""The place of a score between the floor and the bound that are known for its seed."""

from typing import Any

from attrs import frozen

from desim.catalog.known_scores import BEST_KNOWN, KnownScore, KnownScores
from desim.catalog.presets import from_preset
from desim.core.model import Model
from desim.core.roles import with_knowledge
from desim.errors import UsageError
from desim.records.lines import Header
from desim.rows.known_means import known_scores
from desim.show.labels import estimate_text

_PERCENT = 100


@frozen
class ScorePlace:
    """A score between a floor and a bound.

    Attributes:
        score: The score.
        known: Floor, best known score and bound of the seed.
        floor_policy: The policy whose score is the floor.
        best_policy: The policy of the best known score, with what it knows.
    """

    score: float
    known: KnownScore
    floor_policy: str
    best_policy: str

    @property
    def ceiling(self) -> float:
        """The bound; without one the best known score."""
        return self.known.ceiling

    @property
    def share(self) -> float:
        """The part of the way from the floor to the bound; below 0 for a score below the floor."""
        return (self.score - self.known.floor) / (self.ceiling - self.known.floor)

    @property
    def floor_label(self) -> str:
        """The floor, with its policy."""
        return f"floor, {estimate_text(self.known.floor)} ({self.floor_policy})"

    @property
    def ceiling_label(self) -> str:
        """The bound and whether it is proved, or the best known score and its policy."""
        kind = self.known.ceiling_kind
        value = estimate_text(self.ceiling)
        if kind == BEST_KNOWN:
            return f"best known score, {value} ({self.best_policy})"
        return f"bound, {value} ({'proved' if kind == 'proved' else 'perhaps out of reach'})"

    @property
    def sentence(self) -> str:
        """The place in words."""
        way = f"from the {self.floor_label}, to the {self.ceiling_label}"
        if self.share < 0:
            below = f"Your score is below the {self.floor_label}"
            return f"{below}; above that lies the {self.ceiling_label}."
        if self.share > 1:
            return f"Your score is above the {self.ceiling_label}."
        return f"You went {_PERCENT * self.share:.0f} % of the way {way}."


def place_of(
    model: Model[Any], header: Header, seats: tuple[str, ...], score: float
) -> ScorePlace | str:
    """Return the place of the score of a game; a sentence where no scale is known.

    Args:
        model: The model.
        header: The header of the game.
        seats: The person's roles.
        score: The score of the game.
    """
    scores = _known_scores(model, header.preset)
    if scores is None:
        return "No floor and no bound are known for these parameters."
    if {*header.policies} != {*seats}:
        return "Floor and bound are known only for games in which you play all roles that decide."
    known = scores.of(header.seed)
    if tuple(sorted(seats)) not in scores.roles or known is None:
        return f"No floor and no bound are known for these seats and seed {header.seed}."
    if known.ceiling <= known.floor:
        return "Nothing can be gained here: the floor is the best score."
    best = with_knowledge(known.policy, scores.knows.get(known.policy))
    return ScorePlace(score, known, scores.floor, best)


def _known_scores(model: Model[Any], preset: str) -> KnownScores | None:
    """Return the known scores of a preset if they are those of a model."""
    try:
        named = from_preset(type(model), preset) if preset else None
        # The model of a record has whole numbers as floats, which give another fingerprint.
        return known_scores(named, preset) if named is not None and named == model else None
    except UsageError:  # the data are damaged
        return None
