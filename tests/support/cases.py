"""What the tests of every world share: names of cases, slow baselines, and twins.

Twins are worlds with the same observations and different hidden facts. A policy that is not
informed cannot tell them apart, so it answers both in the same way.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from support.paths import PYTHONPATH

from desim import Model, play
from desim.catalog.policy_spec import read_policies
from desim.core.policy import decide_as
from desim.episodes.lineup import resolve
from desim.schema import to_plain

#: Specs of baselines that compute for seconds in any world; quick tests leave them out.
SEARCHES = frozenset({"planner", "optimal", "local_search"})


def thinned(cases: Iterable[Any], every: int) -> list[Any]:
    """Return cases of a test: one in a number of them is quick, and the others are slow."""
    return [
        case
        if number % every == 0
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for number, case in enumerate(cases)
    ]


def stable(value: Any) -> str:
    """Return the start of a case's `repr`, without memory addresses, the items of sets in order."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    return re.sub(r"\{([^{}:]*)\}", lambda found: f"{{{_sorted(found[1])}}}", text)[:200]


def _sorted(items: str) -> str:
    return ", ".join(sorted(items.split(", ")))


def printed_alike(code: str, *arguments: str) -> bytes:
    """Return what a program prints, after a check that two hash seeds give the same."""
    printed = [
        subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": PYTHONPATH},
            check=True,
            capture_output=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    return printed[0]


def first_difference(
    model: Model[Any], spec: str, twin: Model[Any] | None = None, *, seed: int = 0, other: int = 1
) -> str:
    """Play an episode, give its observations to the same policies in a twin, and compare actions.

    The policies in the twin are seated at another model or seed, so whatever they know of hidden
    facts by way of their seats differs, and nothing that they observe does.

    Args:
        model: Is played.
        spec: The policies, as `[ROLE=]SPEC`.
        twin: A model whose observations could be the same; None stands for *model*.
        seed: The seed of the episode.
        other: The seed of the twin.

    Returns:
        What the first different action is; empty if there is none.
    """
    policies = read_policies([spec])
    episode = play(model, policies, seed)
    seated: Mapping[str, Any] = resolve(twin or model, policies, other).policies
    for step in episode.steps:
        action = decide_as(seated[step.role], model.roles[step.role], step.observation)
        if action != step.action:
            return f"t={step.t}: {to_plain(step.action)}, in the twin {to_plain(action)}"
    return ""
