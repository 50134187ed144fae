"""Grids, failures and executors: what is played, in which order, and that nothing else matters."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desim import catalog, play
from desim.errors import DesimError, UsageError
from desim.sweeps.axes import combinations
from desim.sweeps.cluster import cluster
from desim.sweeps.executors import Played, Pooled, Queue, Work, WorkerDied
from desim.sweeps.grid import grid
from desim.sweeps.jobs import Job, play_job, play_some
from desim.sweeps.journal import Journal
from desim.sweeps.sweep import stopped, sweep

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

STRIDE, FAILS = "small_worlds:Stride", "small_worlds:Fails"


@pytest.fixture(autouse=True)
def small_worlds_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put this folder on the path, here and in processes started from here."""
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), str(ROOT)]))


def world(name: str = "Walk") -> type:
    """A class of the small world."""
    return catalog._load(f"small_worlds:{name}", "class")


# -- what is played --------------------------------------------------------------------------------


def test_jobs_come_as_models_then_policies_then_seeds() -> None:
    """The last parameter runs faster than the first, seeds fastest of all."""
    rows = sweep(
        "small_worlds:Walk",
        [STRIDE, f"{STRIDE},size=2"],
        [7, 3],
        set={"steps": [1, 2], "wind": [0, 0.5]},
    )
    order = [(*row["params"].values(), row["policy"], row["seed"]) for row in rows]
    assert order == [
        (steps, wind, policy, seed)
        for steps in (1, 2)
        for wind in (0.0, 0.5)
        for policy in (STRIDE, f"{STRIDE},size=2")
        for seed in (7, 3)
    ]


def test_a_row_tells_what_play_tells() -> None:
    """Figures are those of the episode; nested ones are named by their path, nan is unknown."""
    job = grid("small_worlds:Walk/long", f"{STRIDE}, size=0", [4]).job(0)
    episode = play("small_worlds:Walk/long", {"walker": world("Stride")(size=0)}, 4)
    assert play_job(job) == {
        "model": "small_worlds:Walk",
        "preset": "long",
        "params": {},
        "policy": f"{STRIDE},size=0",
        "seed": 4,
        "score": episode.score,
        "ended": "walked",
        "decisions": 9,
        "metrics": {
            "far": False,
            "reached.2": False,
            "reached.5": False,
            "first_gust": episode.metrics["first_gust"],
            "ratio": None,
            "gusts": episode.metrics["gusts"],
        },
        "ledger_digest": episode.ledger_digest,
        "error": None,
    }
    assert list(play_job(job)) == [*sweep("small_worlds:Walk", STRIDE, [0])[0]]


def test_models_may_be_names_presets_classes_and_instances() -> None:
    """Parameters shown are those that differ from the preset in any model of the class."""
    walk = world()
    rows = sweep(["small_worlds:Walk/long", walk, walk(steps=8)], STRIDE, [0])
    assert [(row["preset"], row["params"]) for row in rows] == [
        ("long", {"steps": 9}),
        ("short", {"steps": 3}),
        ("short", {"steps": 8}),
    ]
    assert {row["model"] for row in rows} == {"small_worlds:Walk"}


def test_parameters_may_be_texts_numbers_of_numpy_and_lists() -> None:
    """Whatever is given arrives with the type of the parameter."""
    np = pytest.importorskip("numpy")
    changes = {"steps": np.arange(1, 3), "wind": "0.5", "goals": [[1, 4], (2,)]}
    params = [row["params"] for row in sweep("small_worlds:Walk", STRIDE, [0], set=changes)]
    assert params == [
        {"steps": steps, "wind": 0.5, "goals": goals} for steps in (1, 2) for goals in ([1, 4], [2])
    ]


@given(st.lists(st.lists(st.integers(), min_size=1, max_size=3, unique=True), max_size=3))
def test_a_grid_holds_every_combination_once(axes: list[list[int]]) -> None:
    """As many as the product of the axes, all different, in the order of the axes."""
    found = [
        tuple(map(int, c.values())) for c in combinations(dict(zip("abc", axes, strict=False)))
    ]
    places = [tuple(axis.index(v) for axis, v in zip(axes, one, strict=True)) for one in found]
    assert places == sorted(set(places))
    count = 1
    for axis in axes:
        count *= len(axis)
    assert len(found) == count


def test_arguments_vary_for_policies_that_take_them() -> None:
    """A policy without the argument, or with a fixed one, is played once."""
    rows = sweep(
        "small_worlds:Walk",
        [STRIDE, "random", f"{STRIDE},size=9", {"walker": world("Stride"), "helper": "greedy"}],
        [0],
        set={"policy.size": [2, 3]},
    )
    assert rows.column("policy") == [
        f"{STRIDE},size=2",
        f"{STRIDE},size=3",
        "random",
        f"{STRIDE},size=9",
        f"walker={STRIDE},size=2 helper=greedy",
        f"walker={STRIDE},size=3 helper=greedy",
    ]
    assert [row["decisions"] for row in rows] == [3, 3, 3, 3, 6, 6]


def test_all_policies_meet_the_same_winds() -> None:
    """Seeds are common random numbers: the world's draws do not depend on who plays."""
    rows = sweep("small_worlds:Walk", [STRIDE, "random"], range(20))
    winds = [rows.where(policy=policy).column("gusts") for policy in (STRIDE, "random")]
    assert winds[0] == winds[1]
    assert len({tuple(gusts) for gusts in winds[0]}) > 10


def test_an_instance_starts_every_episode_as_it_was_given() -> None:
    """What it remembers of one episode is not seen by the next, and the given one is not used."""
    counting = world("Counting")()
    rows = sweep("small_worlds:Walk", counting, range(3), set={"wind": 0})
    assert rows.column("score") == [6, 6, 6]
    assert rows.column("policy") == ["Counting(made=0)"] * 3
    assert counting.made == 0


def test_a_coroutine_can_play() -> None:
    """Policies that wait for an answer are driven by an event loop."""
    assert sweep("small_worlds:Walk", "small_worlds:Waiting", [1])[0]["decisions"] == 3


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"seeds": []}, "no seed was given; give at least one"),
        ({"seeds": [1, -1]}, "seed -1 was given; a seed is a whole number of at least 0"),
        ({"seeds": [True]}, "seed True was given; a seed is a whole number of at least 0"),
        ({"seeds": [0.5]}, "seed 0.5 was given; a seed is a whole number of at least 0"),
        ({"seeds": [1, 2, 1]}, "seed 1 is given twice; give it once"),
        ({"seeds": 5}, "seeds are 5; give a list or a range, such as range(100)"),
        ({"policies": []}, "no policy was given; give at least one"),
        ({"policies": [STRIDE, f" {STRIDE}"]}, f"policy {STRIDE} is given twice; give it once"),
        ({"policies": "gredy"}, "there is no policy 'gredy' for small_worlds:Walk; did you mean"),
        ({"policies": {"helper": STRIDE}}, "role 'walker' needs somebody to decide"),
        ({"policies": {"walkr": STRIDE}}, "there is no role 'walkr'; did you mean 'walker'?"),
        ({"policies": object()}, "an instance of object cannot be told from others of its class"),
        ({"policies": [f"{STRIDE},siz=3"]}, f"policy '{STRIDE}' has no argument 'siz'; did you"),
        ({"set": {"step": 3}}, "Walk has no parameter 'step'; did you mean 'steps'?"),
        ({"set": {"steps": [2, 2]}}, "steps 2 is given twice; give it once"),
        ({"set": {"steps": []}}, "steps has no value; give at least one"),
        ({"set": {"steps": 0.5}}, "steps=0.5 was given; steps is a whole number"),
        ({"set": {"steps": object}}, "<class 'object'> is no value for a parameter"),
        ({"set": {"policy.siz": 3}}, "no policy here lets 'siz' vary; did you mean 'size'?"),
        ({"model": []}, "no model was given; give at least one"),
        ({"model": ["small_worlds:Walk"] * 2}, "model small_worlds:Walk/short {} is given twice"),
        ({"model": "small_worlds:Strange"}, "Strange cannot be written down ("),
        ({"model": 3}, "3 is no model: it needs roles, begin, score and metrics"),
        ({"preset": "lnog"}, "Walk has no preset 'lnog'; did you mean 'long'?"),
        ({"jobs": 0}, "jobs=0 was given; it is a whole number of at least 1"),
        ({"executor": "ray=1"}, "executor 'ray=1' was given; possible: dask=ADDRESS"),
        ({"executor": 7}, "7 is no executor: it needs the methods run and close"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wrong_sweep_is_refused_before_it_starts(arguments: dict[str, Any], text: str) -> None:
    """One sentence tells what was given and what is possible."""
    usual = {"model": "small_worlds:Walk", "policies": STRIDE, "seeds": range(2)}
    with pytest.raises(UsageError) as refused:
        sweep(**{**usual, **arguments})
    assert str(refused.value).startswith(text)


def test_a_preset_belongs_to_a_name() -> None:
    """A built model has its parameters already."""
    with pytest.raises(UsageError, match="preset 'long' belongs to a model's name"):
        sweep(world()(), STRIDE, [0], preset="long")


# -- failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("raise", "PolicyFailed: policy Fails(seed=0, how='raise') failed as 'walker' at t=0: "),
        ("wrong", "WrongAction: 'walker' answered at t=0: Spot(place=0, step=0); expected Go"),
        ("exit", "SystemExit: 4"),
    ],
)
def test_a_failing_episode_is_a_row_and_the_rest_goes_on(how: str, error: str) -> None:
    """Whatever a policy does, its row tells it in one line without memory addresses."""
    rows = sweep("small_worlds:Walk", f"{FAILS},how={how}", range(5))
    assert [row["seed"] for row in rows.failed] == [0, 3]
    failed = rows[0]
    assert failed["error"].startswith(error)
    assert "\n" not in failed["error"]
    assert "0x" not in failed["error"]
    assert [failed[key] for key in ("score", "ended", "decisions", "ledger_digest")] == [None] * 4
    assert failed["metrics"] == {}
    assert [row["decisions"] for row in rows if not row["error"]] == [3, 3, 3]


def test_a_model_that_fails_is_a_row_too() -> None:
    """A world in which time does not move, and one whose score has no end."""
    stuck = sweep("small_worlds:Walk", STRIDE, [0], set={"pace": 0, "steps": 99})[0]
    assert stuck["error"].startswith("Stuck: 'walker' was asked 51 times at t=0")
    endless = sweep(world()(wind=1e308), STRIDE, range(20)).failed[0]
    assert endless["error"] in {
        f"WrongResult: the model's score is {sign}inf; a score is a finite number"
        for sign in ("", "-")
    }


def test_an_interrupt_is_no_failed_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends the sweep; without a folder there is nothing to go on from."""

    def interrupted(_self: object, _spot: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(world("Stride"), "decide", interrupted)
    with pytest.raises(KeyboardInterrupt) as stop:
        sweep("small_worlds:Walk", STRIDE, range(3))
    assert str(stop.value) == ""


# -- executors -------------------------------------------------------------------------------------


def mixed(**more: Any) -> Any:
    """A sweep with parameters, two policies, and failures among the episodes."""
    return sweep("small_worlds:Walk", [STRIDE, FAILS], range(25), set={"steps": [2, 4]}, **more)


@pytest.mark.parametrize("jobs", [2, 8])
def test_rows_are_the_same_for_any_number_of_workers(jobs: int) -> None:
    """Not a bit differs, failures included."""
    assert lines(mixed(jobs=jobs)) == lines(mixed())


def lines(rows: Any) -> list[bytes]:
    """Rows as bytes."""
    return [msgspec.json.encode(row) for row in rows]


class Whimsical:
    """Plays as little of a chunk as it likes and hands chunks over in any order."""

    def __init__(self, whims: Sequence[int]) -> None:
        self.whims = whims
        self.workers = 1 + whims[0]
        self.jobs: list[Job] = []
        self.closed = False

    def run(self, work: Work, chunks: Queue) -> Iterator[Played]:
        """Take some chunks ahead, play a part of each, and yield the last first."""
        for whim in self.whims:
            ahead = [(index, jobs) for index, jobs in zip(range(whim + 1), chunks, strict=False)]
            self.seen = getattr(self, "seen", 0)
            for index, jobs in reversed(ahead):
                played = jobs[: 1 + whim]
                self.jobs += played
                yield self.seen + index, list(work(played))
            self.seen += len(ahead)
        self.seen = 0

    def close(self) -> None:
        """Remember it."""
        self.closed = True


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_rows_do_not_depend_on_chunks(whims: list[int]) -> None:
    """Cut anywhere and returned in any order, each job is played once and lands in its place."""
    made = Whimsical(whims)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HERE)
        rows = sweep("small_worlds:Walk", STRIDE, range(60), executor=made)
        assert rows.column("seed") == list(range(60))
        assert sorted(job.seed for job in made.jobs) == list(range(60))
    assert not made.closed  # who made it closes it


class Forgetful:
    """Plays every chunk but one, or loses them all."""

    def __init__(self, kept: int) -> None:
        self.kept = kept

    def run(self, work: Work, chunks: Queue) -> Iterator[Played]:
        """Yield some."""
        for index, jobs in enumerate(chunks):
            if index < self.kept:
                yield index, list(work(jobs))

    def close(self) -> None:
        """There is nothing to give back."""


@pytest.mark.parametrize(("kept", "lost"), [(0, 20), (1, 10)])
def test_an_executor_that_loses_jobs_is_found_out(kept: int, lost: int) -> None:
    """No sweep ends with fewer rows than it has jobs, or goes round for ever."""
    with pytest.raises(DesimError) as found:
        sweep("small_worlds:Walk", STRIDE, range(20), executor=Forgetful(kept))
    assert str(found.value) == f"the executor Forgetful lost {lost} of 20 episodes"


def test_progress_tells_every_finished_episode() -> None:
    """It starts at nothing, never goes back, and ends with all."""
    told: list[tuple[int, int]] = []
    sweep("small_worlds:Walk", STRIDE, range(30), progress=lambda *now: told.append(now))
    assert told[0] == (0, 30)
    assert told[-1] == (30, 30)
    assert told == sorted(told)


def test_a_dead_worker_is_one_error_and_loses_nothing_finished(tmp_path: Path) -> None:
    """A policy that leaves Python stops the sweep with advice; what was done is kept."""
    before = [f"{STRIDE},size={n}" for n in range(4)]
    with pytest.raises(WorkerDied) as died:
        sweep("small_worlds:Walk", [*before, f"{FAILS},how=die"], range(50), jobs=2, out=tmp_path)
    with Journal(tmp_path) as journal:
        kept = len(journal)
    assert 0 < kept < 250
    assert str(died.value).startswith("a worker process died: it ran out of memory, was killed")
    assert str(died.value).endswith(f"see which episode it is; {stopped(kept, 250)}")


def test_what_cannot_be_sent_to_a_worker_is_refused() -> None:
    """A class inside a function has no name that a worker could import."""

    class Local:
        def decide(self, _spot: object) -> object:
            return None

    with pytest.raises(UsageError, match=r"a job cannot be sent to a worker .* or use jobs=1"):
        sweep("small_worlds:Walk", Local, range(2), jobs=2)


def test_chunks_about_to_finish_are_waited_for_after_ctrl_c() -> None:
    """What a worker has begun is handed over before the interrupt goes on."""
    job = grid("small_worlds:Walk", STRIDE, [1]).job(0)

    def chunks() -> Iterator[list[Job]]:
        yield [job, job]
        raise KeyboardInterrupt

    pool = ThreadPoolExecutor(1)
    with closing(Pooled(pool, 1, lambda busy: pool.shutdown(wait=busy), ())) as players:
        played = players.run(play_some, chunks())
        assert next(played) == (0, [msgspec.json.encode(play_job(job))] * 2)
        with pytest.raises(KeyboardInterrupt):
            next(played)


def run(script: str, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a script that lies in a folder."""
    (folder / "script.py").write_text(script)
    command = [sys.executable, "script.py", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_script_may_sweep_its_own_policy_and_model(tmp_path: Path) -> None:
    """Classes of the script are found by workers; those of the current folder as well."""
    (tmp_path / "mine.py").write_text("from small_worlds import Stride as Mine\n")
    done = run(
        "import small_worlds\n"
        "from attrs import frozen\n"
        "from desim.sweeps.sweep import sweep\n"
        "class Own(small_worlds.Stride): pass\n"
        "Field = frozen(type('Field', (small_worlds.Walk,), {}))\n"
        "if __name__ == '__main__':\n"
        "    for jobs in (1, 2):\n"
        "        rows = sweep(Field, [Own, 'mine:Mine'], range(2), jobs=jobs)\n"
        "        print(rows.column('score'), rows.failed)\n",
        tmp_path,
    )
    one, two = done.stdout.splitlines()
    assert one == two
    assert "0 of which failed" in one


def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    """Workers import the script; where that starts the sweep again, the error says what to do."""
    done = run(
        "from desim import sweep\nsweep('small_worlds:Walk', 'greedy', range(9), jobs=2)\n",
        tmp_path,
    )
    assert done.returncode == 1
    assert "WorkerDied: a worker process died" in done.stderr
    assert 'put what it does under `if __name__ == "__main__":`' in done.stderr


def test_a_policy_that_only_this_process_has_is_told(tmp_path: Path) -> None:
    """A class made in `python -c` has no file that a worker could import."""
    code = (
        "import small_worlds; from desim.sweeps.sweep import sweep\n"
        "class Own(small_worlds.Stride): pass\n"
        "sweep('small_worlds:Walk', Own, range(9), jobs=2)\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "UsageError: a worker cannot make a job again (AttributeError" in done.stderr
    assert done.stderr.rstrip().endswith("in a file that can be imported, or use jobs=1")


def test_a_dask_cluster_plays_the_same_rows() -> None:
    """The jobs are the same wherever they are sent."""
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as here:
        rows = mixed(executor=f"dask={here.scheduler_address}")
        assert lines(rows) == lines(mixed())


def test_a_cluster_without_workers_is_refused() -> None:
    """Nobody would ever play."""
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as here,
        pytest.raises(UsageError, match="has no workers; start one with dask worker"),
    ):
        cluster(here.scheduler_address)


def test_a_cluster_that_does_not_answer_is_told() -> None:
    """The address is named."""
    pytest.importorskip("distributed", reason="needs the extra dask")
    with pytest.raises(UsageError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        cluster("tcp://127.0.0.1:9", seconds=0.3)


def test_dask_is_asked_for_only_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is not installed, the error says what to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install desim\[dask\]"):
        mixed(executor="dask=tcp://somewhere:8786")


def test_importing_a_sweep_loads_nothing_slow() -> None:
    """Databases, pools and clusters are imported by those who use them."""
    code = "import sys; old = {*sys.modules}; import desim; print(*{*sys.modules} - old)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    slow = {"sqlite3", "multiprocessing", "concurrent.futures.process", "numpy", "scipy", "rich"}
    assert slow & {*done.stdout.split()} == set()
