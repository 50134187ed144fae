"""The progress of long work: a bar on a terminal or in a notebook, or a function of the caller.

Work that ends within two seconds shows no bar, and neither does work whose standard error is piped.
"""

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Timer

from attrs import field, frozen

from desim.errors import UsageError
from desim.short_repr import short_repr, shortened, visible_text
from desim.show.labels import duration_text

#: Seconds before a bar is shown, and between two updates of one in a notebook.
_PATIENCE, _PACE = 2.0, 0.2

#: Seconds between two lines where standard error is not a terminal.
_LINE_PACE = 10.0

#: Set in a worker, which shows no bars.
is_hidden = False

#: Most sentences that are printed while work goes on, and characters of one.
_MOST_SAID, _LONGEST = 10, 400

_NUMBER = re.compile(r"\d[\d.,_]*")

#: Called with the number of finished parts of the work and of all parts.
Count = Callable[[int, int], object]

#: The option of a caller: a function; True or False; None for a bar on a terminal or in a notebook.
ProgressOption = Count | bool | None


def _ignore(*_: object) -> None:
    pass


@frozen
class Progress:
    """The receiver of what long work reports; without arguments it ignores all of it.

    Attributes:
        count: Called with the number of finished parts and of all parts.
        say: Called with a sentence that should not wait for the end of the work, and its kind;
            the first sentence of each kind is shown.
    """

    count: Count = _ignore
    say: Callable[[str, str], object] = _ignore

    def __call__(self, done: int, total: int) -> None:
        """Report the number of finished parts and of all parts."""
        self.count(done, total)


@contextmanager
def shown_progress(progress: ProgressOption, unit: str = "episodes") -> Iterator[Progress]:
    """Show the progress of some work until the context ends.

    Args:
        progress: A function that is called with the numbers of finished and of all parts. True
            shows a bar, or lines where standard error is not a terminal. None does so on a
            terminal and in a notebook; False shows nothing. The `Progress` of other work, of which
            this is a part, is used as it is.
        unit: What is counted.

    Raises:
        UsageError: *progress* is something else.
    """
    if isinstance(progress, Progress):
        yield progress
    elif callable(progress):
        yield Progress(progress, _Sentences(_print_error) if _is_watched() else _ignore)
    elif progress is not None and not isinstance(progress, bool):
        raise UsageError(
            f"progress={short_repr(progress)} was given; possible: True, False, None, or a "
            "function of the numbers of finished and of all episodes"
        )
    elif progress or (progress is None and _is_watched()):
        with closing(_TerminalBar() if _is_terminal() and not _is_notebook() else _Lines()) as bar:
            yield Progress(_Meter(bar, unit), _Sentences(bar.say))
    else:
        yield Progress()


@frozen
class _Sentences:
    """Prints the first sentence of each kind; kinds that differ in numbers alone are one."""

    print: Callable[[str], object]
    _kinds: set[str] = field(factory=set, init=False)

    def __call__(self, sentence: str, kind: str) -> None:
        kind = _NUMBER.sub("0", kind)
        if kind not in self._kinds and len(self._kinds) < _MOST_SAID:
            self._kinds.add(kind)
            self.print(visible_text(shortened(sentence, _LONGEST)))


class _Meter:
    """Shows counts with their speed and the time left."""

    def __init__(self, bar: "_Lines", unit: str) -> None:
        self._bar, self._unit = bar, unit
        self._start, self._first = time.monotonic(), -1

    def __call__(self, done: int, total: int) -> None:
        if self._first < 0 or done < self._first:
            # Parts that an earlier run has finished say nothing of the speed of this one.
            self._start, self._first = time.monotonic(), done
        text = f"{done:,} of {total:,} {self._unit}"
        if done > self._first:
            each = (time.monotonic() - self._start) / (done - self._first)
            pace = f"{1 / each:,.0f} a second" if each < 1 else f"{duration_text(each)} each"
            text += f", {pace}, {duration_text(each * (total - done))} left"
        self._bar.show(done / total if total else 0.0, text)


def _is_watched() -> bool:
    """Return whether standard error is a terminal or a notebook runs; False in a worker."""
    children = sys.modules.get("multiprocessing.process")  # not imported for this alone
    if is_hidden or (children is not None and children.parent_process() is not None):
        return False
    return _is_notebook() or _is_terminal()


def _is_terminal() -> bool:
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()


def _is_notebook() -> bool:
    """Return whether the code runs in a kernel of IPython, such as Jupyter's."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _print_error(sentence: str, end: str = "\n") -> None:
    print(sentence, end=end, file=sys.stderr, flush=True)  # noqa: T201 (progress belongs there)


class _Lines:
    """Lines on standard error, for logs; in a notebook each replaces the one before."""

    def __init__(self) -> None:
        self._end, self._pace = ("\r", _PACE) if _is_notebook() else ("\n", _LINE_PACE)
        self._next = time.monotonic() + _PATIENCE

    def show(self, _share: float, text: str) -> None:
        """Show a text, unless the last one was shown shortly before."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._pace
            _print_error(text, self._end)

    def say(self, sentence: str) -> None:
        """Print a sentence that stays."""
        _print_error(sentence)

    def close(self) -> None:
        """Keep the last line."""


class _TerminalBar(_Lines):
    """A bar of rich on standard error."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        from desim.show.console import SafeConsole

        console = SafeConsole(stderr=True, highlight=False)
        columns = (BarColumn(), TextColumn("{task.description}"))
        # A piped standard output stays one: rich would redirect it to this console.
        both = sys.stdout.isatty()
        self._bar = Progress(*columns, console=console, transient=True, redirect_stdout=both)
        self._task = self._bar.add_task("", total=None)
        # A timer, because the first episode of a language model may take minutes.
        self._timer = Timer(_PATIENCE, self._bar.start)
        self._timer.daemon = True
        self._timer.start()

    def show(self, share: float, text: str) -> None:
        """Show the finished share, from 0 to 1, and a text."""
        self._bar.update(self._task, completed=share, total=1.0, description=text)

    def say(self, sentence: str) -> None:
        """Print a sentence above the bar."""
        self._bar.console.print(sentence, markup=False)

    def close(self) -> None:
        """Remove the bar."""
        self._timer.cancel()
        self._timer.join()
        self._bar.stop()
