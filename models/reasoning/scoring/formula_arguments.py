"""Arguments of a formula, drawn by what the names of its parameters say: reference SPEC 3.3."""

from random import Random

from models.reasoning.scoring.formula_target import Named, Target
from models.reasoning.scoring.programs import Call

__all__ = ["SETS", "argument_sets"]

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
