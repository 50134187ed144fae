"""`desim tune`: the best parameters of a policy, reported on seeds that the search has not used."""

from attrs import evolve

from desim.cli.options import POLICIES, SET, PrintOptions
from desim.cli.options import command as command_of
from desim.schema.signatures import given
from desim.studies.study_options import TuneOptions


@command_of(
    "tune",
    without=["set", "executor", "progress"],
    policy=POLICIES,
    ranges={**SET, "metavar": "KEY=RANGE|VALUE"},
    budget={"metavar": "N"},
)
def command(options: TuneOptions, printed: PrintOptions) -> None:
    """Search the parameters of a policy, or of MODEL, with the highest mean score.

    A key is a parameter of the model or, as `policy.KEY` and `policy.ROLE.KEY`, an argument of the
    policies. All points play the same seeds; those that are clearly worse than the best one are
    stopped early. The result is played on held-out seeds, as are the default parameters. It
    depends on --sampler-seed, and not on --jobs. With --out, the same command continues a search
    that was stopped, or that has a larger --budget now. Needs the extra `tune`.
    """
    from desim.cli.tables import print_found
    from desim.studies.tuning.tune import tune

    # A single job has a worker process, too: no policy can end or block the command itself.
    found = tune(**given(evolve(options, executor=f"processes={options.jobs}")))
    print_found(found, as_json=printed.as_json)
