"""Formula completion: the completed function returns what the reference returns.

Reference SPEC section 3.3, README item 8. The seed of the arguments is of the SHA-256 of the
reference program; the published code has a hash that Python salts anew in every process.
"""

import ast
import hashlib
import math
import re
import textwrap
import warnings
from collections.abc import Iterable
from functools import lru_cache
from random import Random
from typing import Any

from attrs import frozen

from desim.sandbox import Arguments, Returned, run_calls
from models.reasoning.item import Item
from models.reasoning.params import ReasoningParams
from models.reasoning.scoring import Graded
from models.reasoning.scoring.extraction import last_fenced_block, parsed_object

#: Relative and absolute tolerance of a number; characters of a program that is parsed at most.
_TOLERANCE, _LONGEST = 1e-4, 200_000

#: Names of parameters that are whole numbers from 1 to 12, as are those with "num" or "count".
_WHOLE = {"n", "year", "years", "period", "periods"}

#: Parts of names with the least and the largest value, in the order in which they are looked for.
_RANGES = (
    (("rate", "growth", "yield", "return"), 0.01, 0.4),
    (("share", "price", "value", "income"), 10.0, 1000.0),
    (("dividend", "cash"), 1.0, 500.0),
)

#: The file of programs, in whose texts escapes are as they are, said for all threads.
_PROGRAM = "<program of an item>"
warnings.filterwarnings("ignore", "invalid escape sequence|.* is an invalid", module=_PROGRAM)

_DATACLASS = "@dataclass"
_IS_COMPLETE = re.compile(r"(?:class|def)\s")

_Function = ast.FunctionDef | ast.AsyncFunctionDef

#: The name of a parameter or a field, and its annotation if it has one.
_Named = tuple[str, str | None]


@frozen
class Target:
    """The last function of a program, or the last method of its last class.

    Attributes:
        source: The program.
        name: As a call names it: "function" or "Class.method".
        arguments: Its positional parameters, without the object of a method.
        fields: The annotated fields of the class of a method.
        is_last: Whether no statement follows it.
    """

    source: str
    name: str
    arguments: tuple[_Named, ...]
    fields: tuple[_Named, ...]
    is_last: bool


def judge(item: Item, answer: str, _: ReasoningParams) -> Graded:
    """Compare the return values of both programs for four sets of arguments."""
    target = reference_of(item.question, item.answer)
    if target is None:
        return Graded(answer, correct=answer.strip() == item.answer.strip())
    seed = runnable_seed(target)
    if seed is None:
        return Graded(answer, correct=False)
    program = _completed(item.question, _repaired(answer), 8 if "." in target.name else 4)
    found, expected = _returned(program, target, seed), _returned(target.source, target, seed)
    pairs = zip(found, expected, strict=True)
    equal = (not one.failed and _same(one.value, other.value) for one, other in pairs)
    return Graded(answer, correct=all(equal))


def runnable_seed(target: Target) -> int | None:
    """Return the first of five seeds whose arguments the reference accepts; None without one."""
    first = int.from_bytes(hashlib.sha256(target.source.encode()).digest()[:4])
    return next((seed for seed in range(first, first + 5) if _runs(target, seed)), None)


def _runs(target: Target, seed: int) -> bool:
    return not any(one.failed for one in _returned(target.source, target, seed))


# Kept, so that five seeds of one policy run each program once: it has no input, network or clock.
@lru_cache(maxsize=4096)
def _returned(source: str, target: Target, seed: int) -> tuple[Returned, ...]:
    return run_calls(source, target.name, argument_sets(target, seed))


def _same(one: Any, other: Any) -> bool:
    """Compare numbers with a tolerance, sequences and mappings by element, and the rest as text."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return str(one).strip().lower() == str(other).strip().lower()


def reference_of(question: str, body: str) -> Target | None:
    """Return the function of the reference program; None without one.

    The body is unchanged, or indented as in a function or a method if only then it is a part of
    one: a line without indentation may be read as a statement after the function.
    """
    programs = (_completed(question, body, indent) for indent in (None, 4, 8))
    found = [target for one in programs if (target := _target_of(one)) is not None]
    return next((one for one in found if one.is_last), found[0] if found else None)


def _target_of(source: str) -> Target | None:
    """Parse an item's program, without running it; a language model's is read in the sandbox."""
    if len(source) > _LONGEST:
        return None
    try:
        body = ast.parse(source, _PROGRAM).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in reversed(body):
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        functions = [each for each in inner if isinstance(each, _Function)]
        if not functions:
            continue
        last = functions[-1]
        is_last = node is body[-1] and last is inner[-1]
        given = [(one.arg, one.annotation) for one in (*last.args.posonlyargs, *last.args.args)]
        if not isinstance(node, ast.ClassDef):
            return Target(source, last.name, _named(given), (), is_last)
        arguments = _named(pair for pair in given if pair[0] not in ("self", "cls"))
        fields = _named(
            (one.target.id, one.annotation)
            for one in inner
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        )
        return Target(source, f"{node.name}.{last.name}", arguments, fields, is_last)
    return None


def _named(given: Iterable[tuple[str, ast.expr | None]]) -> tuple[_Named, ...]:
    return tuple((name, None if kind is None else ast.unparse(kind)) for name, kind in given)


def _repaired(answer: str) -> str:
    """Return the code that an answer holds in JSON, in quotes, with escaped breaks or in a fence.

    A fenced block loses its outer white space, and so the indentation of its first line alone.
    """
    parsed = parsed_object(answer.strip()) or {}
    given = (parsed.get(name) for name in ("solution", "completion", "response"))
    code = next((text for text in given if isinstance(text, str)), answer)
    bare = code.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        code = bare[1:-1]
    if "\n" not in code:
        code = code.replace("\\n", "\n").replace("\\t", "\t")
    block = last_fenced_block(code)
    return code if block is None else block


def _completed(question: str, body: str, indent: int | None) -> str:
    """Return a signature with a body under it, behind *indent* spaces; a whole program as it is."""
    program = body.strip()
    if not (_DATACLASS in program or _IS_COMPLETE.match(program)):
        if indent is not None:
            body = textwrap.indent(textwrap.dedent(body.strip("\r\n")), " " * indent)
        program = f"{question.rstrip()}\n{body.rstrip()}"
    if _DATACLASS in program and "from dataclasses" not in program:
        program = f"from dataclasses import dataclass, field\n{program}"
    return f"{program}\n"


def argument_sets(target: Target, seed: int) -> list[Arguments]:
    """Return four sets, drawn as in the published code: one stream, fields before arguments."""
    random = Random(seed)  # noqa: S311 (no secrets)
    sets = []
    for _ in range(4):
        fields = {name: _drawn(random, name.lower(), kind) for name, kind in target.fields}
        args = {name: _drawn(random, name.lower(), kind) for name, kind in target.arguments}
        sets.append(Arguments(args=args, fields=fields))
    return sets


def _drawn(random: Random, name: str, annotation: str | None) -> float:
    if annotation == "int" or name in _WHOLE or "num" in name or "count" in name:
        return random.randint(1, 12)
    for parts, low, high in _RANGES:
        if any(part in name for part in parts):
            return round(random.uniform(low, high), 4)
    number = random.uniform(25.0, 750.0)
    is_negative = random.random() < 0.3  # noqa: PLR2004 (the share of other numbers)
    return round(-number if is_negative else number, 4)
