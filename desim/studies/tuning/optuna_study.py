"""The study of a tuning: Optuna proposes points, and finished trials are kept in a SQLite file.

Points are proposed in memory from the finished trials alone, by a sampler that is seeded anew for
every trial. A continued study therefore proposes the same points as an uninterrupted one.
"""

import contextlib
import math
import random
import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

from desim.errors import UsageError
from desim.jobs.keep.fingerprint import differing_topics
from desim.jobs.plan.ranges import Choices, Range
from desim.jobs.run.signals import interrupts_deferred
from desim.records.record_lock import RecordLock

if TYPE_CHECKING:  # an extra
    import optuna


#: The file's name in the folder of a tuning.
FILE_NAME = "tune.sqlite"

#: A value by parameter.
Point = Mapping[str, Any]

#: Draws of the sampler, and then uniform random draws, to find a point that was not played yet.
_DRAWS, _RANDOM_DRAWS = 5, 1_000

#: A trial is pruned if Wilcoxon's signed-rank test against the best one, paired by seed, has a
#: smaller p-value. It is below the usual 0.1 because the test is repeated after every batch.
_P_VALUE = 0.05

#: Fewest pairs with which the test can have a smaller p-value.
_LEAST_SEEDS = 5

_NAME, _IDENTITY, _SAMPLES = "desim tune", "fingerprint", "scores"

#: Topics of a fingerprint that an error text lists.
_MAX_TOPICS = 4


@frozen
class Trial:
    """A finished trial.

    Attributes:
        point: The point that was played.
        scores: The scores of the training seeds that were played, in the seeds' order.
        state: `complete`, `pruned`, or `failed` if an episode failed that has no score.
        error: The error of a failed trial, or of an episode that counts with the worst score; or
            empty.
    """

    point: Point
    scores: tuple[float, ...]
    state: Literal["complete", "pruned", "failed"]
    episodes: int
    error: str = ""


class Study:
    """Proposes points and keeps trials; see `opened_study`.

    Args:
        ranges: By parameter.
        seed: The seed of the sampler.
        kept: The study in the file; None keeps trials in memory.

    Attributes:
        trials: The finished ones, in order.
    """

    def __init__(
        self, ranges: Mapping[str, Range | Choices], seed: int, kept: "optuna.Study | None" = None
    ) -> None:
        import optuna

        self._ranges, self._seed, self._kept = ranges, seed, kept
        with warnings.catch_warnings():
            # The pruner is marked as experimental; the interface used here is checked by tests.
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            pruner = optuna.pruners.WilcoxonPruner(
                p_threshold=_P_VALUE, n_startup_steps=_LEAST_SEEDS
            )
        self._study = optuna.create_study(direction="maximize", pruner=pruner)
        self._distributions = {name: self._distribution(one) for name, one in ranges.items()}
        self._samples: dict[str, list[float | None]] = {}
        self.trials: list[Trial] = []
        if kept:
            self._samples = dict(kept.user_attrs.get(_SAMPLES, {}))
            for one in kept.get_trials(deepcopy=False):
                self._study.add_trial(one)
                self.trials.append(self._read(one))

    def propose(self) -> "tuple[optuna.Trial, Point] | None":
        """Return a point that has not been played; None if all draws were played."""
        from optuna.samplers import TPESampler
        from optuna.trial import TrialState

        played = [trial.point for trial in self.trials]
        for attempt in range(_DRAWS):
            self._study.sampler = TPESampler(seed=self._seed_of(attempt))
            trial = self._study.ask(self._distributions)
            if (point := self._point(trial.params)) not in played:
                return trial, point
            self._study.tell(trial, state=TrialState.FAIL)
        return self._by_chance(played)

    def pruned(self, trial: "optuna.Trial", scores: Sequence[float], before: int) -> bool:
        """Report the scores from a place on; return whether the best trial is clearly better."""
        for place in range(before, len(scores)):
            trial.report(scores[place], place)
        return trial.should_prune()

    def finish(self, trial: "optuna.Trial", done: Trial) -> None:
        """Keep a trial.

        Raises:
            UsageError: The trial cannot be written, for instance because the disk is full.
        """
        from optuna.trial import TrialState as States

        trial.set_user_attr("scores", list(done.scores))
        trial.set_user_attr("episodes", done.episodes)
        trial.set_user_attr("error", done.error)
        mean = sum(done.scores) / len(done.scores) if done.state == "complete" else None
        state = {"complete": States.COMPLETE, "pruned": States.PRUNED, "failed": States.FAIL}
        with interrupts_deferred():
            finished = self._study.tell(trial, mean, state[done.state])
            if self._kept:
                with _file_errors(FILE_NAME):
                    self._kept.add_trial(finished)
            self.trials.append(done)

    def sample(self, name: str) -> list[float | None] | None:
        """Return the scores kept under a name; None without such scores."""
        return self._samples.get(name)

    def keep_sample(self, name: str, scores: Sequence[float | None]) -> None:
        """Keep scores of episodes that belong to no trial."""
        self._samples[name] = list(scores)
        if self._kept:
            with interrupts_deferred(), _file_errors(FILE_NAME):
                self._kept.set_user_attr(_SAMPLES, self._samples)

    def _by_chance(self, played: Sequence[Point]) -> "tuple[optuna.Trial, Point] | None":
        rng = random.Random(self._seed_of(_DRAWS))  # noqa: S311 (a search, no secret)
        for _ in range(_RANDOM_DRAWS):
            drawn = {name: _drawn(one, rng) for name, one in self._ranges.items()}
            if (point := self._point(drawn)) not in played:
                self._study.enqueue_trial(drawn)
                return self._study.ask(self._distributions), point
        return None

    def _seed_of(self, attempt: int) -> int:
        """Return the seed of a draw, which depends on the finished trials alone."""
        import numpy as np

        words = np.random.SeedSequence([self._seed, len(self.trials), attempt])
        return int(words.generate_state(1)[0])

    def _point(self, drawn: Mapping[str, Any]) -> Point:
        return {name: one.rounded(drawn[name]) for name, one in self._ranges.items()}

    def _distribution(self, one: Range | Choices) -> "optuna.distributions.BaseDistribution":
        from optuna import distributions as kinds

        if isinstance(one, Choices):
            return kinds.CategoricalDistribution(one.values)
        if one.scale == "int":
            return kinds.IntDistribution(int(one.low), int(one.high))
        return kinds.FloatDistribution(one.low, one.high, log=one.scale == "log")

    def _read(self, one: "optuna.trial.FrozenTrial") -> Trial:
        names: dict[str, Literal["complete", "pruned"]] = {
            "COMPLETE": "complete",
            "PRUNED": "pruned",
        }
        attrs = one.user_attrs
        return Trial(
            self._point(one.params),
            tuple(attrs["scores"]),
            names.get(one.state.name, "failed"),
            attrs["episodes"],
            attrs["error"],
        )


@contextlib.contextmanager
def opened_study(
    ranges: Mapping[str, Range | Choices],
    seed: int,
    out: str | Path | None,
    identity: Mapping[str, str],
) -> Iterator[Study]:
    """Open a study, in a folder or in memory.

    Args:
        ranges: By parameter.
        seed: The seed of the sampler.
        out: The folder of the file; both are created if needed. None keeps trials in memory.
        identity: Everything that determines the trials, by topic.

    Raises:
        UsageError: Optuna is not installed, the folder cannot be used, holds another tuning or
            a foreign file of our name, or another process is writing the file.
    """
    with _silent_optuna():
        if out is None:
            yield Study(ranges, seed)
            return
        path = Path(out) / FILE_NAME
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise UsageError(f"{out} cannot be made: {fault.strerror}") from None
        with RecordLock(path), _stored(path) as kept:
            with _file_errors(path):
                _check_identity(path, kept, identity)
                study = Study(ranges, seed, kept)
            yield study


@contextlib.contextmanager
def _silent_optuna() -> Iterator[None]:
    """Import Optuna, with its logging silenced."""
    try:
        import optuna
    except ImportError:
        raise UsageError("tuning needs Optuna: pip install 'desim[tune]'") from None
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


@contextlib.contextmanager
def _stored(path: Path) -> "Iterator[optuna.Study]":
    """Open or create the study in a file."""
    import optuna

    _check_file(path)
    with _file_errors(path):
        storage = optuna.storages.RDBStorage(f"sqlite:///{path.resolve()}")
    try:
        with _file_errors(path):
            kept = optuna.create_study(
                storage=storage, study_name=_NAME, direction="maximize", load_if_exists=True
            )
        yield kept
    finally:
        storage.remove_session()
        storage.engine.dispose()


def _check_file(path: Path) -> None:
    """Refuse a foreign file, into which Optuna would write its tables.

    Raises:
        UsageError: The file holds something else than a study.
    """
    if not path.exists() or not path.stat().st_size:
        return
    query = "SELECT count(*), sum(name = 'studies') FROM sqlite_master WHERE type = 'table'"
    try:
        with contextlib.closing(sqlite3.connect(path)) as file:
            tables, studies = file.execute(query).fetchone()
    except sqlite3.Error:
        tables, studies = 1, 0
    if tables and not studies:
        raise UsageError(
            f"{path} is no study of a tuning; choose another folder, or remove {path.name} to "
            "start anew"
        )


@contextlib.contextmanager
def _file_errors(path: str | Path) -> Iterator[None]:
    """Turn errors of Optuna's storage into a `UsageError`."""
    from optuna.exceptions import OptunaError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (OptunaError, SQLAlchemyError, RuntimeError, LookupError) as fault:
        text = " ".join(str(fault).split())[:200]
        raise UsageError(
            f"{path} cannot be used ({type(fault).__name__}: {text}); choose another folder, or "
            f"remove {FILE_NAME} to start anew"
        ) from None


def _check_identity(path: Path, kept: "optuna.Study", identity: Mapping[str, str]) -> None:
    stored = kept.user_attrs.get(_IDENTITY)
    if stored is None and not kept.get_trials(deepcopy=False):
        kept.set_user_attr(_IDENTITY, dict(identity))
    elif stored != identity:
        before, now = differing_topics(stored or {}, identity)
        named = ", ".join([*{**before, **now}][:_MAX_TOPICS])
        raise UsageError(
            f"{path} holds another tuning (it differs in: {named}); choose another folder (--out), "
            f"or remove {path.name} to start anew"
        )


def _drawn(one: Range | Choices, rng: random.Random) -> Any:
    if isinstance(one, Choices):
        return rng.choice(one.values)
    if one.scale == "int":
        return rng.randint(int(one.low), int(one.high))
    if one.scale == "float":
        return rng.uniform(one.low, one.high)
    return min(one.high, math.exp(rng.uniform(math.log(one.low), math.log(one.high))))
