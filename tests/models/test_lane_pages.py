"""The pages of worlds with lanes: their example runs and prints what stands below it."""

import re

import pytest
from support.paths import ROOT

EXAMPLE = re.compile(
    r"^## Lanes$.*?^```python\n(.*?)^```\n+```\n(.*?)^```$", re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("world", ["beer_game", "enterprise_arena"])
def test_the_example_with_lanes_prints_what_the_page_says(
    world: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first block of the section is the program, the second its output."""
    found = EXAMPLE.search((ROOT / "models" / world / "README.md").read_text(encoding="utf-8"))
    assert found
    exec(found[1], {})  # noqa: S102 (the page is ours)
    assert capsys.readouterr().out == found[2]
