"""The same seed gives the same router in every process."""

import os
import subprocess
import sys

import pytest
from support.paths import PYTHONPATH

PROGRAM = """
from support.router_items import METHODS, Asked, items, lesson, rules
from policies.llm.router import RuleChooser, compare, learn, split, tallied
from policies.llm.router.table import router_lines

def script(request):
    return rules() if "You write the rules" in request else lesson(request[-60:])

learned, test = split(items(90), 0.4, seed=7)
print([each.id for each in learned])
print(learn(learned, Asked(script), most=4, most_bullets=20, seed=7))
print(router_lines(compare(lambda m: RuleChooser(tallied(m, 3), METHODS), learned, test)))
"""


def printed(hash_seed: str) -> str:
    """Return what the program prints in a process with this hash seed."""
    env = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": PYTHONPATH}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def first() -> str:
    """What is printed with the first hash seed."""
    return printed("0")


@pytest.mark.parametrize("hash_seed", ["1", "12345"])
def test_nothing_depends_on_the_hash_seed(first: str, hash_seed: str) -> None:
    """Split, answers, bullets, rules, table."""
    assert printed(hash_seed) == first
    assert "q3" in first
