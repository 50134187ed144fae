"""Formula completion: the completed function returns what the reference returns.

Reference SPEC section 3.3, README item 8. The published code seeds the drawing of arguments with a
hash that Python salts anew in every process; here it is of the SHA-256 of the reference program, so
that an item always has the same arguments.
"""

import hashlib
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from desim.sandbox import Returned
from models.reasoning.item import Item
from models.reasoning.scoring.formula_arguments import argument_sets
from models.reasoning.scoring.formula_program import completed, repaired
from models.reasoning.scoring.formula_target import Target, target_of
from models.reasoning.scoring.programs import Call, returned_by
from models.reasoning.scoring.verdict import Rules, Verdict

__all__ = ["judge", "reference_of"]

#: Seeds that are tried until the reference runs.
_SEEDS = 5

#: Relative and absolute tolerance of a number.
_TOLERANCE = 1e-4


def judge(item: Item, answer: str, _: Rules) -> Verdict:
    """Compare what both programs return for four sets of arguments."""
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
    """Return the reference program and its target; None where no function is found.

    The body stands as it is, or with the indentation of a function or of a method if only then it
    is a part of one: a line without indentation may be read as a statement behind the function.
    """
    programs = [completed(question, body, indent) for indent in (None, 4, 8)]
    found = [(one, target) for one in programs if (target := target_of(one)) is not None]
    return next((pair for pair in found if pair[1].is_last), found[0] if found else None)


@lru_cache(maxsize=4096)
def _expected(program: str, target: Target) -> tuple[tuple[Call, ...], tuple[Returned, ...]]:
    """Return the first arguments for which the reference runs and what it returns; else nothing."""
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
