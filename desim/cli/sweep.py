"""`desim sweep` and `desim tune`: many episodes, one row each, and the best parameters."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from attrs import evolve, field, frozen
from attrs.validators import ge, le, optional

from desim.cli.exit_codes import fail
from desim.cli.options import POLICIES, SET, SPECS, PrintOptions, Spending, command
from desim.cli.tables import print_found, print_json
from desim.errors import UsageError
from desim.rows.notes import failures_text
from desim.rows.rows import Rows
from desim.schema.signatures import given
from desim.show.console import console
from desim.show.estimates import better_note
from desim.studies.designs import DesignSpec, planned
from desim.studies.effects import Effects, effects
from desim.studies.options import FIRST_SEEDS, GridOptions, SweepSpec, TuneOptions
from desim.studies.select import Choice, select
from desim.studies.sweep import check_reference, read_config, sweep
from desim.studies.tune import tune
from desim.studies.until import Comparison, compare

#: By option the goals of a sweep with which it has a meaning; "" is a sweep without one.
_GOALS = {
    **dict.fromkeys(("max_seeds", "score_range"), ("--until", "--delta", "--budget")),
    **dict.fromkeys(("retry_failed", "series", "records"), ("",)),
    "against": ("", "--until"),
}


@frozen(kw_only=True, slots=False)
class SweepCommand(GridOptions):
    """The executor of a sweep, its goal, and the figures that are printed.

    Attributes:
        retry_failed: Play the failed episodes in *out* again.
        concurrent: Episodes of language models at once, 1 to 1,000; default 8.
        records: Record each episode in a file of its own in --out/records.
        series: Keep the model's series in the rows, if it has any.
        figures: A figure of the table; default: score.
        minimise: A figure of which lower is better, whatever the model declares: it is shown, and
            the lowest is selected.
        against: The policy with which the others are compared.
        until: Play seeds until half of every interval is as narrow: 5% of the mean, or 2.5.
        delta: Play only what is needed to select the best: the smallest difference that matters.
        budget: Select the best without a guarantee: the number of episodes of all candidates
            together.
        max_seeds: With --until, --delta and --budget, of each candidate; default 2,000.
        score_range: With these: LOW:HIGH, between which every value of the figure is, or none;
            default: that of the model's scores, if it declares one.
        as_json: Print the rows, one line of JSON each.
    """

    retry_failed: bool = False
    concurrent: int | None = field(default=None, validator=optional([ge(1), le(1_000)]))
    records: bool = False
    series: bool = False
    figures: tuple[str, ...] = ()
    minimise: str = ""
    against: str | None = None
    until: str | None = None
    delta: float | None = None
    budget: int | None = None
    max_seeds: int | None = None
    score_range: str | None = None
    as_json: bool = False

    @property
    def jobs_played(self) -> dict[str, Any]:
        """The arguments of `sweep`, `compare` and `select` on how jobs are played."""
        names = [name for name in given(GridOptions()) if name != "executor"]
        return {"executor": self._executor(), **{name: getattr(self, name) for name in names}}

    def _executor(self) -> str:
        """Return the executor that options name.

        Raises:
            UsageError: Options say different things.
        """
        if self.executor is None:
            # A single job has a worker process, too: no policy can end or block the command itself.
            at_once = f",concurrent={self.concurrent}" if self.concurrent else ""
            return f"processes={self.jobs}{at_once}"
        if self.concurrent is not None:
            raise UsageError(
                "--concurrent and --executor were given; write --executor processes=N,concurrent=N"
            )
        return str(self.executor)

    @property
    def shown(self) -> tuple[str, ...]:
        """The figures of the table."""
        return self.figures or (self.minimise or "score",)

    def check(self, design: DesignSpec | None) -> None:
        """Refuse options that would have no effect.

        Raises:
            UsageError: Such an option was given.
        """
        for name in ("against", "minimise"):
            if getattr(self, name) and _is_factorial(design):
                raise UsageError(
                    f"--{name} belongs to sweeps whose table has policies, not effects"
                )
        if self.minimise and self.minimise not in self.shown:
            raise UsageError(
                f"--minimise {self.minimise} was given, and the table shows "
                f"{', '.join(self.shown)}; give --show {self.minimise} as well, or no --show"
            )
        names = ("until", "delta", "budget")
        chosen = [f"--{name}" for name in names if getattr(self, name) is not None]
        if len(chosen) > 1:
            raise UsageError(f"{' and '.join(chosen)} were given; a sweep has one goal")
        goal = chosen[0] if chosen else ""
        for name, goals in _GOALS.items():
            if getattr(self, name) and goal not in goals:
                option = "--range" if name == "score_range" else f"--{name.replace('_', '-')}"
                named = " or ".join(one or "plain sweeps" for one in goals)
                raise UsageError(f"{option} belongs to {named}")
        if goal and design is not None:
            raise UsageError(
                f"the design {design.kind} is played as a whole; leave out --design or {goal}"
            )
        if goal and len(self.figures) > 1:
            raise UsageError(f"{goal} takes one --show")


@command(
    "sweep",
    model={"metavar": "MODEL|FILE.toml"},
    policies=SPECS,
    seeds={"metavar": "A:B"},
    design={"metavar": "KIND[:SIZE][,seed=N]"},
    figures={"option": "--show", "multiple": True},
    score_range={"option": "--range", "metavar": "LOW:HIGH"},
)
def sweep_command(text: SweepSpec, options: SweepCommand, spending: Spending) -> None:
    """Play MODEL with every policy, parameter and seed.

    Each --policy is one way to play; several that name different roles are one way together. Roles
    of one way may also be joined with +, as in retailer=base_stock,target=24+factory=benchmark.
    `--set KEY=V1,V2` varies a parameter, `--set policy.KEY=V1,V2` an argument of the policies.
    With --out, the same command continues a sweep that was stopped; it is refused if code or files
    that the rows depend on have changed since. With --until, --delta or --budget, further seeds are
    played behind --seeds as needed. With --records each episode has a record there,
    which `desim replay`, `desim report` and `desim resume` take.
    Episodes of language models wait for their replies together, in one process; --max-calls and
    --max-cost hold for all of them, and episodes that they cut fail.
    With --design, `--set KEY=low:high` (or int:low:high, log:low:high, or V1,V2) names what varies,
    and factorial prints effects on the figures, with --json one line of JSON each.
    """
    how = read_config(text)
    design = how.pop("design")
    options.check(design)
    if options.against is not None and design is None:
        check_reference(how, options.against)
    with spending.limited():
        found, rows = _played(how, design, options)
    shown = options.shown
    effects = _effects(how, design, rows, shown)
    if options.as_json:
        for row in effects.plain() if effects else rows:
            print_json(row)
    elif found or effects:
        console().print(found or effects)
    else:
        table = rows.table(by=[*rows.varying, "policy"], show=shown, against=options.against)
        lower = better_note(options.minimise, "lower") if options.minimise else []
        console().print(evolve(table, notes=[*lower, *table.notes]))
    if options.out and not options.as_json:
        click.echo(f"rows are in {Path(options.out) / 'rows.csv'} and rows.jsonl", err=True)
    if rows.failed:
        fail(failures_text(rows.failed, len(rows)))
    if found and not found.reached:
        fail(found.sentence)


def _played(
    sweep_of: Mapping[str, Any], design: DesignSpec | None, options: SweepCommand
) -> tuple[Comparison | Choice | None, Rows]:
    """Play a sweep as a whole, or until its goal is reached or all seeds are played."""
    how = {**sweep_of, **options.jobs_played}
    if options.until is None and options.delta is None and options.budget is None:
        names = ("retry_failed", "series", "records", "minimise")
        how |= {name: getattr(options, name) for name in names}
        seeds = how.pop("seeds") or range(FIRST_SEEDS)
        return None, sweep(seeds=seeds, design=design, **how)
    how |= {"show": options.shown[0], "minimise": options.minimise}
    goal = {name: getattr(options, name) for name in ("max_seeds", "score_range")}
    how |= {name: value for name, value in goal.items() if value is not None}
    found: Comparison | Choice
    if options.until is not None:
        found = compare(until=options.until, against=options.against, **how)
    else:
        found = select(delta=options.delta, budget=options.budget, **how)
    return found, found.rows


def _is_factorial(design: DesignSpec | None) -> bool:
    """Return whether the table of a sweep has effects, and not policies."""
    return design is not None and design.kind == "factorial"


def _effects(
    how: Mapping[str, Any], design: DesignSpec | None, rows: Rows, shown: tuple[str, ...]
) -> Effects | None:
    """Return the effects in the rows of a factorial design; None after failures without a score."""
    if design is None or not _is_factorial(design):
        return None
    try:
        return effects(rows, [*planned(design, how["set"])[0][0]], show=shown)
    except UsageError:
        if rows.failed:
            return None
        raise


@command(
    "tune",
    set=None,
    executor=None,
    policy=POLICIES,
    ranges={**SET, "metavar": "KEY=RANGE|VALUE"},
    budget={"metavar": "N"},
)
def tune_command(options: TuneOptions, printed: PrintOptions) -> None:
    """Search the parameters with the highest mean score.

    A key is a parameter of the model or, as `policy.KEY` and `policy.ROLE.KEY`, an argument of the
    policies. All points play the same seeds; those that are clearly worse than the best one are
    stopped early. The result is played on held-out seeds, as are the default parameters. It
    depends on --sampler-seed, and not on --jobs. With --out, the same command continues a search
    that was stopped, or that has a larger --budget now. Needs the extra `tune`.
    """
    # A single job has a worker process, too: no policy can end or block the command itself.
    found = tune(**given(evolve(options, executor=f"processes={options.jobs}")))
    print_found(found, as_json=printed.as_json)
