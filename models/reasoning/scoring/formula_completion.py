"""Formula completion: the completed function returns what the reference returns.

Reference SPEC section 3.3, README item 8. The published code seeds the drawing of arguments with a
hash that Python salts anew in every process; here it is of the SHA-256 of the reference program, so
that an item always has the same arguments.

Arguments of a formula, drawn by the names of its parameters: reference SPEC 3.3.

The program of a formula: the signature of the question with a body under it.

Reference SPEC section 3.3, README item 8.
"""

import hashlib
import math
import re
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Any

from desim.sandbox import Returned
from models.reasoning.item import Item
from models.reasoning.scoring.extraction import parsed_object
from models.reasoning.scoring.formula_target import Named, Target, target_of
from models.reasoning.scoring.numbers import last_fenced_block
from models.reasoning.scoring.programs import Call, returned_by
from models.reasoning.scoring.verdict import Rules, Verdict

#: Sets of arguments that are compared.
SETS = 4


#: Names of whole numbers, and parts of such names.
_WHOLE = {"n", "year", "years", "period", "periods"}


_WHOLE_PARTS = ("num", "count")


#: Parts of names with the least and the largest value, in the order in which they are looked for.
_RANGES = (
    (("rate", "growth", "yield", "return"), 0.01, 0.4),
    (("share", "price", "value", "income"), 10.0, 1000.0),
    (("dividend", "cash"), 1.0, 500.0),
)


_MOST_WHOLE = 12


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


#: Fields of a JSON object inside an answer that may hold the code.
_FIELDS = ("solution", "completion", "response")


_DATACLASS = "@dataclass"


_IMPORT = "from dataclasses import dataclass, field\n"


_IS_COMPLETE = re.compile(r"(?:class|def)\s")


def repaired(answer: str) -> str:
    """Return the code that an answer holds in JSON, in quotes, with escaped breaks or in a fence.

    A fenced block loses its outer white space, and so the indentation of its first line alone.
    """
    code = answer
    parsed = parsed_object(answer.strip()) or {}
    for name in _FIELDS:
        if isinstance(parsed.get(name), str):
            code = parsed[name]
            break
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
    if _is_complete(body):
        program = body.strip()
    elif indent is None:
        program = f"{question.rstrip()}\n{body.rstrip()}"
    else:
        plain = textwrap.dedent(body.strip("\r\n"))
        program = f"{question.rstrip()}\n{textwrap.indent(plain, ' ' * indent).rstrip()}"
    needs_import = _DATACLASS in program and "from dataclasses" not in program
    return f"{_IMPORT}{program}\n" if needs_import else f"{program}\n"


def _is_complete(body: str) -> bool:
    plain = body.strip()
    return _DATACLASS in plain or _IS_COMPLETE.match(plain) is not None


#: Seeds that are tried until the reference runs.
_SEEDS = 5


#: Relative and absolute tolerance of a number.
_TOLERANCE = 1e-4


def judge(item: Item, answer: str, _: Rules) -> Verdict:
    """Compare the return values of both programs for four sets of arguments."""
    reference = reference_of(item.question, item.answer)
    if reference is None:
        equal = answer.strip() == item.answer.strip()
    else:
        equal = _agrees(item, answer, reference)
    return Verdict.single(correct=equal, predicted=None, truth=None)


def _agrees(item: Item, answer: str, reference: tuple[str, Target]) -> bool:
    program, target = reference
    calls, expected = _expected(program, target)
    if not calls:
        return False
    program = completed(item.question, repaired(answer), 8 if target.owner else 4)
    found = returned_by(program, target.name, calls)
    return not _failed(found) and all(
        _same(one.value, other.value) for one, other in zip(found, expected, strict=True)
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
        returned = returned_by(program, target.name, calls)
        if not _failed(returned):
            return calls, returned
    return (), ()


def _seeds(program: str) -> Iterator[int]:
    first = int.from_bytes(hashlib.sha256(program.encode()).digest()[:4])
    yield from range(first, first + _SEEDS)


def _failed(returned: tuple[Returned, ...]) -> bool:
    return any(one.failed for one in returned)


def _same(one: Any, other: Any) -> bool:
    """Compare numbers with a tolerance, sequences and mappings by element, and the rest as text."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return str(one).strip().lower() == str(other).strip().lower()
