"""The lists of clients in a founder's notes: words next to names, headings, and Figure 4b."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from scratchpad_lists import CLASSES, Lists, main, read_lists

from desim import play
from models.yc_bench import YCBench
from models.yc_bench.actions import EndTurn, ScratchpadAppend, ScratchpadClear, ScratchpadWrite
from models.yc_bench.desk import FounderDesk

CLIENTS = ("Vanguard ML", "Equinox Labs", "Helix Systems", "Nova Research")


@pytest.mark.parametrize(
    ("notes", "select", "avoid"),
    [
        ("AVOID: Vanguard ML, Equinox Labs. Prefer Helix Systems", "H", "VE"),
        ("Helix Systems good, Vanguard ML bad", "H", "V"),
        ("Vanguard ML and Equinox Labs: avoid", "", "VE"),
        ("GOOD CLIENTS:\n- Helix Systems\n- Nova Research\nBAD CLIENTS:\n- Vanguard ML", "HN", "V"),
        ("Vanguard ML - adversarial (4x inflation)\nHelix Systems - loyal", "H", "V"),
        ("never accept from vanguard ml but focus on Nova Research", "N", "V"),
        ("## Blacklist\nEquinox Labs\n\nNova Research paid 30k", "", "E"),
        ("Prefer Vanguard ML\nupdate: avoid Vanguard ML", "", "V"),
        ("Helix Systems: 3 tasks done, trust 2.1", "", ""),
        ("avoid debt; prefer research tasks", "", ""),
        ("", "", ""),
    ],
)
def test_a_client_is_on_the_list_of_the_word_next_to_it(
    notes: str, select: str, avoid: str
) -> None:
    """A word of the same piece, before it, behind it or in the heading; the last name counts."""
    found = read_lists(notes, CLIENTS)
    assert sorted(name[0] for name in found.select) == sorted(select)
    assert sorted(name[0] for name in found.avoid) == sorted(avoid)


def test_the_classes_are_those_of_the_figure() -> None:
    """A list of clients to select decides, then one to avoid."""
    given = [Lists(("a",), ("b",)), Lists(("a",)), Lists((), ("b",)), Lists()]
    assert [CLASSES.index(each.policy) for each in given] == [0, 0, 1, 2]


def test_the_notes_of_a_record_are_those_at_its_end(tmp_path: Path) -> None:
    """Written, appended, cleared and written again; the paper's models are in the same table."""
    commands = iter(
        [
            ScratchpadWrite("avoid Nexus AI"),
            ScratchpadClear(),
            ScratchpadWrite("Blacklist:"),
            ScratchpadAppend("Vanguard ML"),
        ]
    )

    def founder(_: FounderDesk) -> object:
        return next(commands, EndTurn())

    game = YCBench.preset("default", horizon_years=1)
    play(game, {"founder": founder}, 1, record=tmp_path / "one.jsonl")
    done = CliRunner().invoke(main, [str(tmp_path)])
    assert done.exit_code == 0, done.output
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["Vanguard", "ML", "avoid", "only"] in [line[-4:] for line in lines]
    assert ["paper:", "Opus", "4.6", "2", "1", "0"] in lines
    assert lines[-1][-3:] == ["0", "1", "0"]
    assert CliRunner().invoke(main, [str(tmp_path / "one.jsonl")]).exit_code == 0
    (tmp_path / "empty").mkdir()
    assert "no whole record" in CliRunner().invoke(main, [str(tmp_path / "empty")]).output
