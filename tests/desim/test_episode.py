"""Records: what is written when, what can be read again, and the drivers that write them."""

import asyncio
import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from attrs import define, field, frozen

from desim import Episode, play, play_async, play_series
from desim.episode import FORMAT
from desim.errors import BadRecord, PolicyFailed, UsageError, WrongAction
from models.beer_game import BeerGame, Order, Stage
from policies.heuristics.beer_game import Foresight

GAME = BeerGame(horizon=6)
SEATS = dict.fromkeys(("retailer", "wholesaler"), "typical")


@pytest.fixture(params=["run.jsonl", "run.jsonl.gz"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where a record goes, plain or gzipped."""
    return tmp_path / str(request.param)


@define
class Dies:
    """A policy that fails after some decisions."""

    after_weeks: int
    fault: BaseException

    def decide(self, stage: Stage) -> Order:
        """Order as many as weeks have passed."""
        if stage.week == self.after_weeks:
            raise self.fault
        return Order(stage.week)


class Killed(BaseException):
    """What no policy can catch."""


def text_of(file: Path) -> bytes:
    """Return what a whole record holds."""
    raw = file.read_bytes()
    return gzip.decompress(raw) if file.suffix == ".gz" else raw


def lines_of(file: Path) -> list[dict[str, Any]]:
    """Return the lines of a whole record."""
    return [json.loads(line) for line in text_of(file).splitlines()]


def test_a_record_holds_header_decisions_and_result(file: Path) -> None:
    """One JSON object a line; actions are tagged; the digest covers all lines before the last."""
    episode = play(GAME, SEATS, 3, record=file)
    head, *steps, last = lines_of(file)
    assert head["format"] == FORMAT
    assert (head["model"], head["preset"], head["seed"]) == ("beer_game", "firmbench", 3)
    assert head["policies"] == SEATS
    assert head["params"]["horizon"] == 6
    assert [(s["t"], s["role"]) for s in steps] == [(w, r) for w in range(6) for r in SEATS]
    assert steps[0]["action"] == {"do": "order", "quantity": 0}
    assert steps[0]["observation"]["inventory"] == 400
    assert "notes" not in steps[0]
    assert last["score"] == episode.score
    assert last["decisions"] == 12
    before, _, _ = text_of(file).rstrip(b"\n").rpartition(b"\n")
    assert last["record_digest"] == hashlib.sha256(before + b"\n").hexdigest()


def test_what_was_played_can_be_read(file: Path) -> None:
    """Header, steps and result, with observations and actions as plain values."""
    played = play(GAME, SEATS, record=file)
    read = Episode.read(file)
    assert (read.header, read.result) == (played.header, played.result)
    assert read.summary() == played.summary()
    assert [(s.t, s.role) for s in read.steps] == [(s.t, s.role) for s in played.steps]
    assert [s.action for s in read.steps] == [
        {"do": "order", "quantity": s.action.quantity} for s in played.steps
    ]
    assert Episode.read(file, whole=False) == read


def test_an_episode_can_be_written_later(tmp_path: Path) -> None:
    """Byte for byte the record that would have been written at once, from memory or from a file."""
    played = play(GAME, SEATS, record=tmp_path / "first")
    played.write(tmp_path / "second")
    Episode.read(tmp_path / "first").write(tmp_path / "third.gz")
    assert (tmp_path / "second").read_bytes() == (tmp_path / "first").read_bytes()
    assert text_of(tmp_path / "third.gz") == (tmp_path / "first").read_bytes()


def test_a_gzipped_record_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    """Neither the file's name nor the time is in it."""
    for name in ("a.gz", "b.gz"):
        play(GAME, "typical", record=tmp_path / name)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize("fault", [ValueError("no idea"), Killed()], ids=["failed", "killed"])
def test_a_record_is_on_disk_before_the_next_decision(file: Path, fault: BaseException) -> None:
    """Whatever ends the run, the decisions before it can be read."""
    with pytest.raises((PolicyFailed, Killed)):
        play(GAME, Dies(4, fault), record=file)
    with pytest.raises(BadRecord, match="was cut after 4 decisions: it has no result"):
        Episode.read(file)
    cut = Episode.read(file, whole=False)
    assert [s.action["quantity"] for s in cut.steps] == [0, 1, 2, 3]
    assert cut.result is None
    assert cut.header.build() == GAME


def test_each_line_is_flushed(file: Path) -> None:
    """Another process reads along while the episode is played."""
    seen: list[int] = []

    class Reads:
        def decide(self, stage: Stage) -> Order:
            seen.append(len(Episode.read(file, whole=False).steps))
            return Order(0)

    play(GAME, Reads(), record=file)
    assert seen == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("ask", ["score", "ended", "metrics", "ledger_digest"])
def test_a_cut_record_has_no_result(tmp_path: Path, ask: str) -> None:
    """Asking for what only the end could tell is refused; so are summary and writing."""
    file = tmp_path / "run"
    with pytest.raises(PolicyFailed):
        play(GAME, Dies(2, ValueError()), record=file)
    cut = Episode.read(file, whole=False)
    with pytest.raises(BadRecord, match="cut before the episode ended"):
        getattr(cut, ask)
    with pytest.raises(BadRecord, match="cut before the episode ended"):
        cut.write(tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_record_cut_anywhere_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    """In the middle of a line, after a line, in the result: never a wrong decision."""
    file, cut = tmp_path / "run", tmp_path / "cut"
    played = Episode.read(play_to(file))
    raw = file.read_bytes()
    head = raw.index(b"\n") + 1
    for end in range(head, len(raw), 7):
        cut.write_bytes(raw[:end])
        read = Episode.read(cut, whole=False)
        whole_lines = raw[:end].count(b"\n") - 1
        assert read.steps == played.steps[:whole_lines], end
        assert read.result is None, end
        with pytest.raises(BadRecord, match="was cut"):
            Episode.read(cut)


def test_a_gzip_cut_anywhere_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """Every flushed decision before the cut is there."""
    file, cut = tmp_path / "run.gz", tmp_path / "cut.gz"
    played = Episode.read(play_to(file))
    raw = file.read_bytes()
    counts = []
    for end in range(len(raw) // 3, len(raw), 11):
        cut.write_bytes(raw[:end])
        read = Episode.read(cut, whole=False)
        assert read.steps == played.steps[: len(read.steps)]
        counts.append(len(read.steps))
    assert counts == sorted(counts)
    assert counts[-1] == len(played.steps)


def play_to(file: Path) -> Path:
    """Record an episode of ten weeks."""
    play(BeerGame(horizon=10), "typical", record=file)
    return file


def test_a_decision_that_speaks_of_digests_is_no_result(tmp_path: Path) -> None:
    """A cut record stays cut, whatever the last observation or note says."""

    class Notes:
        notes = {"record_digest": "record_digest"}  # noqa: RUF012 (as careless users write it)

        def decide(self, stage: Stage) -> Order:
            return Dies(2, ValueError()).decide(stage)

    with pytest.raises(PolicyFailed):
        play(GAME, Notes(), record=tmp_path / "run")
    assert len(Episode.read(tmp_path / "run", whole=False).steps) == 2


def test_an_existing_file_is_kept(file: Path) -> None:
    """Nothing is played, nothing is written."""
    file.write_text("precious")
    with pytest.raises(UsageError, match=r"exists and is kept; choose another name"):
        play(GAME, Dies(0, AssertionError("it was played")), record=file)
    assert file.read_text() == "precious"


def test_a_record_needs_its_folder(tmp_path: Path) -> None:
    """A missing folder is not made."""
    with pytest.raises(UsageError, match=r"cannot write .*run: No such file or directory"):
        play(GAME, "typical", record=tmp_path / "missing" / "run")
    with pytest.raises(UsageError, match=r"exists and is kept|Is a directory"):
        play(GAME, "typical", record=tmp_path)


@pytest.mark.parametrize("wrong", ["no_such_policy", "base_stock,target=x", {"x": "typical"}, {}])
def test_a_wrong_call_leaves_no_file(tmp_path: Path, wrong: Any) -> None:
    """What is refused before the first decision is not recorded."""
    model = BeerGame(horizon=6) if wrong else Demanding()
    with pytest.raises(UsageError):
        play(model, wrong, record=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_model_is_an_instance() -> None:
    """Its class alone has no parameters."""
    with pytest.raises(UsageError, match=r"^BeerGame is a class; give an instance: BeerGame\(\)$"):
        play(BeerGame, "typical")  # type: ignore[arg-type]


@frozen
class Demanding:
    """A game that cannot play its own seats."""

    horizon: int = 1

    @property
    def roles(self) -> Any:
        """The retailer alone, who is needed."""
        from desim import Role

        return {"retailer": Role(Stage, Order)}

    def begin(self, world: Any) -> None:
        """Never reached."""

    score = metrics = begin


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file is empty; a record starts with a header"),
        (b"\x00\xff\x80junk\n\x00", "no episode record: its first line is no header"),
        (b"{}\n", "no episode record"),
        (b'{"format": null}\n', "no episode record"),
        (b'{"a": 1}\n{"b": 2}\n', "no episode record"),
        (b"[]\n", "no episode record"),
        (b'[{"format": "desim-episode/1"}]\n', "no episode record"),
        (b"3\n", "no episode record"),
        (b"null\n", "no episode record"),
        (b"not json\n", "no episode record"),
        (b"\n\n\n", "no episode record"),
        (b'{"format": "desim-episode/99"}\n', "format 'desim-episode/99'; this desim .* reads"),
        (b'{"format": 3}\n', "has format 3"),
        (b'{"format": "desim-episode/1"}\n', "line 1: .*missing required field"),
        (b"\x1f\x8b\x08", "the file is empty"),
        (b"\x1f\x8b" + bytes(50), "the file is empty"),
        (gzip.compress(b""), "the file is empty"),
        (gzip.compress(b"junk\n"), "no episode record"),
        (b"[" * 100_000, "no episode record"),
    ],
    ids=lambda value: repr(value)[:40],
)
@pytest.mark.parametrize("whole", [True, False])
def test_what_is_no_record_is_refused(
    tmp_path: Path, content: bytes, says: str, *, whole: bool
) -> None:
    """With the file's name and what is wrong with it."""
    (tmp_path / "run").write_bytes(content)
    with pytest.raises(BadRecord, match=says) as refused:
        Episode.read(tmp_path / "run", whole=whole)
    assert str(refused.value).startswith(str(tmp_path / "run"))


def test_a_missing_file_and_a_folder_cannot_be_read(tmp_path: Path) -> None:
    """The reason is the system's."""
    with pytest.raises(BadRecord, match=r"cannot read .*nothing: No such file"):
        Episode.read(tmp_path / "nothing")
    with pytest.raises(BadRecord, match=r"cannot read .*: Is a directory"):
        Episode.read(tmp_path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: lines[:3] + lines[4:], "altered"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "altered"),
        (lambda lines: [*lines[:2], lines[2].replace(b":", b": ", 1), *lines[3:]], "altered"),
        (lambda lines: [lines[0].replace(b'"seed":0', b'"seed":1'), *lines[1:]], "altered"),
        (lambda lines: [*lines[:2], b"{\n", *lines[3:]], "altered|decision 2 .* not readable"),
        (lambda lines: lines[:-1], "was cut after 6 decisions"),
        (lambda lines: [*lines[:-1], lines[-1][:-1]], "was cut"),
        (lambda lines: lines[:1], "was cut after 0 decisions"),
        (lambda lines: [*lines, b"\n"], "was cut"),
        (lambda lines: [*lines[:-1], b'{"record_digest":1}\n'], "last line is no result"),
        (lambda lines: [*lines[:-1], b'["record_digest"]\n'], "last line is no result"),
        (lambda lines: [*lines[:-1], b'"record_digest"\n'], "last line is no result"),
        (lambda lines: [line[:-1] + b"\r\n" for line in lines], "altered|no result"),
    ],
    ids=range(13),
)
def test_an_altered_record_is_refused(
    file: Path, change: Callable[[list[bytes]], list[bytes]], says: str
) -> None:
    """By its digest, or because a line can no longer be read."""
    play(GAME, "typical", record=file)
    changed = b"".join(change(text_of(file).splitlines(keepends=True)))
    file.write_bytes(gzip.compress(changed) if file.suffix == ".gz" else changed)
    with pytest.raises(BadRecord, match=says):
        Episode.read(file)


def test_a_step_that_is_none_is_named(tmp_path: Path) -> None:
    """Its number and line, also in a cut record."""
    play(GAME, "typical", record=tmp_path / "run")
    lines = (tmp_path / "run").read_bytes().splitlines(keepends=True)
    (tmp_path / "cut").write_bytes(b"".join([*lines[:2], b'{"t":"x"}\n', *lines[3:5]]))
    with pytest.raises(BadRecord, match=r"decision 2 \(line 3\) is not readable: .*`\$.t`"):
        Episode.read(tmp_path / "cut", whole=False)


# -- notes -----------------------------------------------------------------------------------------


@define
class Thinks:
    """A policy that counts its tokens."""

    notes: dict[str, Any] = field(factory=dict)

    def decide(self, stage: Stage) -> Order:
        """Note something in every second week."""
        self.notes = {} if stage.week % 2 else {"tokens": stage.week, "tried": ["a"]}
        return Order(0)


def test_notes_of_a_policy_are_recorded(file: Path) -> None:
    """With the decision they belong to; none is written where there is none."""
    episode = play(GAME, Thinks(), record=file)
    expected = [{"tokens": w, "tried": ["a"]} if w % 2 == 0 else None for w in range(6)]
    assert [s.notes for s in episode.steps] == expected
    assert [s.notes for s in Episode.read(file).steps] == expected


def test_notes_are_a_copy() -> None:
    """A policy may go on writing in the same lists."""

    class Appends:
        def __init__(self) -> None:
            self.notes: dict[str, Any] = {"weeks": []}

        def decide(self, stage: Stage) -> Order:
            self.notes["weeks"].append(stage.week)
            return Order(0)

    steps = play(GAME, Appends()).steps
    assert [s.notes["weeks"] for s in steps if s.notes] == [[*range(w + 1)] for w in range(6)]


@pytest.mark.parametrize("notes", [{"x": object()}, {"x": Order}, 3, "text"], ids=repr)
def test_notes_that_cannot_be_written_are_the_policys_fault(notes: Any) -> None:
    """It is named whether or not a record is written."""

    class Scribbles:
        def __init__(self) -> None:
            self.notes = notes

        def decide(self, stage: Stage) -> Order:
            return Order(0)

    with pytest.raises(PolicyFailed, match="Scribbles failed as 'retailer' at t=0"):
        play(GAME, Scribbles())


# -- failing policies ------------------------------------------------------------------------------


def test_a_failing_policy_is_named() -> None:
    """Who, where, when and why; the original error is chained."""
    fault = KeyError("missing")
    with pytest.raises(PolicyFailed) as failed:
        play(GAME, {"wholesaler": Dies(3, fault), "retailer": "typical"})
    assert str(failed.value).startswith("policy Dies(after_weeks=3")
    assert str(failed.value).endswith("failed as 'wholesaler' at t=3: KeyError: 'missing'")
    assert failed.value.__cause__ is fault
    assert len(failed.value.args) == 1


def test_a_policy_from_a_spec_is_named_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by what its instance looks like."""

    def breaks(self: Foresight, stage: Stage) -> Order:
        raise ZeroDivisionError

    monkeypatch.setattr(Foresight, "decide", breaks)
    with pytest.raises(PolicyFailed, match=r"^policy foresight failed as 'retailer' at t=0: Zero"):
        play(GAME, "foresight")


def test_an_error_of_ours_passes_as_it_is() -> None:
    """It says enough, and is not its own cause."""
    fault = PolicyFailed("out of script")
    for run in (play, lambda *a: asyncio.run(play_async(*a))):
        with pytest.raises(PolicyFailed) as failed:
            run(GAME, Dies(1, fault))
        assert failed.value is fault
        assert failed.value.__cause__ is None


@pytest.mark.parametrize("answer", [None, 12, {"do": "ordr"}, Order])
def test_a_wrong_answer_names_role_and_time(answer: Any) -> None:
    """It is the policy's action that is wrong, and nothing of it is recorded."""

    class Answers:
        def decide(self, stage: Stage) -> Any:
            return answer

    with pytest.raises(WrongAction, match=r"'retailer' answered at t=0: .*expected Order"):
        play(GAME, Answers())


def test_a_coroutine_needs_the_other_driver() -> None:
    """It is told so; no warning of a coroutine never awaited is left behind."""

    class Waits:
        async def decide(self, stage: Stage) -> Order:
            return Order(0)

    with pytest.raises(PolicyFailed, match="'retailer' is played by a coroutine; use play_async"):
        play(GAME, Waits())


# -- coroutines ------------------------------------------------------------------------------------


def test_coroutines_of_one_instant_overlap() -> None:
    """Each waits until all have been asked: alone, none would ever answer."""
    names = GAME.stages
    asked: list[str] = []
    everybody = asyncio.Event()

    class Meets:
        async def decide(self, stage: Stage) -> Order:
            asked.append(stage.role)
            if len(asked) % len(names) == 0:
                everybody.set()
            await everybody.wait()
            return Order(stage.week)

    async def meet() -> Episode:
        return await asyncio.wait_for(play_async(GAME, {n: Meets() for n in names}), timeout=60)

    episode = asyncio.run(meet())
    assert asked == list(names) * 6
    assert [s.role for s in episode.steps] == asked


def test_both_drivers_play_the_same_episode(tmp_path: Path) -> None:
    """Answers that come in another order are written in the order of the questions."""
    finished: list[str] = []

    class Slow:
        def __init__(self, turns: int) -> None:
            self.turns = turns

        async def decide(self, stage: Stage) -> Order:
            for _ in range(self.turns):
                await asyncio.sleep(0)
            finished.append(stage.role)
            return Order(stage.incoming_order)

    seats = {"retailer": Slow(3), "wholesaler": Slow(1), "brewery": "last_demand"}
    plain = dict.fromkeys(seats, "last_demand")
    slow = asyncio.run(play_async(GAME, seats, 1, record=tmp_path / "slow"))
    fast = play(GAME, plain, 1, record=tmp_path / "fast")
    assert finished[:2] == ["wholesaler", "retailer"]
    assert (slow.steps, slow.result) == (fast.steps, fast.result)
    assert lines_of(tmp_path / "slow")[1:-1] == lines_of(tmp_path / "fast")[1:-1]


def test_a_failing_coroutine_is_named() -> None:
    """As a failing policy is."""

    class Breaks:
        async def decide(self, stage: Stage) -> Order:
            await asyncio.sleep(0)
            raise OSError("no answer")

    with pytest.raises(PolicyFailed, match=r"failed as 'retailer' at t=0: OSError: no answer") as e:
        asyncio.run(play_async(GAME, Breaks()))
    assert isinstance(e.value.__cause__, OSError)


def test_when_one_coroutine_fails_the_others_are_stopped() -> None:
    """They would go on, and pay, for an episode that has ended."""
    reached: list[str] = []

    class Breaks:
        async def decide(self, stage: Stage) -> Order:
            raise OSError("no answer")

    class Thinks:
        async def decide(self, stage: Stage) -> Order:
            reached.append("asked")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            reached.append("thought it over")
            return Order(0)

    async def run() -> None:
        with pytest.raises(PolicyFailed):
            await play_async(GAME, {"retailer": Breaks(), "wholesaler": Thinks()})
        for _ in range(9):
            await asyncio.sleep(0)

    asyncio.run(run())
    assert reached == ["asked"]


# -- series ----------------------------------------------------------------------------------------


@define
class Learns:
    """A policy that orders one unit more in every episode."""

    quantity: int = 0
    shown: list[Episode] = field(factory=list)

    def decide(self, stage: Stage) -> Order:
        """Order what was learned."""
        return Order(self.quantity)

    def after(self, episode: Episode) -> None:
        """Learn."""
        self.quantity += 1
        self.shown.append(episode)


def test_a_series_lets_a_policy_learn(tmp_path: Path) -> None:
    """It is shown every episode, and the next is played with the same instance."""
    policy = Learns()
    episodes = play_series(GAME, policy, [5, 5, 6], record=tmp_path)
    assert policy.shown == episodes
    assert [e.header.seed for e in episodes] == [5, 5, 6]
    assert [[s.action.quantity for s in e.steps] for e in episodes] == [[n] * 6 for n in range(3)]
    assert sorted(f.name for f in tmp_path.iterdir()) == [
        "episode-001.jsonl",
        "episode-002.jsonl",
        "episode-003.jsonl",
    ]
    assert Episode.read(tmp_path / "episode-002.jsonl").summary() == episodes[1].summary()
    assert {e.header.policies["retailer"] for e in episodes} == {"Learns(quantity=0, shown=[])"}


def test_a_class_in_a_series_is_built_once() -> None:
    """Every role gets its own instance, which lives through all episodes."""
    episodes = play_series(GAME, {"retailer": Learns, "brewery": Learns}, range(3))
    orders = [{s.role: s.action.quantity for s in e.steps} for e in episodes]
    assert orders == [{"retailer": n, "brewery": n} for n in range(3)]
    assert play_series(GAME, Learns, []) == []


def test_a_policy_that_does_not_learn_plays_a_series_as_single_episodes() -> None:
    """Spec, model by name, and seeds as any iterable."""
    seeds = iter([1, 2])
    series = play_series("beer_game/poisson", "benchmark", seeds)
    assert series == [play("beer_game/poisson", "benchmark", s) for s in (1, 2)]


def test_a_summary_is_plain() -> None:
    """It is what `--json` prints: one flat object in a stated order."""
    summary = play(GAME, "typical", 2).summary()
    assert [*summary] == [
        "model",
        "preset",
        "params",
        "seed",
        "policies",
        "score",
        "ended",
        "metrics",
        "decisions",
        "ledger_digest",
        "version",
    ]
    assert json.loads(msgspec.json.encode(summary)) == summary
