"""The table of what the shipped policies know, in the page of the policies."""

import re
from collections.abc import Iterator

import pytest
from support.paths import ROOT

from desim import catalog
from desim.core.policy_protocols import knows
from desim.core.roles import KNOWLEDGE

PAGE = (ROOT / "policies" / "README.md").read_text(encoding="utf-8")


def table() -> Iterator[tuple[str, str, str]]:
    """Yield world, policy and level of each policy of the page that has one level."""
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        level = cells[2].strip("`") if len(cells) == 4 else ""
        if level in KNOWLEDGE and " with " not in cells[1]:
            for name in re.findall(r"`(\w+)`", cells[1]):
                yield cells[0].strip("` "), name, level


@pytest.mark.parametrize("world", ["every", *catalog.models()])
def test_the_page_lists_what_every_shipped_policy_declares(world: str) -> None:
    """With its reason; policies whose level depends on the options of a role apart."""
    cls = catalog.models().get(world)
    shipped = {name: knows(one) for name, one in catalog.policies(*filter(None, [cls])).items()}
    listed = {name: level for of, name, level in table() if of == world}
    assert listed == {k: v for k, v in shipped.items() if k not in ("greedy", "random", "rollout")}
