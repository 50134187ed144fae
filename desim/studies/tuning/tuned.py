"""The result of a tuning: scores of the best and the default parameters, as table and as data."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from desim.show.column import Direction
from desim.show.estimates import better_note, estimate_cells, number_cell
from desim.show.table import Table, Tabular
from desim.statistics.intervals import Interval, interval
from desim.statistics.pairing import paired

#: Scores by place of the seed; None where an episode failed and its model declares no worst score.
Scores = Sequence[float | None]


@frozen
class Setting:
    """Scores of one setting of the parameters.

    Attributes:
        parameters: The values found by the search; none for the defaults.
        training: Scores on the seeds of the search.
        held_out: Scores on the other seeds.
    """

    parameters: Mapping[str, Any]
    training: tuple[float | None, ...] = field(repr=False)
    held_out: tuple[float | None, ...] = field(repr=False)


@frozen(repr=False)
class Tuned(Tabular):
    """The result of a search.

    Means are withheld (None) where an episode failed and the model declares no worst score.

    Attributes:
        model: Its name and preset.
        policy: The policy as it was given.
        ranges: The ranges as texts, by parameter.
        seeds: The seeds of the search.
        held_out_seeds: The others.
        best: The parameters with the best mean on the training seeds.
        default: The policy and the model without these parameters; None if they have no defaults.
        budget: Episodes that the search might play.
        episodes: Episodes that it played.
        trials: How many points were played; *pruned* of them were stopped before the last seed,
            and *failed* were refused or had an episode that failed without a score.
        exhausted: Whether the search ended because it found no further point.
        edges: Parameters near an end of their range: the range may limit the result.
        figure: What was searched.
        better: Whether higher or lower means are better.
    """

    model: str
    policy: str
    ranges: Mapping[str, str]
    seeds: tuple[int, ...] = field(repr=False)
    held_out_seeds: tuple[int, ...] = field(repr=False)
    best: Setting
    default: Setting | None
    budget: int
    episodes: int
    trials: int
    pruned: int
    failed: int
    exhausted: bool
    edges: tuple[str, ...]
    figure: str = "score"
    better: Direction = "higher"

    @property
    def training(self) -> Interval | None:
        """The mean score of the best parameters on the training seeds; biased upwards."""
        return mean_of(self.best.training)

    @property
    def held_out(self) -> Interval | None:
        """Their mean score on held-out seeds."""
        return mean_of(self.best.held_out)

    @property
    def difference(self) -> Interval | None:
        """Their gain over the defaults on held-out seeds, paired by seed."""
        return gain(self.best.held_out, self.default.held_out) if self.default else None

    @property
    def optimism(self) -> float | None:
        """Mean score on training seeds less that on held-out seeds; luck of seeds included."""
        one, other = self.training, self.held_out
        return one.mean - other.mean if one and other else None

    @property
    def optimism_of_difference(self) -> float | None:
        """Difference on training seeds less that on held-out seeds: the bias of the search."""
        known = gain(self.best.training, self.default.training) if self.default else None
        unseen = self.difference
        return known.mean - unseen.mean if known and unseen else None

    def plain(self) -> dict[str, Any]:
        """Return everything as plain values."""
        from desim.schema import to_plain

        figures = ("training", "held_out", "difference", "optimism", "optimism_of_difference")
        plain: dict[str, Any] = to_plain(self)
        return {**plain, **{name: to_plain(getattr(self, name)) for name in figures}}

    def tables(self) -> tuple[Table]:
        """Return the table of the scores."""
        lines = [
            [name, *estimate_cells(one, sd=False)]
            for name, one in (
                ("best, training seeds", self.training),
                ("best, held-out seeds", self.held_out),
                *self._default_scores(),
            )
        ]
        lines += [[name, number_cell(value), ""] for name, value in self._biases().items()]
        title = f"{self.model}, {self.policy}: best {parameters_text(self.best.parameters)}"
        heads = [self.figure, "mean", "95 % interval"]
        return (Table(heads, lines, title=title, notes=self._notes()),)

    def _default_scores(self) -> list[tuple[str, Interval | None]]:
        if self.default is None:
            return []
        return [
            ("defaults, training seeds", mean_of(self.default.training)),
            ("defaults, held-out seeds", mean_of(self.default.held_out)),
            ("best less defaults, held-out seeds, paired", self.difference),
        ]

    def _biases(self) -> dict[str, float | None]:
        found = {"optimism: training less held out": self.optimism}
        if self.default is not None:
            found["optimism of the difference to the defaults"] = self.optimism_of_difference
        return found

    def _notes(self) -> list[str]:
        played = (
            f"{self.episodes:,} of {self.budget:,} episodes, {self.trials:,} points, "
            f"{self.pruned:,} of them pruned, {self.failed:,} failed; {len(self.seeds)} training "
            f"and {len(self.held_out_seeds)} held-out seeds."
        )
        notes = [*better_note(self.figure, self.better), played]
        if self.exhausted:
            notes.append("The search ended early: it found no further point in the ranges.")
        if self.default is None:
            notes.append("The defaults were not played: some parameter has no default.")
        if self.edges:
            notes.append(f"{', '.join(self.edges)}: near an end of the range, which may limit it.")
        if self.held_out is None:
            notes.append(
                f"An episode on a held-out seed has no {self.figure}, so there is no mean."
            )
        return notes


def mean_of(scores: Scores) -> Interval | None:
    """Return the mean of scores; None if one is missing."""
    known = [score for score in scores if score is not None]
    return interval(known) if len(known) == len(scores) else None


def gain(scores: Scores, against: Scores) -> Interval | None:
    """Return the mean difference, paired by seed; None if a score is missing."""
    if None in scores or None in against:
        return None
    return paired([s or 0.0 for s in scores], [s or 0.0 for s in against])


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """Return parameters as `--set` takes them.

    >>> parameters_text({"amount": 2e7, "policy.target": 18})
    'amount=20000000 policy.target=18'
    """
    return " ".join(f"{name}={_plain_text(value)}" for name, value in parameters.items())


def _plain_text(value: Any) -> str:
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)
