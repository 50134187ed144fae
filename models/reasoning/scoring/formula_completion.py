"""Formula completion: the completed function returns what the reference returns.

Reference SPEC section 3.3, README item 8. The published code seeds the drawing of arguments with a
hash that Python salts anew in every process; here it is of the SHA-256 of the reference program, so
that an item always has the same arguments.
"""

import ast
import hashlib
import math
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache
from random import Random
from typing import Any

from attrs import frozen

from desim.sandbox import Arguments, ProgramLimits, Returned, run_calls
from models.reasoning.item import Item
from models.reasoning.scoring import Graded, Rules
from models.reasoning.scoring.extraction import parsed_object
from models.reasoning.scoring.numbers import last_fenced_block

#: Sets of arguments that are compared, and seeds that are tried until the reference runs.
SETS, _SEEDS = 4, 5

#: Relative and absolute tolerance of a number.
_TOLERANCE = 1e-4

#: Seconds of the four calls of a formula together.
_SECONDS = 2.0

#: A parameter or a field: its name, and its annotation or None.
Named = tuple[str, str | None]

#: Arguments of one call: of the function, and the fields of the object whose method it is.
Call = tuple[Mapping[str, float], Mapping[str, float]]


# -- the function that a program is about: the last one of its source ------------------------------

#: Characters of a program that is parsed at most.
_LONGEST = 200_000

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@frozen
class Target:
    """A function or a method.

    Attributes:
        name: As a call names it: "function" or "Class.method".
        arguments: Its positional parameters, without the object of a method.
        fields: The annotated fields of the class of a method.
        is_last: Whether it is the last statement of the source.
    """

    name: str
    arguments: tuple[Named, ...]
    fields: tuple[Named, ...]
    is_last: bool


def target_of(source: str) -> Target | None:
    """Return the last function of a source, possibly a method; None if it cannot be parsed.

    The source of an item is parsed and not run. A language model's is parsed in the sandbox.
    """
    if len(source) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in texts
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: Target | None = None
    for node in tree.body:
        is_last = node is tree.body[-1]
        if isinstance(node, _Function):
            found = Target(node.name, _arguments(node), (), is_last)
        elif isinstance(node, ast.ClassDef):
            found = _method(node, is_last=is_last) or found
    return found


def _method(owner: ast.ClassDef, *, is_last: bool) -> Target | None:
    methods = [node for node in owner.body if isinstance(node, _Function)]
    if not methods:
        return None
    last = methods[-1]
    arguments = tuple(one for one in _arguments(last) if one[0] not in ("self", "cls"))
    fields = tuple(
        (node.target.id, ast.unparse(node.annotation))
        for node in owner.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    )
    is_last = is_last and last is owner.body[-1]
    return Target(f"{owner.name}.{last.name}", arguments, fields, is_last)


def _arguments(function: _Function) -> tuple[Named, ...]:
    given = (*function.args.posonlyargs, *function.args.args)
    return tuple(
        (one.arg, None if one.annotation is None else ast.unparse(one.annotation)) for one in given
    )


# -- arguments, drawn by the names of parameters ---------------------------------------------------

#: Names of whole numbers, parts of such names, and the largest of them.
_WHOLE = {"n", "year", "years", "period", "periods"}
_WHOLE_PARTS = ("num", "count")
_MOST_WHOLE = 12

#: Parts of names with the least and the largest value, in the order in which they are looked for;
#: the range of all others, and the share of these that is negative.
_RANGES = (
    (("rate", "growth", "yield", "return"), 0.01, 0.4),
    (("share", "price", "value", "income"), 10.0, 1000.0),
    (("dividend", "cash"), 1.0, 500.0),
)
_OTHER = 25.0, 750.0
_NEGATIVE = 0.3

_DECIMALS = 4


def argument_sets(target: Target, seed: int) -> tuple[Call, ...]:
    """Return four sets of arguments by name: those of the function and those of its object.

    The generator is CPython's, one stream over all sets, fields before arguments, so that a seed
    gives the numbers that it gives in the published code.
    """
    random = Random(seed)  # noqa: S311 (no secrets)
    sets = []
    for _ in range(SETS):
        fields = {name: _drawn(random, (name, kind)) for name, kind in target.fields}
        args = {name: _drawn(random, (name, kind)) for name, kind in target.arguments}
        sets.append((args, fields))
    return tuple(sets)


def _drawn(random: Random, parameter: Named) -> float:
    name, annotation = parameter[0].lower(), parameter[1]
    if annotation == "int" or name in _WHOLE or any(part in name for part in _WHOLE_PARTS):
        return random.randint(1, _MOST_WHOLE)
    for parts, low, high in _RANGES:
        if any(part in name for part in parts):
            return round(random.uniform(low, high), _DECIMALS)
    number = random.uniform(*_OTHER)
    sign = -1 if random.random() < _NEGATIVE else 1
    return round(sign * number, _DECIMALS)


# -- the program: the signature of the question with a body under it -------------------------------

#: Fields of a JSON object inside an answer that may hold the code.
_FIELDS = ("solution", "completion", "response")

_DATACLASS = "@dataclass"
_IMPORT = "from dataclasses import dataclass, field\n"
_IS_COMPLETE = re.compile(r"(?:class|def)\s")


def repaired(answer: str) -> str:
    """Return the code that an answer holds in JSON, in quotes, with escaped breaks or in a fence.

    A fenced block loses its outer white space, and so the indentation of its first line alone.
    """
    parsed = parsed_object(answer.strip()) or {}
    texts = (parsed[name] for name in _FIELDS if isinstance(parsed.get(name), str))
    code: str = next(texts, answer)
    bare = code.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        code = bare[1:-1]
    if "\n" not in code:
        code = code.replace("\\n", "\n").replace("\\t", "\t")
    block = last_fenced_block(code)
    return code if block is None else block


def completed(question: str, body: str, indent: int | None) -> str:
    """Return the program of a signature and a body.

    Args:
        question: The signature, with the code before it.
        body: The code under it, or a whole program, which is returned alone.
        indent: Spaces before the body, 4 in a function and 8 in a method; None: unchanged.
    """
    whole = body.strip()
    if _DATACLASS in whole or _IS_COMPLETE.match(whole):
        program = whole
    elif indent is None:
        program = f"{question.rstrip()}\n{body.rstrip()}"
    else:
        plain = textwrap.dedent(body.strip("\r\n"))
        program = f"{question.rstrip()}\n{textwrap.indent(plain, ' ' * indent).rstrip()}"
    needs_import = _DATACLASS in program and "from dataclasses" not in program
    return f"{_IMPORT}{program}\n" if needs_import else f"{program}\n"


# -- the comparison --------------------------------------------------------------------------------


def judge(item: Item, answer: str, _: Rules) -> Graded:
    """Compare the return values of both programs for four sets of arguments."""
    reference = reference_of(item.question, item.answer)
    if reference is None:
        return Graded.whole(answer, correct=answer.strip() == item.answer.strip())
    calls, expected = _expected(*reference)
    if not calls:
        return Graded.whole(answer, correct=False)
    target = reference[1]
    program = completed(item.question, repaired(answer), 8 if "." in target.name else 4)
    found = _returned(program, target.name, calls)
    return Graded.whole(
        answer,
        correct=not any(one.failed for one in found)
        and all(_same(one.value, other.value) for one, other in zip(found, expected, strict=True)),
    )


def reference_of(question: str, body: str) -> tuple[str, Target] | None:
    """Return the reference program and its target; None without a function.

    The body is unchanged, or indented as in a function or a method if only then it is a part of
    one: a line without indentation may be read as a statement after the function.
    """
    programs = [completed(question, body, indent) for indent in (None, 4, 8)]
    found = [(one, target) for one in programs if (target := target_of(one)) is not None]
    return next((pair for pair in found if pair[1].is_last), found[0] if found else None)


@lru_cache(maxsize=4096)
def _expected(program: str, target: Target) -> tuple[tuple[Call, ...], tuple[Returned, ...]]:
    """Return the first arguments with which the reference runs, and its results; else empty."""
    for seed in _seeds(program):
        calls = argument_sets(target, seed)
        returned = _returned(program, target.name, calls)
        if not any(one.failed for one in returned):
            return calls, returned
    return (), ()


def _seeds(program: str) -> Iterator[int]:
    first = int.from_bytes(hashlib.sha256(program.encode()).digest()[:4])
    yield from range(first, first + _SEEDS)


def _returned(source: str, target: str, calls: tuple[Call, ...]) -> tuple[Returned, ...]:
    """Return the results of a program's function for each set of arguments."""
    plain = tuple((tuple(args.items()), tuple(fields.items())) for args, fields in calls)
    return _run(source, target, plain)


# Kept, so that five seeds of one policy run each program once: it has no input, network or clock.
@lru_cache(maxsize=512)
def _run(source: str, target: str, calls: tuple[tuple[Any, Any], ...]) -> tuple[Returned, ...]:
    sets = [Arguments(args=dict(args), fields=dict(fields)) for args, fields in calls]
    return tuple(run_calls(source, target, sets, limits=ProgramLimits(seconds=_SECONDS)))


def _same(one: Any, other: Any) -> bool:
    """Compare numbers with a tolerance, sequences and mappings by element, and the rest as text."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return str(one).strip().lower() == str(other).strip().lower()
