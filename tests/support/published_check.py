"""Finds published results that stand in pages and scripts, and compares them with the data."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

#: A line that speaks of published figures.
_SPEAKS = re.compile(r"paper|publish|leaderboard|Table \d", re.IGNORECASE)
_BLOCK = re.compile(r"<!-- published: .*?<!-- /published -->", re.DOTALL)
#: A section about what a paper says twice and differently; its numbers are the paper's.
_SECTION = re.compile(
    r"^#+ [^\n]*contradict[^\n]*\n(.*?)(?=^#|\Z)", re.IGNORECASE | re.MULTILINE | re.DOTALL
)
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:\s?[KM]\b)?")
_SCALE = {"K": 1e3, "M": 1e6}
_DIGITS, _THOUSAND = 3, 1_000


def distinctive(number: float) -> bool:
    """Whether a number is too long for a coincidence: three digits, and a fraction or thousands."""
    digits = f"{abs(number):.10g}".replace(".", "").strip("0")
    return len(digits) >= _DIGITS and (number != int(number) or abs(number) >= _THOUSAND)


def contradictions(text: str) -> list[str]:
    """Return the sections of a page about contradictions inside a paper."""
    return [str(body) for body in _SECTION.findall(_BLOCK.sub("", text))]


def spoken(text: str, results: Mapping[float, str]) -> Iterator[tuple[str, str]]:
    """Yield the lines that state a published result and are in no block, and its address.

    Blocks are those that are marked and the sections about contradictions.
    """
    for line in _SECTION.sub("", _BLOCK.sub("", text)).splitlines():
        if _SPEAKS.search(line):
            for token in _NUMBER.findall(line):
                plain = float(token.strip("KM ").replace(",", ""))
                for number in {plain, plain * _SCALE.get(token[-1], 1)} & results.keys():
                    yield line, results[number]


def literals(file: Path, results: Mapping[float, str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a script that hold a published result as a number, and its address."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            address = results.get(float(node.value))
            if address is not None:
                yield node.lineno, address
