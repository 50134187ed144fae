"""The instructions of a function's bytecode, without those of docstrings and import statements."""

import dis
from collections.abc import Iterator
from types import CodeType
from typing import Any

from attrs import field, frozen

_LOADS = {"LOAD_GLOBAL", "LOAD_NAME"}
_MEMBERS = {"LOAD_ATTR", "LOAD_METHOD"}
_PADDING = {"CACHE", "EXTENDED_ARG"}
_JUMPS = {*dis.hasjrel, *dis.hasjabs}

#: Instructions of an import statement after the one that imports.
_BINDING = {"IMPORT_FROM", "SWAP", "POP_TOP"}


@frozen
class Instruction:
    """An instruction.

    Attributes:
        name: What it does.
        value: With what; of a jump the offset of its target.
        is_jump: Whether it is one.
        offsets: Those in the bytecode at which it begins, with what was left out before it.
    """

    name: str
    value: Any
    is_jump: bool
    offsets: list[int] = field(factory=list)


def steps_of(code: CodeType) -> list[Instruction]:
    """Return the instructions of a function or of the body of a class."""
    every = [*dis.get_instructions(code)]
    left_out = {*_docstrings(every), *_imports(every)}
    steps: list[Instruction] = []
    offsets: list[int] = []
    for number, one in enumerate(every):
        offsets.append(one.offset)
        if number not in left_out and one.opname not in _PADDING:
            steps.append(Instruction(one.opname, one.argval, one.opcode in _JUMPS, offsets))
            offsets = []
    return steps


def used_globals(code: CodeType) -> set[tuple[str, tuple[str, ...]]]:
    """Return the globals of a function and of those inside it, with the attributes behind each."""
    found: set[tuple[str, tuple[str, ...]]] = set()
    every = [one for one in dis.get_instructions(code) if one.opname not in _PADDING]
    for number, one in enumerate(every):
        if one.opname in _LOADS:
            found.add((one.argval, tuple(_members(every, number + 1))))
    return found.union(*(used_globals(inner) for inner in _inner(code)))


def imported(code: CodeType) -> set[tuple[str, str]]:
    """Return the module and the name of each local import; no name for the module itself."""
    found: set[tuple[str, str]] = set()
    every = [*dis.get_instructions(code)]
    for number, one in enumerate(every):
        if one.opname == "IMPORT_NAME":
            names = every[number - 1].argval or ("",)
            found.update((one.argval, name) for name in names)
    return found.union(*(imported(inner) for inner in _inner(code)))


def _inner(code: CodeType) -> Iterator[CodeType]:
    return (each for each in code.co_consts if isinstance(each, CodeType))


def _members(every: list[dis.Instruction], start: int) -> Iterator[str]:
    """Yield the attributes that are loaded one after the other."""
    for one in every[start:]:
        if one.opname not in _MEMBERS:
            return
        yield one.argval


def _docstrings(every: list[dis.Instruction]) -> Iterator[int]:
    """Yield the numbers of the instructions that set the docstring of a class."""
    for number, one in enumerate(every):
        if one.opname == "STORE_NAME" and one.argval == "__doc__":
            yield from (number - 1, number)


def _imports(every: list[dis.Instruction]) -> Iterator[int]:
    """Yield the numbers of the instructions of import statements: two constants come first."""
    for number, one in enumerate(every):
        if one.opname == "IMPORT_NAME":
            yield from range(number - 2, _end_of_import(every, number + 1))


def _end_of_import(every: list[dis.Instruction], number: int) -> int:
    if every[number].opname.startswith("STORE_"):  # import NAME
        return number + 1
    while every[number].opname in _BINDING or every[number].opname.startswith("STORE_"):
        # from NAME import MEMBER, ...; the `a` of `import a.b as c` is swapped away.
        is_last = every[number].opname == "POP_TOP" and every[number - 1].opname != "SWAP"
        number += 1
        if is_last:
            break
    return number
