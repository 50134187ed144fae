"""What does tuning the arguments of a policy gain, on seeds that the search has not seen?

A search keeps the highest of many means, so its score on the training seeds is biased upwards. The
result therefore includes the scores on held-out seeds, none of which is a training seed.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from desim import Model, Rows, catalog, sweep
from desim.episodes.spec import Spec
from desim.errors import UsageError, possible
from desim.statistics.comparison import paired
from desim.statistics.intervals import Interval, interval

if TYPE_CHECKING:  # importing numpy.typing takes long
    from numpy.typing import NDArray

__all__ = ["Box", "Sample", "Tuned", "tune"]

#: Lowest and highest value by argument.
Box = Mapping[str, tuple[float, float]]
#: Called after every generation with the best spec so far and its mean score.
Progress = Callable[[str, float], object]

#: A value counts as on the edge within this distance of an end, relative to the range.
_EDGE = 0.05


@frozen
class Sample:
    """Scores of a policy before and after tuning, on the same seeds.

    Attributes:
        seeds: In the order of the scores.
        start: Scores of the policy as given.
        best: Scores of the policy as tuned.
    """

    seeds: tuple[int, ...]
    start: tuple[float, ...]
    best: tuple[float, ...]

    @property
    def score(self) -> Interval:
        """The mean score of the tuned policy."""
        return interval(self.best)

    @property
    def gain(self) -> Interval:
        """The gain of tuning, paired by seed."""
        return paired(self.best, self.start)


@frozen
class Tuned:
    """The result of a search.

    Attributes:
        start: Spec of the policy as given.
        best: Spec of the policy as tuned.
        edges: Arguments on an edge of their range: the range limits the result, not the world.
        training: Scores on the seeds of the search.
        held_out: Scores on the other seeds.
        tried: Number of policies that were played on the training seeds.
    """

    start: str
    best: str
    edges: tuple[str, ...]
    training: Sample
    held_out: Sample
    tried: int

    @property
    def optimism(self) -> float:
        """Mean score on training seeds less that on held-out seeds; luck of seeds included."""
        return self.training.score.mean - self.held_out.score.mean

    @property
    def optimism_of_gain(self) -> float:
        """Gain on training seeds less that on held-out seeds: the bias of the search."""
        return self.training.gain.mean - self.held_out.gain.mean


def tune(
    model: Model[Any] | str,
    policy: str,
    box: Box,
    training: Iterable[int],
    held_out: Iterable[int],
    *,
    members: int = 5,
    generations: int = 5,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Tuned:
    """Search a box for the arguments with the highest mean score, by differential evolution.

    The start is a member of the first generation, so the result is at least as good on the training
    seeds. Values are rounded to three digits. The same call returns the same policy.

    Args:
        model: A model, or a name such as `enterprise_arena/paper`.
        policy: Spec of the start.
        box: Range by argument; it must contain the start.
        training: Seeds of the search.
        held_out: Other seeds, on which the result is played afterwards.
        members: Policies of a generation for each argument; a generation has at least 5.
        generations: Number of generations after the first.
        seed: Of the search.
        jobs: Worker processes, as in `sweep`.
        progress: Called after every generation.

    Raises:
        UsageError: A seed is in both sets, a range is empty, an argument is unknown, not a number
            or starts outside its range, or an episode failed; otherwise as `sweep`.
    """
    seeds, others = _disjoint(training, held_out)
    start = _start(model, policy, box)
    trials = _Trials(model, Spec.read(policy), box, seeds, jobs)

    def report(point: "NDArray[Any]", *_: object, **__: object) -> None:
        if progress:
            spec = trials.spec(point)
            progress(spec, trials.means[spec])

    point = _searched(trials.losses, box, start, members, generations, seed, report)
    first, best = trials.spec(start), trials.spec(point)
    if trials.means[best] <= trials.means[first]:
        best = first
    known, unseen = (_sample(model, first, best, some, jobs) for some in (seeds, others))
    return Tuned(first, best, _edges(box, best), known, unseen, len(trials.means))


def _searched(
    losses: Callable[..., list[float]],
    box: Box,
    start: Sequence[float],
    members: int,
    generations: int,
    seed: int,
    report: Callable[..., None],
) -> Sequence[float]:
    """Return the best point of a differential evolution that plays a generation as one sweep."""
    import numpy as np
    from scipy.optimize import differential_evolution

    # scipy-stubs has no type for a loss of many points at once.
    search: Any = differential_evolution
    result = search(
        losses,
        list(box.values()),
        x0=start,
        popsize=members,
        maxiter=generations,
        tol=0,
        polish=False,
        updating="deferred",
        vectorized=True,
        callback=report,
        seed=np.random.default_rng(seed),
    )
    point: list[float] = result.x.tolist()
    return point


class _Trials:
    """Policies in a box and their mean scores; each is played once."""

    def __init__(self, model: Any, spec: Spec, box: Box, seeds: Sequence[int], jobs: int) -> None:
        self.means: dict[str, float] = {}
        self._model, self._spec, self._box = model, spec, box
        self._seeds, self._jobs = seeds, jobs

    def spec(self, point: Iterable[float]) -> str:
        """Return the spec of the policy at a point of the box."""
        given = dict(self._spec.arguments)
        for (name, (low, high)), value in zip(self._box.items(), point, strict=True):
            given[name] = _written(min(max(float(f"{value:.3g}"), low), high))
        return str(Spec(self._spec.name, given))

    def losses(self, points: "NDArray[Any]") -> list[float]:
        """Return the negative mean score of every point; points are columns."""
        specs = [self.spec(point) for point in points.T.tolist()]
        new = [spec for spec in dict.fromkeys(specs) if spec not in self.means]
        if new:
            rows = _played(self._model, new, self._seeds, self._jobs)
            for spec in new:
                self.means[spec] = interval(rows.where(policy=spec).values("score")).mean
        return [-self.means[spec] for spec in specs]


def _played(model: Any, specs: Sequence[str], seeds: Sequence[int], jobs: int) -> Rows:
    rows = sweep(model, list(specs), seeds, jobs=jobs)
    if rows.failed:
        raise UsageError(f"an episode failed: {rows.failed[0]['error']}")
    return rows


def _sample(model: Any, start: str, best: str, seeds: tuple[int, ...], jobs: int) -> Sample:
    rows = _played(model, list(dict.fromkeys((start, best))), seeds, jobs)
    scores = [tuple(rows.where(policy=spec).values("score")) for spec in (start, best)]
    return Sample(seeds, *scores)


def _disjoint(
    training: Iterable[int], held_out: Iterable[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    seeds, others = tuple(training), tuple(held_out)
    if shared := set(seeds) & set(others):
        raise UsageError(
            f"seed {min(shared)} is in both training and held-out seeds; they must differ"
        )
    return seeds, others


def _start(model: Any, policy: str, box: Box) -> list[float]:
    """Return the starting point: the arguments of the spec, or the policy's defaults."""
    spec = Spec.read(policy)
    instance = catalog.model(model) if isinstance(model, str) else model
    known = inspect.signature(catalog.policy(spec.name, instance)).parameters
    point = []
    for name, (low, high) in box.items():
        if name not in known:
            raise UsageError(
                f"policy {spec.name!r} has no argument {name!r}; {possible(name, known)}"
            )
        value = _number(policy, name, spec.arguments.get(name, known[name].default))
        if not low <= value <= high or low == high:
            raise UsageError(f"{name} starts at {value:g}; give a range around it, low first")
        point.append(value)
    return point


def _number(policy: str, name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} of {policy!r} starts at {value!r}; it is not a number") from None


def _edges(box: Box, spec: str) -> tuple[str, ...]:
    given = Spec.read(spec).arguments
    return tuple(
        name
        for name, (low, high) in box.items()
        if min(float(given[name]) - low, high - float(given[name])) <= _EDGE * (high - low)
    )


def _written(value: float) -> str:
    """Return a value as a person would write it.

    >>> _written(20000000.0), _written(0.125)
    ('20_000_000', '0.125')
    """
    return f"{value:_.0f}" if value.is_integer() else f"{value:g}"
