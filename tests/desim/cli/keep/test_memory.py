"""`desim memory`: the memory of a method as a table, and what is no memory."""

import json
from pathlib import Path

import pytest
from support.command_line import Desim, refused

LESSONS = {
    "format": "desim-memory/1",
    "method": "reflexion",
    "roles": {
        "manager": {
            "episodes": 2,
            "state": {
                "lessons": [
                    {"text": "hire\nearlier \x1b[2J", "decision": "[bold]", "goal": 6.5},
                    {"text": "charge more", "decision": "", "goal": None},
                ],
                "written": 2,
            },
            "pending": [{"number": 1, "outcome": {"score": 7.5}}],
        }
    },
}


def write(folder: Path, **changes: object) -> None:
    """Write the file `m` of a memory with changes."""
    (folder / "m").write_text(json.dumps(LESSONS | changes))


def test_a_memory_is_a_table(desim: Desim, folder: Path) -> None:
    """What was learned and what is pending; markup and escapes of a stranger are plain text."""
    write(folder)
    done = desim("memory", "m")
    assert (done.code, done.err) == (0, "")
    assert [line.split() for line in done.out.splitlines()] == [
        ["memory", "of", "reflexion:", "manager", "after", "2", "episodes"],
        [],
        ["role", "lesson", "decision", "goal"],
        ["manager", "hire", "[bold]", "6.5"],
        ["earlier", r"\x1b[2J"],
        ["manager", "charge", "more", "—", "—"],
        [],
        ["role", "pending", "episode", "score"],
        ["manager", "1", "7.5"],
    ]
    assert "\x1b" not in done.out


def test_a_memory_is_json(desim: Desim, folder: Path) -> None:
    """One line with the same rows."""
    write(folder)
    done = desim("memory", "m", "--json")
    [line] = done.out.splitlines()
    shown = json.loads(line)
    assert (shown["method"], shown["episodes"]) == ("reflexion", {"manager": 2})
    assert [row.get("lesson") for row in shown["rows"]] == [
        "hire\nearlier \x1b[2J", "charge more", None,
    ]  # fmt: skip
    assert shown["rows"][-1] == {"role": "manager", "pending episode": 1, "score": 7.5}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "there is no file m"),
        ("", "no memory in the format desim-memory/1"),
        ('{"line":"header"}', "no memory in the format desim-memory/1"),
        (json.dumps(LESSONS | {"method": "reflection"}), "did you mean 'reflexion'"),
        (json.dumps(LESSONS | {"roles": {"manager": {"state": 5}}}), "no valid memory"),
        (" " * (32 * 2**20 + 1), "larger than 32 MiB"),
    ],
)
def test_what_is_no_memory_is_refused(
    content: str | None, why: str, desim: Desim, folder: Path
) -> None:
    """One sentence and exit code 2."""
    if content is not None:
        (folder / "m").write_text(content)
    refused(desim("memory", "m"), why)
    refused(desim("memory", "m", "--json"), why)


def test_a_folder_and_a_missing_argument_are_refused(desim: Desim, folder: Path) -> None:
    """As everywhere else."""
    refused(desim("memory", str(folder)), "cannot be read: Is a directory")
    refused(desim("memory"), "Missing argument 'FILE'")
