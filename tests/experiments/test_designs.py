"""The scripts that use designs and grids answer their questions with few seeds."""

import re

import pytest
from click.testing import CliRunner

from experiments import bullwhip, cushion


@pytest.mark.slow
def test_the_bullwhip_depends_on_delays_unless_the_supply_line_is_counted() -> None:
    """Longer delays amplify it, far more so with beta 0; the effect of beta is negative."""
    done = CliRunner().invoke(bullwhip.main, ["--seeds", "6"], catch_exceptions=False)
    assert done.exit_code == 0
    ignored, counted = map(float, re.findall(r"multiply the bullwhip by ([\d.]+)", done.output))
    assert ignored > 2 * counted > 2
    found = re.search(
        r"policy\.beta +0\.0 to 1\.0 +(-[\d.]+) +\[(-[\d.]+), (-[\d.]+)\]", done.output
    )
    assert found
    assert -3.5 < float(found[1]) < -1.5


@pytest.mark.slow
def test_a_larger_cushion_saves_the_company_and_equity_costs_nothing() -> None:
    """Survival grows with the floor; the score counts raised equity in full."""
    done = CliRunner().invoke(cushion.main, ["--seeds", "12"], catch_exceptions=False)
    assert done.exit_code == 0
    shares = re.findall(r"^equity .* survived +12 +0 +([\d.]+)", done.output, flags=re.MULTILINE)
    assert len(shares) == len(cushion.FLOORS)
    assert [float(one) for one in shares] == sorted(map(float, shares))
    assert float(shares[-1]) - float(shares[0]) > 0.7
    assert "equity, 30 to 40 million: 0.00 million [0.00, 0.00]" in done.output
