"""Tuning: it finds the best parameters, goes on where it was stopped, and tells its optimism."""

import builtins
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from support.command_line import refused
from support.paths import PYTHONPATH
from support.small_worlds import FAILS, GATED, STRIDE, WALK, Go, Spot, Still, Stride, Walk

from desim import sweep
from desim.cli.main import main
from desim.core.reported import Figures
from desim.engine.store import Store
from desim.errors import DesimError, UsageError
from desim.studies.tune import Tuned, tune

#: The strides of a walker, of which the largest walks farthest.
SIZES = {"policy.size": "int:1:40"}


def tuned(**changes: Any) -> Tuned:
    """Tune the size of steps on four seeds."""
    arguments: dict[str, Any] = {"budget": 60, "seeds": range(4), **changes}
    return tune(WALK, arguments.pop("policy", STRIDE), arguments.pop("ranges", SIZES), **arguments)


@pytest.fixture(scope="module")
def usual() -> Tuned:
    """What the usual search finds if nothing stops it."""
    return tuned()


def test_the_largest_stride_is_found(usual: Tuned) -> None:
    """The score rises with the size, so the best one is on the edge, which the result says."""
    found = usual
    assert found.best.parameters == {"policy.size": 40}
    assert found.edges == ("policy.size",)
    assert found.episodes <= found.budget
    assert found.policy == STRIDE
    assert (found.seeds, found.held_out_seeds) == ((0, 1, 2, 3), (4, 5, 6, 7))


def test_defaults_that_no_point_reaches_are_named(usual: Tuned) -> None:
    """A small budget or a wrong range finds less than what was there."""
    note = "No point that was played is as good as the defaults on the training seeds."
    worse = tuned(minimise="far", ranges={"policy.size": "int:2:40"})
    assert note in str(worse)
    assert note not in str(usual)


def test_the_figures_are_those_of_a_sweep(usual: Tuned) -> None:
    """Of the best and of the default parameters, on both kinds of seeds."""
    found = usual
    for setting, spec in ((found.best, f"{STRIDE},size=40"), (found.default, STRIDE)):
        assert setting
        assert list(setting.training) == sweep(WALK, spec, range(4)).values("score")
        assert list(setting.held_out) == sweep(WALK, spec, range(4, 8)).values("score")
    assert found.difference
    assert found.difference.mean == 3 * 39  # three steps, the same wind
    assert found.optimism == found.training.mean - found.held_out.mean  # type: ignore[union-attr]
    assert found.optimism_of_difference == 0


def test_parameters_of_the_model_and_choices_are_searched() -> None:
    """With values that are fixed; a finite number of points ends the search early."""
    found = tuned(ranges={"steps": "choice:1|2|3", "wind": "0", "policy.size": "int:1:2"})
    assert found.best.parameters == {"steps": "3", "policy.size": 2}
    assert found.training
    assert found.training.mean == 6
    assert (found.exhausted, found.trials) == (True, 6)


def test_arguments_of_one_role_are_searched() -> None:
    """The walker's steps are fixed; those of the helper are added to them."""
    found = tuned(
        policy={"walker": STRIDE, "helper": STRIDE},
        ranges={"policy.helper.size": "int:1:3", "policy.walker.size": 2},
    )
    assert found.best.parameters["policy.helper.size"] == 3
    assert found.trials == 3
    assert found.default
    assert found.difference
    assert found.difference.mean == 3 * 2


def test_a_field_inside_a_parameter_is_searched() -> None:
    """The less the firm's fixed cost, the more it earns."""
    over = {"scenario.fixed_cost": "int:10000:10003"}
    found = tune("edt/published", "greedy", over, budget=6, seeds=[0])
    assert found.exhausted
    assert found.best.parameters == {"scenario.fixed_cost": 10_000}


def test_floats_and_logarithms_are_searched() -> None:
    """Values have seven digits and lie in their ranges."""
    found = tuned(ranges={"wind": "log:0.1:10", "policy.size": "int:1:9"}, budget=60)
    wind = found.best.parameters["wind"]
    assert 0.1 <= wind <= 10
    assert wind == float(f"{wind:.7g}")


@frozen
class SteadyStride(Stride):
    """Declares that its actions do not depend on chance."""

    draws = False


class TipsyStride(Stride):
    """Draws, and does not say so."""

    def decide(self, _spot: Spot) -> Go:
        """Take a step of the given size, or none."""
        return Go(self.size * random.randrange(2))  # noqa: S311 (as users do)


def test_a_deterministic_world_is_played_on_one_seed() -> None:
    """But a class that may draw, which nobody can tell from outside, on all seeds."""
    found = tune(Still, f"{__name__}:SteadyStride", SIZES, budget=30)
    assert (found.seeds, found.held_out_seeds) == ((0,), (20,))
    assert found.best.parameters == {"policy.size": 40}
    for rule in (STRIDE, f"{__name__}:TipsyStride"):
        found = tune(Still, rule, SIZES, budget=40, seeds=range(3))
        assert (found.seeds, len(found.held_out_seeds)) == ((0, 1, 2), 3)


def test_the_result_depends_on_the_seed_of_the_sampler_alone() -> None:
    """Not on worker processes."""
    assert tuned(budget=12) == tuned(budget=12, jobs=2)
    assert tuned(budget=12).best != tuned(budget=12, sampler_seed=1).best


def stopping(after: int) -> Any:
    """A function of the progress that raises as Ctrl-C does."""

    def progress(done: int, _total: int) -> None:
        if done >= after:
            raise KeyboardInterrupt

    return progress


def count(folder: Path) -> int:
    """How many episodes a folder holds."""
    with Store(folder, read=True) as store:
        return len(store)


def test_a_stopped_search_goes_on(tmp_path: Path, usual: Tuned) -> None:
    """The message holds the best parameters so far; the same call ends as if nothing had been."""
    with pytest.raises(KeyboardInterrupt, match=r"of 60 episodes; best so far policy\.size=\d+"):
        tuned(out=tmp_path, progress=stopping(30))
    kept = count(tmp_path)
    assert tuned(out=tmp_path) == usual
    assert 28 <= kept < count(tmp_path)


@pytest.mark.slow
def test_a_killed_search_goes_on(tmp_path: Path, usual: Tuned) -> None:
    """SIGKILL in the middle of a trial loses nothing that was finished."""
    script = (
        "import os, signal\n"
        "from desim.studies.tune import tune\n"
        "def progress(done, total):\n"
        "    if done > 41: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"tune({WALK!r}, {STRIDE!r}, {SIZES!r}, budget=60, seeds=range(4),\n"
        f"     out={str(tmp_path)!r}, progress=progress)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGKILL, "", "")
    assert count(tmp_path) >= 38
    assert tuned(out=tmp_path) == usual


def test_a_folder_serves_other_searches(tmp_path: Path, usual: Tuned) -> None:
    """With another budget, ranges or seed of the sampler the result is that without a folder."""
    small = tuned(budget=24, out=tmp_path)
    assert tuned(out=tmp_path) == usual
    assert tuned(budget=24, out=tmp_path) == small
    for other in ({"ranges": {"policy.size": "int:1:41"}}, {"sampler_seed": 2}):
        assert tuned(budget=20, out=tmp_path, **other) == tuned(budget=20, **other)


def test_failed_episodes_without_a_worst_score_fail_their_point() -> None:
    """Every third seed fails with every way, so that no point is complete."""
    with pytest.raises(DesimError, match=r"no point of the ranges .*: (WrongAction|PolicyFailed)"):
        tuned(policy=FAILS, ranges={"policy.how": "choice:wrong|else"}, budget=8)


@frozen
class Graded(Walk):
    """A walk with a worst score."""

    #: Less than any walk scores.
    figures = Figures(score_range=(-1_000.0, None))


def test_failed_episodes_count_with_the_worst_score() -> None:
    """Their points stay comparable."""
    found = tune(Graded, FAILS, {"steps": "choice:1|2"}, budget=8, seeds=range(4))
    assert min(s for s in found.best.training if s is not None) == -1_000
    assert found.failed == 0


def test_points_that_are_refused_are_no_end() -> None:
    """A model that takes some of the values only is searched where it takes them."""
    found = tuned(ranges={"steps": "int:-5:3", "policy.size": "int:1:2"})
    assert found.best.parameters == {"steps": 3, "policy.size": 2}
    assert found.failed > 0


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"ranges": {"policy.size": "7"}}, "range"),
        ({"ranges": {"policy.size": "int:9:3"}}, "policy.size: "),
        ({"ranges": {"policy.sizes": "int:1:2"}}, "no policy here lets 'sizes' vary"),
        ({"ranges": {"step": "int:1:2"}}, "step"),
        ({"ranges": {**SIZES, "steps": [1, 2]}}, "2 models and 1 policies were given"),
        ({"held_out": range(3, 6)}, "seed 3 is in both training and held-out seeds"),
        ({"seeds": ()}, "no seed was given"),
        ({"budget": 3}, "one point alone plays 4 seeds"),
        ({"budget": 0}, "budget=0 was given"),
        ({"sampler_seed": -1}, "sampler_seed=-1 was given"),
        ({"ranges": {"policy.size": "int:-900:-500"}}, "no point of the ranges"),
    ],
)
def test_a_wrong_request_is_refused(changes: Mapping[str, Any], text: str) -> None:
    """In one sentence."""
    with pytest.raises(DesimError) as fault:
        tuned(**changes)
    assert text in str(fault.value)


def test_without_optuna_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named."""
    find = builtins.__import__

    def missing(name: str, *others: Any) -> Any:
        if name == "optuna":
            raise ModuleNotFoundError(name=name)
        return find(name, *others)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(UsageError, match=r"tuning needs Optuna: pip install 'desim\[tune\]'"):
        tuned()


@pytest.fixture
def desim(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Run a command in this process."""
    from click.testing import CliRunner
    from support.command_line import Ended

    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*arguments: str) -> Ended:
        done = CliRunner().invoke(main, [*arguments], prog_name="desim")
        return Ended(done.exit_code, done.stdout, done.stderr)

    return run


def test_the_command_prints_one_object_or_a_table(desim: Any, tmp_path: Path) -> None:
    """Nothing else is on standard output or error, also where a study is stored."""
    import msgspec

    command = ["tune", WALK, "--policy", STRIDE, "--set", "policy.size=int:1:40", "--jobs", "1"]
    command += ["--budget", "24", "--seeds", "0:4", "--held-out", "4:8"]
    command += ["--out", str(tmp_path)]
    first = desim(*command, "--json")
    assert (first.code, first.err) == (0, "")
    plain = msgspec.json.decode(first.out)
    found = tuned(budget=24)
    assert plain["best"]["parameters"] == found.best.parameters
    assert plain["difference"]["mean"] == found.difference.mean  # type: ignore[union-attr]
    table = desim(*command)
    assert (table.code, table.err) == (0, "")
    assert [line.rstrip() for line in table.out.splitlines()] == str(found).splitlines()
    assert "best, held-out seeds" in table.out


def test_ctrl_c_prints_the_best_so_far(desim: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And how to go on."""
    from desim.engine.run import playing

    start = playing.Playing.play
    count = iter(range(100))

    def play(self: Any, wanted: Any) -> None:
        if next(count) == 9:
            raise KeyboardInterrupt
        start(self, wanted)

    monkeypatch.setattr(playing.Playing, "play", play)
    ended = desim("tune", WALK, "--policy", STRIDE, "--set", "policy.size=int:1:40", "--budget=99")
    refused(ended, "99 episodes; ", code=130)
    assert "with --out it could be continued" in ended.err


def test_the_command_refuses_what_is_missing(desim: Any) -> None:
    """A policy, and a range."""
    refused(
        desim("tune", WALK, "--set", "steps=int:1:3", "--budget", "9"), "Missing option '--policy'"
    )
    refused(desim("tune", WALK, "--policy", GATED, "--budget", "99"), "Missing option '--set'")
