"""Tunes arguments of a policy, and says what the tuning is worth where it has not looked.

A search keeps the best of many means, so the score it reports on its own seeds is too good. The
result therefore holds a second set of seeds, which must share none with the first.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from desim import Model, Rows, catalog, sweep
from desim.errors import UsageError, possible
from desim.seating import Spec
from desim.stats import Interval, interval, paired

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Box", "Sample", "Tuned", "tune"]

#: Lowest and highest value by argument.
Box = Mapping[str, tuple[float, float]]
#: Called with the best specs so far and the mean score of it, after every generation.
Progress = Callable[[str, float], object]

#: A value this close to an end of its range, in parts of the range, lies on it.
_EDGE = 0.05


@frozen
class Sample:
    """Scores of the policy as it was and as it was found, on the same seeds.

    Attributes:
        seeds: In the order of the scores.
        start: Scores of the policy as given.
        found: Scores of the policy as tuned.
    """

    seeds: tuple[int, ...]
    start: tuple[float, ...]
    found: tuple[float, ...]

    @property
    def score(self) -> Interval:
        """The mean score of the tuned policy."""
        return interval(self.found)

    @property
    def gain(self) -> Interval:
        """What tuning adds, paired by seed."""
        return paired(self.found, self.start)


@frozen
class Tuned:
    """What a search found.

    Attributes:
        start: Spec of the policy as given.
        found: Spec of the policy as tuned.
        edges: Arguments that lie on an end of their range: there the range, and not the world,
            bounds what was found.
        training: The seeds that were tuned on.
        held_out: Seeds that the search has not seen.
        tried: Different policies played on the training seeds.
    """

    start: str
    found: str
    edges: tuple[str, ...]
    training: Sample
    held_out: Sample
    tried: int

    @property
    def optimism(self) -> float:
        """Mean score on training less that on held-out seeds; the seeds' own luck is in it."""
        return self.training.score.mean - self.held_out.score.mean

    @property
    def optimism_of_gain(self) -> float:
        """Gain on training less that on held-out seeds: the part that the search made up."""
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

    The start is a member of the first generation, so the result is no worse than it on training
    seeds. Values are tried to three digits. The same call finds the same policy.

    Args:
        model: A model or its name, perhaps with `/preset` behind.
        policy: Spec to start from.
        box: Range by argument; the start must lie in it.
        training: Seeds to tune on.
        held_out: Seeds to report on; none of the others.
        members: Policies of a generation for each argument; at least 5 are played in any case.
        generations: After the first.
        seed: Of the search.
        jobs: Worker processes, as in `sweep`.
        progress: Called after every generation.

    Raises:
        UsageError: Seeds are shared, a range is empty, an argument is unknown, no number, or
            starts outside; as `sweep` otherwise.
        DesimError: An episode failed.
    """
    seeds, others = _disjoint(training, held_out)
    start = _start(model, policy, box)
    field = _Field(model, Spec.read(policy), box, seeds, jobs)

    def tell(best: "NDArray[Any]", *_: object, **__: object) -> None:
        if progress:
            spec = field.spec(best)
            progress(spec, field.means[spec])

    best = _searched(field.losses, box, start, members, generations, seed, tell)
    first, found = field.spec(start), field.spec(best)
    if field.means[found] <= field.means[first]:
        found = first
    known, unseen = (_sample(model, first, found, some, jobs) for some in (seeds, others))
    return Tuned(first, found, _edges(box, found), known, unseen, len(field.means))


def _searched(
    losses: Callable[..., list[float]],
    box: Box,
    start: Sequence[float],
    members: int,
    generations: int,
    seed: int,
    tell: Callable[..., None],
) -> Sequence[float]:
    """Return the point that differential evolution finds; generations are played as one sweep."""
    import numpy as np
    from scipy.optimize import differential_evolution

    # Its types know no loss of many points at once.
    search: Any = differential_evolution
    done = search(
        losses,
        list(box.values()),
        x0=start,
        popsize=members,
        maxiter=generations,
        tol=0,
        polish=False,
        updating="deferred",
        vectorized=True,
        callback=tell,
        seed=np.random.default_rng(seed),
    )
    point: list[float] = done.x.tolist()
    return point


class _Field:
    """Policies in a box and what they scored; each is played once."""

    def __init__(self, model: Any, spec: Spec, box: Box, seeds: Sequence[int], jobs: int) -> None:
        self.means: dict[str, float] = {}
        self._model, self._spec, self._box = model, spec, box
        self._seeds, self._jobs = seeds, jobs

    def spec(self, point: Iterable[float]) -> str:
        """Name the policy at a point of the box."""
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


def _sample(model: Any, start: str, found: str, seeds: tuple[int, ...], jobs: int) -> Sample:
    rows = _played(model, list(dict.fromkeys((start, found))), seeds, jobs)
    scores = [tuple(rows.where(policy=spec).values("score")) for spec in (start, found)]
    return Sample(seeds, *scores)


def _disjoint(
    training: Iterable[int], held_out: Iterable[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    seeds, others = tuple(training), tuple(held_out)
    if shared := set(seeds) & set(others):
        raise UsageError(f"seed {min(shared)} is among training and held-out seeds; share none")
    return seeds, others


def _start(model: Any, policy: str, box: Box) -> list[float]:
    """Return where the search starts: arguments of the spec, else the policy's defaults."""
    spec = Spec.read(policy)
    made = catalog.model(model) if isinstance(model, str) else model
    known = inspect.signature(catalog.policy(spec.name, made)).parameters
    found = []
    for name, (low, high) in box.items():
        if name not in known:
            raise UsageError(
                f"policy {spec.name!r} has no argument {name!r}; {possible(name, known)}"
            )
        value = _number(policy, name, spec.arguments.get(name, known[name].default))
        if not low <= value <= high or low == high:
            raise UsageError(f"{name} starts at {value:g}; give a range around it, low first")
        found.append(value)
    return found


def _number(policy: str, name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} of {policy!r} starts at {value!r}; it is no number") from None


def _edges(box: Box, spec: str) -> tuple[str, ...]:
    given = Spec.read(spec).arguments
    return tuple(
        name
        for name, (low, high) in box.items()
        if min(float(given[name]) - low, high - float(given[name])) <= _EDGE * (high - low)
    )


def _written(value: float) -> str:
    """Write a value as a person would.

    >>> _written(20000000.0), _written(0.125)
    ('20_000_000', '0.125')
    """
    return f"{value:_.0f}" if value.is_integer() else f"{value:g}"
