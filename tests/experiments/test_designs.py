"""The scripts that use designs and grids answer their questions with few seeds."""

import re

import pytest
from click.testing import CliRunner

from experiments import adversarial_clients, bullwhip, cushion, departments, value_of_r


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


@pytest.mark.slow
def test_some_risk_is_worth_more_than_none_and_than_all() -> None:
    """In the published firm, where R opens gates without chance."""
    options = ["--preset", "published"]
    done = CliRunner().invoke(value_of_r.main, options, catch_exceptions=False)
    assert done.exit_code == 0
    gains = [float(one) for one in re.findall(r"^R .* ([+-][\d.]+)$", done.output, re.MULTILINE)]
    assert len(gains) == len(value_of_r.RISKS)
    assert gains[0] == 0
    assert max(gains) == pytest.approx(4.469, abs=0.001)
    assert 0 < gains[-1] < max(gains)


@pytest.mark.slow
def test_avoiding_adversarial_clients_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """More in all for a larger team."""
    monkeypatch.setattr(adversarial_clients, "TEAMS", [4, 12])
    done = CliRunner().invoke(adversarial_clients.main, ["--seeds", "4"], catch_exceptions=False)
    assert done.exit_code == 0
    small, large = (
        float(one.replace(",", "")) for one in re.findall(r"people: (\S+)", done.output)
    )
    assert 0 < small < large


@pytest.mark.slow
def test_shapley_values_share_out_what_all_departments_add() -> None:
    """The treasury alone and the values of the departments make the whole group."""
    options = ["--preset", "small", "--seeds", "2"]
    done = CliRunner().invoke(departments.main, options, catch_exceptions=False)
    assert done.exit_code == 0
    worths = [
        float(one) for one in re.findall(r"^treasury .*? (-?\d+\.\d\d)", done.output, re.MULTILINE)
    ]
    values = [float(one) for one in re.findall(r"Shapley value +(-?\d+\.\d\d)", done.output)]
    assert len(worths) == 4
    assert len(values) == 2
    assert worths[0] + sum(values) == pytest.approx(worths[-1], abs=0.02)
