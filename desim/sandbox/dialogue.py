"""A program that answers questions, one after the other, until its process is ended.

It may import some packages besides the standard library, and has modules of its own, which it finds
in its folder. A question and an answer are a line of bytes; nothing of an answer is evaluated.
"""

import contextlib
import os
import selectors
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from desim.errors import DesimError
from desim.sandbox.process import check_status, started
from desim.sandbox.program_limits import ProgramLimits

#: Seconds that the start of the process may take on a busy machine.
_START = 30.0

#: Bytes read or written at once.
_CHUNK = 65_536


class NoAnswer(DesimError):
    """A program has not answered a question; its process was ended."""


@frozen
class AnsweringProgram:
    """A program that answers questions.

    Attributes:
        target: `module:function`; the function takes *about*, and returns the one that answers.
        about: Plain values for it, in types that marshal can write.
        modules: The program's own modules, by their paths below its folder.
        packages: Packages that it may import; those that are not installed are left out.
        imports: Further modules of these, imported before it is confined.
    """

    target: str
    about: Mapping[str, Any]
    modules: Mapping[str, bytes]
    packages: Sequence[str]
    imports: Sequence[str] = ()

    def order(self) -> dict[str, Any]:
        """Return the order to run it; see `run_order`."""
        found = {name: folders for name in self.packages if (folders := _folders(name))}
        target, _, _ = self.target.partition(":")
        return {
            "way": "dialogue",
            "target": self.target,
            "about": dict(self.about),
            "modules": dict(self.modules),
            "readable": [str(folder) for folders in found.values() for folder in folders],
            "paths": [*dict.fromkeys(str(of[0].parent) for of in found.values())],
            # numpy needs ctypes, whose calls the hook refuses.
            "packages": [*found, "ctypes", "_ctypes"],
            "imports": [*found, target, *self.imports],
        }


@define(eq=False)
class Dialogue:
    """The process of such a program; it is started by the first question.

    Attributes:
        program: The program.
        limits: Of its whole time, its memory, and of each answer.
        without: Protections to leave out, for tests of the others.
    """

    program: AnsweringProgram
    limits: ProgramLimits
    without: Sequence[str] = ()
    _stack: contextlib.ExitStack = field(factory=contextlib.ExitStack, init=False)
    _pipes: tuple[int, int, int] | None = field(default=None, init=False)

    def ask(self, question: bytes, seconds: float) -> bytes:
        """Return the answer to a question.

        Args:
            question: Bytes without a line break.
            seconds: How long the answer may take.

        Raises:
            NoAnswer: It takes longer, is beyond the limit, or the process has ended.
            NotConfined: The system does not confine the program, of which nothing was run.
            SandboxFailed: It could not be started.
        """
        limit = seconds
        if self._pipes is None:
            self._pipes, limit = self._start(), seconds + _START
        try:
            return self._answer(question + b"\n", time.monotonic() + limit)
        except TimeoutError:
            fault = NoAnswer(f"no answer in {seconds:g} s")
        except NoAnswer as why:
            fault = why
        self.close()
        raise fault

    def close(self) -> None:
        """End the process."""
        self._pipes = None
        self._stack.close()

    def _start(self) -> tuple[int, int, int]:
        read, write = os.pipe()
        self._stack.callback(os.close, write)
        os.set_blocking(write, False)
        order = {**self.program.order(), "without": tuple(self.without)}
        try:
            process = started(order, self.limits, questions=(read,))
            _, result, status = self._stack.enter_context(process)
        finally:
            os.close(read)
        return write, result, status

    def _answer(self, question: bytes, until: float) -> bytes:
        assert self._pipes is not None
        write, result, _ = self._pipes
        left, answer = memoryview(question), bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(result, selectors.EVENT_READ)
            selector.register(write, selectors.EVENT_WRITE)
            while not answer.endswith(b"\n"):
                ready = {key.fd for key, _ in selector.select(max(0.0, until - time.monotonic()))}
                if not ready:
                    raise TimeoutError
                if result in ready:
                    answer += self._chunk()
                    if len(answer) > self.limits.output:
                        raise NoAnswer(f"an answer of more than {self.limits.output:,} bytes")
                elif left := self._written(left):
                    continue
                else:
                    selector.unregister(write)
        return bytes(answer[:-1])

    def _chunk(self) -> bytes:
        assert self._pipes is not None
        _, result, status = self._pipes
        chunk = os.read(result, _CHUNK)
        if not chunk:
            check_status(os.read(status, 1_000))
            raise NoAnswer("its process has ended")
        return chunk

    def _written(self, left: memoryview) -> memoryview:
        assert self._pipes is not None
        write, *_ = self._pipes
        try:
            return left[os.write(write, left[:_CHUNK]) :]
        except BrokenPipeError:
            return left[:0]  # it has ended, which the end of its answers shows
        except BlockingIOError:
            return left


def _folders(package: str) -> list[Path]:
    """Return the folder of a package, and that of the libraries which were installed with it."""
    spec = find_spec(package)
    (folder, *_) = (spec and spec.submodule_search_locations) or ("",)
    libraries = Path(f"{folder}.libs")
    return [each for each in (Path(folder), libraries) if folder and each.is_dir()]
