"""The same seed gives the same router in every process."""

import os
import subprocess
import sys

from support.paths import PYTHONPATH

PROGRAM = """
from support.router_items import METHODS, Asked, items, lesson, rules
from policies.llm.router import RuleChooser, compare, learn, split, tallied
from policies.llm.router.evaluation import router_lines

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


def test_nothing_depends_on_the_hash_seed() -> None:
    """Split, answers, bullets, rules, table."""
    assert printed("0") == (second := printed("12345"))
    assert "q3" in second
