"""Faults of a part's model name the part and its tick, and nothing runs without end."""

import threading
from typing import Any

import pytest
from support.companies import Firm

from desim import play
from desim.composition import Composite
from desim.core.limits import Limits
from desim.errors import LimitReached, ModelFailed

FIRM = Firm()


def nested(model: Any) -> Composite:
    """Return a composite with a composite inside, whose part is the model."""
    return Composite({"west": Composite({"firm": model, "calm": FIRM}), "east": FIRM})


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("raise", "KeyError: 'till' (in part 'firm' at its t=1)"),
        ("exit", "SystemExit: 3 (in part 'firm' at its t=1)"),
        ("observe", "LookupError: the books are lost (in part 'firm' at its t=1)"),
    ],
)
def test_an_exception_names_the_part_and_its_tick(fault: str, text: str) -> None:
    """Beside the common tick, the function and the line."""
    with pytest.raises(ModelFailed) as failed:
        play(Composite({"calm": FIRM, "firm": Firm(fault=fault)}), "greedy")
    assert "model Composite failed at t=604800000000 in Firm._" in str(failed.value)
    assert str(failed.value).endswith(text)


def test_an_exception_of_an_inner_part_names_the_way_to_it() -> None:
    """From the inside out, each with its own ticks."""
    with pytest.raises(ModelFailed) as failed:
        play(nested(Firm(fault="raise")), "greedy")
    assert str(failed.value).endswith(
        "(in part 'firm' at its t=1, in part 'west' at its t=604800000000)"
    )


def test_an_exception_in_begin_names_the_part() -> None:
    """Before the first tick."""

    class Broken(Firm):
        def begin(self, world: Any) -> Any:
            raise LookupError("no deed")

    with pytest.raises(ModelFailed, match=r"LookupError: no deed \(in part 'firm' at its t=0\)"):
        play(Composite({"firm": Broken()}), "greedy")


@pytest.mark.parametrize("wrap", [lambda firm: Composite({"firm": firm, "calm": FIRM}), nested])
def test_events_without_end_are_stopped_by_their_number(wrap: Any) -> None:
    """Those of a part count, also of a part of a part."""
    with pytest.raises(LimitReached, match=r"limit of 5,000 events .* \(in part 'firm' at its t=1"):
        play(wrap(Firm(fault="spin")), "greedy", limits=Limits(events=5_000))


@pytest.mark.parametrize("wrap", [lambda firm: Composite({"firm": firm, "calm": FIRM}), nested])
def test_events_without_end_are_stopped_by_the_time(wrap: Any) -> None:
    """Also in a thread, where no alarm can be set."""
    model, found = wrap(Firm(fault="spin")), []

    def run() -> None:
        with pytest.raises(LimitReached, match=r"limit of 0\.2 seconds") as reached:
            play(model, "greedy", limits=Limits(seconds=0.2))
        found.append(reached.value)

    run()
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(found) == 2


def test_the_record_says_which_part_failed(tmp_path: Any) -> None:
    """And the error how to play on from before it."""
    file = tmp_path / "run.jsonl"
    with pytest.raises(ModelFailed, match=r"in part 'firm' at its t=1\)\nThe last answer was"):
        play(Composite({"firm": Firm(fault="raise")}), "greedy", record=file)
    assert "in part 'firm' at its t=1" in file.read_text().splitlines()[-1]
