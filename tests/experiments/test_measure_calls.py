"""The shipped figures of calls and tokens are those that a stub gives today."""

from pathlib import Path

import pytest
from support.suites import bench

from desim.suites.expected_calls import MeasuredCalls, PlayedAs, expected_use, shipped
from experiments.measure_calls import everything, measured, presets

#: Worlds and methods that are measured again in every run; each takes a fraction of a second.
QUICK = (
    ("beer_game/firmbench", "llm"),
    ("beer_game/firmbench", "llm,method=self_refine"),
    ("edt/published", "llm,method=ace"),
    ("consulting/published", "llm,method=debate"),
    ("reasoning/small", "llm,method=dynamic_cheatsheet"),
)

#: Every world once.
SLOW = (
    *("beer_game/poisson", "edt/interactive", "enterprise_arena/paper", "yc_bench/default"),
    *("consulting/paper", "reasoning/online", "enterprise/small"),
)


def check(one: MeasuredCalls) -> None:
    """Compare figures with those that ship."""
    [old] = [each for each in shipped() if each.played == one.played]
    for name in ("calls", "prompt_tokens", "completion_tokens"):
        now, then = getattr(one, name), getattr(old, name)
        assert abs(now - then) <= 0.03 * then, (
            f"{name} of {one.played.world} are {now:,} and were {then:,}; "
            f"python experiments/measure_calls.py --only {one.played.world} measures again"
        )


def measured_again(world: str, spec: str) -> MeasuredCalls:
    """Measure a preset again."""
    return next(
        measured(played, model)
        for played, model in presets()
        if played.world == world and {*played.policies.values()} == {spec}
    )


@pytest.mark.parametrize(("world", "spec"), QUICK)
def test_the_shipped_figures_are_those_of_the_prompts(world: str, spec: str) -> None:
    """A prompt that changes by more than 3 % is measured again."""
    check(measured_again(world, spec))


@pytest.mark.slow
@pytest.mark.parametrize("world", SLOW)
def test_every_world_is_as_shipped(world: str) -> None:
    """Without a method, one preset of each world, those with hundreds of calls included."""
    check(measured_again(world, "llm"))


@pytest.mark.filterwarnings("ignore:router=table_4")
def test_every_preset_ships_with_every_method() -> None:
    """What the papers' suites play is there as well."""
    known = [one.played for one in shipped()]
    assert [one for one, _ in everything().values() if one not in known] == []


# -- which figures are used ------------------------------------------------------------------------

PLAIN = MeasuredCalls(PlayedAs("game/one", {}, 1, {"seat": "llm,method=cot"}), 2, 10, 100, 20)
CHANGED = MeasuredCalls(
    PlayedAs("game/one", {"weeks": "6"}, 1, {"seat": "llm,method=cot"}), 2, 5, 50, 10
)


@pytest.mark.parametrize(
    ("played", "calls", "differs"),
    [
        (PlayedAs("game/one", {}, 1, {"seat": "llm,method=cot"}), 10, ()),
        (PlayedAs("game/one", {"weeks": "6"}, 1, {"seat": "llm,method=cot"}), 5, ()),
        (PlayedAs("game/one", {}, 1, {"seat": "llm,history=5,method=cot"}), 10, ("options",)),
        (PlayedAs("game/one", {}, 6, {"seat": "llm,method=cot"}), 10, ("episodes",)),
        (PlayedAs("game/one", {"weeks": "9"}, 1, {"seat": "llm,method=cot"}), 10, ("parameters",)),
    ],
)
def test_the_nearest_figures_are_used(
    played: PlayedAs, calls: float, differs: tuple[str, ...]
) -> None:
    """What differs from the measurement is said."""
    found = expected_use(played, [CHANGED, PLAIN])
    assert found is not None
    assert (found.measured.calls, found.differs) == (calls, differs)


@pytest.mark.parametrize(
    "played",
    [
        PlayedAs("game/two", {}, 1, {"seat": "llm,method=cot"}),
        PlayedAs("game/one", {}, 1, {"seat": "llm,method=ace"}),
        PlayedAs("game/one", {}, 1, {"other": "llm,method=cot"}),
    ],
)
def test_another_world_method_or_role_has_no_figures(played: PlayedAs) -> None:
    """They would be of something else."""
    assert expected_use(played, [CHANGED, PLAIN]) is None


# -- the command -----------------------------------------------------------------------------------

SUITE = """
seeds = "0:4"
[worlds.beer]
model = "beer_game/firmbench"
[entries.m]
model = "m"
base_url = "http://127.0.0.1:9/v1"
key_env = "NO_SUCH_KEY"
price_in = 1
price_out = 2
method = "cot"
"""


@pytest.mark.parametrize("more", [(), ("--written", "1000")])
def test_a_dry_run_prints_calls_tokens_and_money(tmp_path: Path, more: tuple[str, ...]) -> None:
    """Without a key and without a server; tokens written may be given."""
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    code, printed, errors = bench(path, tmp_path / "out", "--dry-run", *more)
    assert code == 0, errors
    played = PlayedAs("beer_game/firmbench", {}, 1, {"retailer": "llm,method=cot"})
    [one] = [each for each in shipped() if each.played == played]
    written = 4 * one.calls * 1000 if more else 4 * one.completion_tokens
    cost = (4 * one.prompt_tokens + 2 * written) / 1e6
    assert f"{4 * one.calls:,.0f} calls, {4 * one.prompt_tokens:,.0f} tokens read, " in printed
    assert f"{written:,.0f} tokens written; cost {cost:.4g}\n" in printed
    assert "stub, 2 seeds" in printed
    assert not (tmp_path / "out").exists()


def test_written_belongs_to_a_dry_run(tmp_path: Path) -> None:
    """It changes nothing that is played."""
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    code, _, errors = bench(path, tmp_path / "out", "--written", "5")
    assert code == 2
    assert "--written belongs to --dry-run" in errors
