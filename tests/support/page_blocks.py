"""The blocks of a page in Markdown, and how a test runs them."""

import contextlib
import io
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from attrs import frozen

_FENCE = re.compile(
    r"(?:^<!-- file: (?P<file>[\w.]+) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```",
    flags=re.DOTALL | re.MULTILINE,
)


@frozen
class Block:
    """A fenced block of a page; `file` is the file that it is a part of, or empty."""

    kind: str
    text: str
    file: str = ""


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    found = _FENCE.finditer(page.read_text(encoding="utf-8"))
    return [Block(one["kind"], one["text"], one["file"] or "") for one in found]


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


def check_python(page: Path) -> None:
    """Run the Python blocks of a page in one module; `text` is what the block before printed."""
    module = ModuleType("page")
    sys.modules["page"] = module  # `importable` removes it
    printed = ""
    for block in blocks_of(page):
        if block.kind == "python" and not block.file:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block.text, page.name, "exec"), module.__dict__)  # noqa: S102 (our own page)
            assert printed == "", f"{page.name}: a block printed what the page does not show"
            printed = out.getvalue().rstrip()
        elif block.kind == "text":
            assert printed == block.text.rstrip()
            printed = ""
    assert printed == "", f"{page.name}: the last block printed what the page does not show"
