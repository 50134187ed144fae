"""Rules of submitters' own are asked in a process of their own, or refused."""

import shutil
import socket
from pathlib import Path

import pytest
from support.own_rules import COVER, SEED, covered, own_entry, with_code

from desim.verification import asked_rule
from desim.verification.entries.entry_folder import EntryFolder
from desim.verification.verify import Verdict, verify

_ = covered  # a fixture


def accepted(entry: Path) -> Verdict:
    """Verify an entry, which must be accepted."""
    verdict = verify(entry)
    assert (verdict.decision, verdict.sentences) == ("accepted", ())
    return verdict


# -- honest rules ----------------------------------------------------------------------------------

AVERAGE = """
from attrs import define
from helpers.orders import order


@define
class Average:
    total: int = 0
    weeks: int = 0

    def decide(self, stage):
        self.total += stage.incoming_order
        self.weeks += 1
        return order(self.total / self.weeks)
"""

DRAWN = """
import numpy as np
from models.beer_game import Order


class Drawn:
    draws = True
    notes = {}

    def __init__(self, generator):
        self.generator = generator

    @classmethod
    def seated(cls, seat, most: int = 9):
        made = cls(seat.generator())
        made.most = most
        return made

    def decide(self, stage):
        drawn = self.generator.integers(0, self.most)
        self.notes = {"drawn": float(np.sqrt(drawn))}
        return {"do": "order", "quantity": int(drawn)}
"""

RULES = """
class Constant:
    knows = "rules"

    def __init__(self, mean, action):
        self.mean, self.action = mean, action

    @classmethod
    def seated(cls, seat):
        assert seat.spec.options is not None
        return cls(seat.model.horizon, seat.spec.action)

    def decide(self, stage):
        return self.action(self.mean)
"""

FUNCTION = """
def chase(stage):
    from models.beer_game import Order

    print("x" * 1000)
    return Order(stage.incoming_order)
"""


def test_a_rule_with_arguments_is_asked_again(covered: Path) -> None:
    """The README's rule; the printed class of trust is that of shipped rules."""
    assert sorted(EntryFolder.opened(covered).code()) == ["cover_rule.py"]
    verdict = accepted(covered)
    assert (verdict.actions, verdict.episodes) == ("asked again", 1)
    assert "the rule gives this result on these seeds" in verdict.text


def test_a_rule_with_state_and_a_package_of_its_own_is_asked_again(tmp_path: Path) -> None:
    """The modules that it imports are copied, and no others of their package."""
    helpers = {
        "helpers/__init__.py": "from helpers.rounding import whole\n",
        "helpers/rounding.py": "def whole(value):\n    return round(value)\n",
        "helpers/orders.py": (
            "from models.beer_game import Order\n\nfrom . import whole\n\n\n"
            "def order(value):\n    return Order(whole(value))\n"
        ),
        "helpers/private.py": "SECRET = 1\n",
    }
    entry = own_entry(tmp_path, "average_rule:Average", {"average_rule.py": AVERAGE, **helpers})
    found = [*helpers][:3]
    assert sorted(EntryFolder.opened(entry).code()) == sorted(["average_rule.py", *found])
    accepted(entry)


def test_a_series_keeps_one_process(tmp_path: Path) -> None:
    """A rule that counts the weeks of all episodes decides as it did in one process."""
    source = AVERAGE.replace(
        "from helpers.orders import order", "from models.beer_game import Order"
    )
    source = source.replace("order(self.total", "Order(round(self.total").replace(
        "weeks)", "weeks))"
    )
    entry = own_entry(tmp_path, "series_rule:Average", {"series_rule.py": source}, episodes=2)
    assert accepted(entry).episodes == 2


def test_a_rule_that_draws_is_asked_again(tmp_path: Path) -> None:
    """It draws the same numbers of its seat's seed, and its notes are compared too."""
    accepted(own_entry(tmp_path, "drawing_rule:Drawn,most=5", {"drawing_rule.py": DRAWN}))


def test_a_rule_that_knows_the_rules_gets_the_parameters(tmp_path: Path) -> None:
    """The level is in the verified figures."""
    accepted(own_entry(tmp_path, "knowing_rule:Constant", {"knowing_rule.py": RULES}))


def test_a_function_that_prints_is_asked_again(tmp_path: Path) -> None:
    """Its output goes to the null device."""
    accepted(own_entry(tmp_path, "function_rule:chase", {"function_rule.py": FUNCTION}))


# -- what cannot be asked --------------------------------------------------------------------------

LEARNER = COVER + "\n    def after(self, episode):\n        pass\n"
LOOKING = COVER.replace("class Cover:", "class Cover:\n    needs_world_seed = True\n")
OPTIONS = """
class First:
    def __init__(self, spec):
        self.spec = spec

    @classmethod
    def seated(cls, seat):
        return cls(seat.spec)

    def decide(self, desk):
        return self.spec.options(desk)[0].action
"""


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (LEARNER, "it learns between episodes (after)"),
        (LOOKING, "it needs the world's seed (needs_world_seed)"),
        ("import pandas_of_nobody\n" + COVER, "No module named 'pandas_of_nobody'"),
        (COVER.replace("def decide", "async def decide"), "it decides in a coroutine"),
    ],
)
def test_what_cannot_pass_through_a_pipe_is_not_decidable(
    covered: Path, tmp_path: Path, source: str, sentence: str
) -> None:
    """One sentence says what the rule needs."""
    entry = with_code(shutil.copytree(covered, tmp_path / "entry"), "cover_rule.py", source)
    verdict = verify(entry)
    assert verdict.decision == "not decidable"
    assert sentence in verdict.text


def test_options_that_are_made_of_parameters_are_not_decidable(tmp_path: Path) -> None:
    """A rule that knows observations gets no parameters, and options may hold some."""
    files = {"first_rule.py": OPTIONS}
    entry = own_entry(tmp_path, "first_rule:First", files, world="enterprise_arena/capped")
    verdict = verify(entry)
    assert verdict.decision == "not decidable"
    assert "it uses options, which are made of the world's parameters" in verdict.text


def test_nothing_is_asked_where_the_sandbox_does_not_confine(
    covered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even if the environment allows programs of models to run unconfined."""
    monkeypatch.setenv("DESIM_UNCONFINED_PROGRAMS", "1")
    without = ("users", "network", "mounts", "processes", "filter", "landlock")
    monkeypatch.setattr(asked_rule.Dialogue, "__init__", _lacking(without))
    verdict = verify(covered)
    assert verdict.decision == "not decidable"
    assert "does not confine programs; nothing of it was run" in verdict.text


def _lacking(without: tuple[str, ...]) -> object:
    made = asked_rule.Dialogue.__init__
    return lambda self, program, limits: made(self, program, limits, without)


@pytest.mark.parametrize(
    "without",
    [
        ("users", "network", "mounts", "processes", "messages", "host_name", "user"),
        ("filter",),
        ("hook",),
    ],
    ids=["ordinary user", "other machine", "hook evaded"],
)
def test_a_rule_is_asked_wherever_the_sandbox_confines(
    covered: Path, monkeypatch: pytest.MonkeyPatch, without: tuple[str, ...]
) -> None:
    """With Landlock in place of namespaces, without the filter of calls, and without the hook."""
    monkeypatch.setattr(asked_rule.Dialogue, "__init__", _lacking(without))
    accepted(covered)


# -- attacks ---------------------------------------------------------------------------------------

#: Decides as `Cover`, but orders 999 where what is tried in its place succeeds.
TRYING = COVER.replace("    def decide", "    def honest") + (
    """
    def decide(self, stage):
        try:
            got = tried()
        except BaseException:
            got = False
        return Order(999) if got else self.honest(stage)


def tried():
{body}
"""
)

NOTHING_GOT = {
    "frames": f"""
    import sys
    frame = sys._getframe()
    while frame:
        if {SEED} in [v for v in frame.f_locals.values() if isinstance(v, int)]:
            return True
        frame = frame.f_back
    return False
""",
    "objects in memory": f"""
    import gc
    for one in gc.get_objects():
        values = one.values() if type(one) is dict else one if type(one) in (list, tuple) else ()
        for value in values:
            # Backwards, as a constant of this code is an object in memory too.
            if type(value) is int and str(value)[::-1] == "{str(SEED)[::-1]}":
                return True
    return False
""",
    "the parameters": """
    import gc
    from models.beer_game import BeerGame
    return any(isinstance(one, BeerGame) for one in gc.get_objects())
""",
    "other processes": """
    import os
    return bool([n for n in os.listdir("/proc") if n.isdigit() and int(n) != os.getpid()])
""",
    "the record": """
    import os
    return os.path.exists("{entry}/suite.toml") or bool(open("{entry}/manifest.json").read())
""",
    "the entry's code": """
    return bool(open("{entry}/code/cover_rule.py").read())
""",
    "the user's file": """
    return bool(open("/etc/passwd").read())
""",
    "a socket": """
    import socket
    socket.create_connection(("127.0.0.1", {port}), 1)
    return True
""",
    "a socket without the module": """
    import ctypes
    return ctypes.CDLL(None).socket(2, 1, 0) >= 0
""",
    "a fork": """
    import os
    return os.fork() >= 0
""",
    "another program": """
    import subprocess
    return subprocess.run(["id"]).returncode == 0
""",
    "a file of desim": """
    import desim
    open(desim.__file__, "a").write("x")
    return True
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", NOTHING_GOT)
def test_a_rule_gets_nothing_beyond_its_seat(covered: Path, tmp_path: Path, what: str) -> None:
    """It decides as the honest rule because what it tries fails, so that the entry is accepted."""
    entry = shutil.copytree(covered, tmp_path / "entry")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        body = NOTHING_GOT[what].replace("{entry}", str(entry))
        body = body.replace("{port}", str(listener.getsockname()[1]))
        accepted(with_code(entry, "cover_rule.py", TRYING.replace("{body}", body)))
        with pytest.raises(BlockingIOError):
            listener.accept()


#: Sources in place of what `Cover` returns, and the sentence with which each is refused.
REFUSED = {
    "while True: pass": "no answer in 1 s",
    "return 7": "7; expected Order",
    "return {'do': 'order', 'quantity': 'many'}": "quantity",
    "raise RuntimeError('no more')": "RuntimeError: no more",
    "raise SystemExit": "SystemExit",
    "import os; os._exit(0)": "its process has ended",
    "return bytearray(10**11)": "MemoryError",
    "import os; os.write(_result(), b'x' * 10**9)": "an answer of more than 1,000,000 bytes",
    "import os; os.write(_result(), b'nonsense' + bytes([10]))": "something else than an action",
    "import os; os.write(_result(), b'[]' + bytes([10]))": "something else than an action",
    "self.notes['x'] = object(); return Order(4)": "TypeError",
}

_RESULT = """


def _result():
    import sys
    frame = sys._getframe()
    while "order" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["order"]["result"]
"""


@pytest.mark.slow
@pytest.mark.parametrize("does", REFUSED)
def test_a_rule_that_fails_is_refused(
    covered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    """The sentence names the record and the decision."""
    monkeypatch.setattr(asked_rule, "SECONDS", 1.0)
    source = COVER.replace("@frozen", "").replace(
        "        want = ", f"        {does}\n        want = "
    )
    entry = shutil.copytree(covered, tmp_path / "entry")
    source = source.replace(
        "weeks: int = 4",
        "notes = {}\n\n    def __init__(self, weeks: int):\n        self.weeks = weeks",
    )
    verdict = verify(with_code(entry, "cover_rule.py", source + _RESULT))
    assert verdict.decision == "refused"
    assert (
        "record records/game__own__seed918273645__1.jsonl.gz: decision 1 ('retailer')"
        in verdict.text
    )
    assert REFUSED[does] in verdict.text


@pytest.mark.slow
def test_a_rule_that_prints_a_gigabyte_gets_nothing(covered: Path, tmp_path: Path) -> None:
    """It goes to the null device."""
    source = COVER.replace(
        "        want = ", "        print('x' * 10**8)\n" * 10 + "        want = ", 1
    )
    accepted(with_code(shutil.copytree(covered, tmp_path / "entry"), "cover_rule.py", source))


def test_a_rule_whose_module_fails_is_refused(covered: Path, tmp_path: Path) -> None:
    """Nothing was decided, so no record is named."""
    entry = with_code(shutil.copytree(covered, tmp_path / "e"), "cover_rule.py", "1 / 0\n")
    assert verify(entry).text == (
        f"{entry}: refused: policy 'cover_rule:Cover': ZeroDivisionError: division by zero"
    )


PERFECT = """
from desim.episodes.lineup import policy_at, seat_of


class Perfect:
    knows = "observation"

    @classmethod
    def seated(cls, seat):
        from desim.core.streams import derived_seed
        return policy_at("perfect", seat_of(seat.model, seat.role, seat.seed))
"""


def test_a_rule_that_plays_the_clairvoyant_is_refused(tmp_path: Path) -> None:
    """It declares that it knows observations, so it gets neither the parameters nor the seed."""
    honest = own_entry(tmp_path, "perfect_rule:Cover", {"perfect_rule.py": COVER})
    source = PERFECT.replace("class Perfect", "class Cover")
    verdict = verify(with_code(honest, "perfect_rule.py", source))
    assert verdict.decision == "refused"
    assert "a policy that knows 'observation' reads the world's parameters" in verdict.text


# -- the files of code -----------------------------------------------------------------------------


def test_an_edited_file_of_code_is_refused(covered: Path, tmp_path: Path) -> None:
    """The manifest has the digest of all files of code."""
    entry = shutil.copytree(covered, tmp_path / "entry")
    file = entry / "code" / "cover_rule.py"
    file.write_text(file.read_text("utf-8") + "# edited\n", encoding="utf-8")
    assert verify(entry).sentences == ("the code is not the one that the manifest names",)


def test_another_file_of_code_is_refused(covered: Path, tmp_path: Path) -> None:
    """Python or not, and also in an entry that names no code."""
    entry = shutil.copytree(covered, tmp_path / "entry")
    (entry / "code" / "more.py").touch()
    assert verify(entry).sentences == ("the code is not the one that the manifest names",)
    (entry / "code" / "more.py").rename(entry / "code" / "table.csv")
    assert verify(entry).sentences == ("the folder has 'code/table.csv', which no entry has",)
    (entry / "code" / "table.csv").unlink()
    (entry / "code" / "link.py").symlink_to("/etc/passwd")
    assert verify(entry).sentences == ("the folder has 'code/link.py', which no entry has",)


def test_a_rule_that_reads_a_table_is_not_submitted(tmp_path: Path) -> None:
    """An entry takes Python files alone."""
    source = (
        "from pathlib import Path\n\nFILE = Path(__file__).parent / 'table.csv'\n"
        + COVER.replace("want = ", "FILE.read_text()\n        want = ")
    )
    files = {"table_rule.py": source, "table.csv": "1\n"}
    with pytest.raises(AssertionError, match=r"names the file table\.csv; only Python files"):
        own_entry(tmp_path, "table_rule:Cover", files)
