"""The arguments of all studies: `sweep`, `compare`, `select`, `tune`, `regret`.

The text of each field is also the help of its option on the command line.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from attrs import field, frozen

from desim.core.limits import Limits
from desim.core.model import Model
from desim.engine.grid import grid
from desim.engine.plan import Grid
from desim.engine.run.executors import Executor
from desim.engine.run.playing import Playing, playing
from desim.episodes.lineup import Policies
from desim.episodes.replay import TrustOptions
from desim.errors import UsageError
from desim.records.episode import Episode
from desim.show.column import Direction
from desim.show.progress import ProgressOption
from desim.studies.designs import DesignSpec

#: Seeds of a study where none are given; and at most, of one that goes on until a goal is reached.
FIRST_SEEDS, MAX_SEEDS = 20, 2_000

#: The name of the comparison with all options of a role; a suite's file in its folder.
OPTIONS, SUITE = "options", "suite.toml"


@frozen(kw_only=True, slots=False)
class JobOptions:
    """Workers, folder and limits of the jobs of a study.

    Attributes:
        jobs: Worker processes; default of commands: one a core. In Python 1 plays in this
            process, where a debugger works, but a policy that calls `os._exit` ends the study, and
            a limit of time does not stop one that catches every exception.
        out: A folder that keeps what is played. The same call goes on from it, does not repeat
            failed episodes, and is refused if code, a file or a version that the results depend on
            has changed.
        limits: The limits of each episode; one that reaches a limit fails.
        progress: True shows a bar, False none; default: where standard error is a terminal or in a
            notebook, after two seconds, with the first failure of each cause. In Python also a
            function, called at the start and whenever a part is finished with the numbers of
            finished and of all episodes; anew for every batch.
    """

    jobs: int = 1
    out: str | Path | None = None
    limits: Limits | None = None
    progress: ProgressOption = None


@frozen(kw_only=True, slots=False)
class GridOptions(JobOptions):
    """Workers, folder and limits of the jobs of a grid, with an executor and a fresh start.

    Attributes:
        executor: processes=N, concurrent=N (episodes that wait for a host at once), both joined by
            a comma, or dask=ADDRESS of a scheduler. In Python also an object with the methods of
            `Executor`. *jobs* is not used with processes and with these.
        restart: Discard what *out* keeps of episodes of other code, or else of this command.
    """

    executor: Executor | str | None = None
    restart: bool = False


@frozen(kw_only=True, slots=False)
class GridStudy(GridOptions):
    """The models and policies of a study that plays a grid, and how its jobs are played.

    Attributes:
        model: A name (perhaps with `/preset`), a model class, a model, or a list of these.
        policies: A spec, class, function, attrs instance, mapping of roles to these, or a list of
            these.
        preset: A preset, for models given by name or class; empty for the first.
        set: A value or a list of values by parameter; every combination is played. A key with the
            prefix `policy.` sets an argument of the policies that take it.
    """

    model: Any = field(kw_only=False)
    policies: Any = field(kw_only=False)
    preset: str = ""
    set: Mapping[str, Any] | None = None

    def grid(self, seeds: Iterable[int]) -> Grid:
        """Return the grid of the models and policies on some seeds."""
        return grid(self.model, self.policies, seeds, self.preset, self.set, self.limits)

    def playing(self, plan: Grid, *, retry_failed: bool = False) -> AbstractContextManager[Playing]:
        """Open the executor and the store of a grid; the folder of a suite is refused."""
        if self.out is not None and (Path(self.out) / SUITE).exists():
            raise UsageError(f"{self.out} holds a suite; choose another folder (--out)")
        how = {"restart": self.restart, "retry_failed": retry_failed}
        return playing(plan, self.jobs, self.out, self.executor, self.progress, **how)


@frozen(kw_only=True, slots=False)
class FigureOptions:
    """The figure of a study, and which values of it are better.

    Attributes:
        show: The figure: score, decisions, or a metric.
        minimise: A figure of which lower is better: the one that is shown, if *show* names none.
    """

    show: str = "score"
    minimise: str = ""

    @property
    def figure(self) -> str:
        """The figure."""
        refuse_score(self.minimise)
        if self.minimise and self.show not in {"score", self.minimise}:
            raise UsageError(
                f"show={self.show} and minimise={self.minimise} were given; name one figure"
            )
        return self.minimise or self.show

    def better(self, models: Iterable[Model[Any]]) -> Direction:
        """Return whether a higher or a lower value of the figure is better."""
        name = self.figure
        found = {"lower" if self.minimise else model.figures.better(name) for model in models}
        if len(found) > 1 or "" in found:
            raise UsageError(
                f"nothing says whether a higher or a lower {name} is better; give --minimise {name}"
                f" (in Python minimise={name!r}), or let the world declare it in its `figures`, as "
                f'in Figures(columns={{"{name}": Column(better="higher")}})'
            )
        return found.pop()


def refuse_score(minimise: str) -> None:
    """Refuse to minimise the score, with which failed episodes and all tables rank."""
    if minimise == "score":
        raise UsageError("minimise=score was given; a higher score is better in every world")


@frozen(kw_only=True, slots=False)
class SweepOptions(GridStudy):
    """The arguments of `sweep`.

    Attributes:
        seeds: Whole numbers of at least 0, all different; shared by all policies.
        design: Points to play instead of all combinations: a text such as "lhs:64" over the ranges
            and lists of values in *set*, or a list of points, each the values by parameter, over
            parameters that *set* does not name. Rows have the index of their point, and in `given`
            the policy without its arguments.
        minimise: A figure of which lower is better, whatever the model declares: `Rows.best` takes
            the lowest.
        retry_failed: Play the failed episodes in *out* again.
        series: Keep the model's series in the rows, and in rows.jsonl; see `Rows.series`.
        records: Record each episode in a file of its own in the folder `records` of *out*, which
            `record` of its row names (None if it failed before its first line). An episode on
            record without a row is repeated with the replies on record, and a cut one continued; a
            record that the policies do not repeat is replaced.
    """

    seeds: Iterable[int] = field(kw_only=False)
    design: DesignSpec | str | Sequence[Mapping[str, Any]] | None = None
    minimise: str = ""
    retry_failed: bool = False
    series: bool = False
    records: bool = False


@frozen
class SweepSpec:
    """A sweep as plain data: the options of the command, or a TOML file.

    Attributes:
        model: A model, or the file of a sweep.
        preset: A preset of the model; `desim list MODEL` shows them.
        set: A parameter of the model, or with dots a field inside one.
        policies: NAME or module:Name, then ,KEY=VALUE for each argument. Several that name
            different roles play together.
        seeds: A:B without B, or A,B,...; default 0:20. With a goal those that are
            played first, before as many more as are needed.
        design: Play points of the ranges in --set: lhs:64, sobol:64 or factorial. In Python a
            `DesignSpec`, in a file a table with its fields.
    """

    model: str
    preset: str = field(default="", kw_only=True)
    set: dict[str, Any] = field(factory=dict, kw_only=True)
    policies: Sequence[str | dict[str, str]] = field(default=(), kw_only=True)
    seeds: str | list[int] = field(default="", kw_only=True)
    design: Any = field(default="", kw_only=True)


@frozen(kw_only=True, slots=False)
class GoalOptions(GridStudy, FigureOptions):
    """A sweep that plays batches of seeds until a goal is reached.

    Attributes:
        seeds: Those that are played first; others follow behind the largest. Where no range of the
            figure is known, the first look is at 60 at least; with 299 it shows an outcome of 1 %
            with a probability of 95 %. None: as many as the first look needs.
        max_seeds: With a goal: how many seeds at most, of each candidate; default 2,000.
        score_range: LOW:HIGH, between which every value of the figure is: the narrowest that is
            certain; or none. Default: the range of the model's scores, if it declares one. In
            Python a pair of numbers as well.
    """

    seeds: Iterable[int] | None = None
    max_seeds: int = MAX_SEEDS
    score_range: str | tuple[float, float] | None = None


@frozen(kw_only=True, slots=False)
class CompareOptions(GoalOptions):
    """The arguments of `compare`.

    Attributes:
        until: Play seeds until half of every interval is as narrow: 5% of the mean, or 2.5 in the
            unit of the figure.
        against: The policy with which the others are compared; by default the first one.
        level: The level at which all intervals hold together, above 0 and below 1.
    """

    until: float | str
    against: Any = None
    level: float = 0.95


@frozen(kw_only=True, slots=False)
class SelectOptions(GoalOptions):
    """The arguments of `select`.

    Attributes:
        delta: The smallest difference that matters, in the unit of the figure: candidates are
            eliminated.
        budget: Instead of *delta*: the number of episodes of all candidates together, which are
            allocated to those that may be the best; it guarantees nothing.
        alpha: The probability of a wrong selection, above 0 and below 1.
    """

    delta: float | None = None
    budget: int | None = None
    alpha: float = 0.05


@frozen(kw_only=True, slots=False)
class TuneOptions(JobOptions, FigureOptions):
    """The arguments of `tune`.

    Attributes:
        model: A name (perhaps with `/preset`), a model class or a model.
        policy: NAME or module:Name, then ,KEY=VALUE for each argument. Several that name different
            roles play together. In Python a spec, class, attrs instance, or mapping of roles to
            these.
        ranges: int:LOW:HIGH, float:LOW:HIGH, log:LOW:HIGH or choice:A|B; any other value is fixed.
            In Python a mapping of keys to these texts, with keys of the form of `set` of `sweep`.
        budget: Episodes of the search, at most; those of the report come on top.
        seeds: The seeds of the search: A:B without B, or A,B,...; default 0:20. In Python whole
            numbers.
        held_out: The seeds of the report; default: as many behind the others. In Python whole
            numbers.
        preset: A preset of the model; `desim list MODEL` shows them; default: the first.
        set: Further values that are fixed.
        sampler_seed: The seed of the search; the same call returns the same result.
        executor: As for `sweep`.
    """

    model: Any = field(kw_only=False)
    policy: Any = field(kw_only=False)
    ranges: Mapping[str, Any] = field(kw_only=False)
    budget: int
    seeds: Iterable[int] = range(FIRST_SEEDS)
    held_out: Iterable[int] | None = None
    preset: str = ""
    set: Mapping[str, Any] | None = None
    sampler_seed: int = 0
    executor: Executor | str | None = None


@frozen(kw_only=True, slots=False)
class RegretOptions(JobOptions, TrustOptions):
    """The arguments of `regret`.

    Attributes:
        record: A record, whole or cut; in Python also an episode.
        then: The policy that plays on after each decision; one for every role, or by role.
        against: With what the decisions are compared: "options" (default) for all options of the
            role; another action, such as {"do": "order", "quantity": 12}; or a policy, or policies
            by role. In Python also an instance of an action.
        role: The role whose decisions are judged; by default all that *against* can judge.
        decisions: Decisions A to B without B, counted from 1 as by `desim branch --at`; every K-th.
            In Python a slice; None for all.
        kinds: Judge only decisions whose recorded action has this name, such as task_accept.
        futures: How many futures are drawn for each decision, with the seeds 0, 1, ... In Python
            None takes the true one alone, which is hindsight.
        most_options: Options of one decision that are played, at least 1; of more, the one of the
            highest value and a random sample of the others.
        level: The joint level of all intervals, above 0 and below 1.
        restart: Discard the decisions in *out* and start anew.
    """

    record: str | Path | Episode = field(kw_only=False)
    then: Policies = field(default=None, kw_only=False)
    against: Any = OPTIONS
    role: str = ""
    decisions: slice | None = None
    kinds: Collection[str] = ()
    futures: int | None = 30
    most_options: int = 12
    level: float = 0.95
    restart: bool = False
