"""The blocks of a page in Markdown, and how a test runs them."""

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import frozen
from support.forked import desim_process, ended
from support.paths import PYTHONPATH

_FENCE = re.compile(
    r"(?:^<!-- (?:file: (?P<file>[\w.]+)|(?P<slow>slow)) -->\n)?"
    r"^```(?P<kind>\w+)\n(?P<text>.*?)^```",
    flags=re.DOTALL | re.MULTILINE,
)

#: Limit of a command.
_SECONDS = 600


@frozen
class Block:
    """A fenced block of a page.

    Attributes:
        kind: Its language, such as `python` or `console`.
        text: Its lines.
        file: The file that it is a part of, or empty.
        is_slow: Whether it is run by the slow tests alone.
    """

    kind: str
    text: str
    file: str = ""
    is_slow: bool = False

    @property
    def commands(self) -> list[tuple[str, str]]:
        """Every `$ command` of a console block with the text printed under it."""
        parts = re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]
        return [(part.split("\n", 1)[0], part.split("\n", 1)[1].rstrip()) for part in parts]


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    found = _FENCE.finditer(page.read_text(encoding="utf-8"))
    return [Block(one["kind"], one["text"], one["file"] or "", bool(one["slow"])) for one in found]


def write_files(pages: Iterable[Path], folder: Path) -> None:
    """Write the files that blocks of some pages are marked as, joined in order."""
    for page in pages:
        for block in blocks_of(page):
            if block.file:
                with (folder / block.file).open("a", encoding="utf-8") as file:
                    file.write(f"{block.text}\n\n")


@contextlib.contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Import modules from a folder first; those that were imported from it are forgotten after."""
    sys.path.insert(0, str(folder))
    before = set(sys.modules)
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if name == "page" or str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]


def check_page(page: Path, *, slow: bool = False) -> None:
    """Run the blocks of a page in order, in the current folder; slow ones only if *slow*.

    Python blocks share one module, and a `text` block is what the Python block before it prints. A
    `console` block holds commands with what they print; a line `...` stands for any lines.
    """
    module = ModuleType("page")
    sys.modules["page"] = module  # `importable` removes it
    printed = ""
    for block in blocks_of(page):
        if block.kind == "python" and not block.file:
            assert printed == "", f"{page.name}: a block printed what the page does not show"
            printed = _printed(block, page, module)
        elif block.kind == "text" and not block.file:
            assert printed == block.text.rstrip()
            printed = ""
        elif block.kind == "console" and (slow or not block.is_slow):
            _check_commands(block)
    assert printed == "", f"{page.name}: the last block printed what the page does not show"


def _printed(block: Block, page: Path, module: ModuleType) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block.text, page.name, "exec"), module.__dict__)  # noqa: S102 (our own page)
    return out.getvalue().rstrip()


def _check_commands(block: Block) -> None:
    for command, expected in block.commands:
        printed = output(command)
        assert _matches(expected, printed), f"{command} prints\n{printed}"


def output(command: str) -> str:
    """Run a command in the current folder and return what it prints, without spaces at line ends.

    `< FILE` is its input, and `|| true` allows a failure.
    """
    allowed, command = command.endswith("|| true"), command.removesuffix("|| true")
    words = shlex.split(command)
    streams: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        if words[-2] == "<":
            streams["stdin"] = stack.enter_context(Path(words[-1]).open(encoding="utf-8"))
            words = words[:-2]
        program, *arguments = words
        assert program == "desim"
        process = desim_process(*arguments, cwd=Path.cwd(), env=_ENV, **streams)
        done = ended(process, _SECONDS)
    assert allowed or done.code == 0, done.err
    return "\n".join(line.rstrip() for line in done.out.rstrip().splitlines())


def _matches(expected: str, printed: str) -> bool:
    """Whether a text was printed, in which a line `...` stands for any lines."""
    if "..." not in expected.splitlines():
        return expected == printed
    parts = re.split(r"^\.\.\.$", expected, flags=re.MULTILINE)
    return re.fullmatch(".*".join(map(re.escape, parts)), printed, re.DOTALL) is not None


_ENV = {"PYTHONPATH": PYTHONPATH, "PYTHONWARNINGS": "default", "MPLBACKEND": "agg"}
