"""Redrawn futures: the gates that are not reached yet."""

from attrs import evolve

from desim import Run
from models.edt import Decide, EnterpriseDigitalTwin, Window
from models.edt.firm import Firm

WINDOWS = (Window(0, 95),) * 10


def earned(future: int | None, **rules: str) -> float:
    """Play one decision, with gates that open by chance or not, and return the earnings."""
    model = EnterpriseDigitalTwin.preset("paper", mode="repair", **rules)
    scenario = model.loaded_scenario
    uncertain = [evolve(p, extension_probability=0.6) for p in scenario.projects]
    run: Run[Firm] = Run(evolve(model, scenario=evolve(scenario, projects=uncertain)), 1)
    run.advance()
    if future is not None:
        run.redraw(future)
    run.answer(run.open[0], Decide(len(scenario.consultants), 0.9, WINDOWS))
    run.advance()
    return run.result().score


def test_gates_open_otherwise_in_another_future() -> None:
    """Each future is one draw of all gates."""
    found = [earned(future) for future in (None, *range(6))]
    assert len(set(found)) > 3
    assert earned(3) == found[4]


def test_gates_with_a_threshold_do_not_depend_on_a_future() -> None:
    """They draw nothing."""
    assert len({earned(future, gating="threshold") for future in (None, 1, 2)}) == 1


def test_what_a_manager_does_not_know_is_named() -> None:
    """It is the rest of the scenario, and depends on what the briefing shows."""
    assert EnterpriseDigitalTwin.preset("paper").kept == ()
    assert EnterpriseDigitalTwin().kept == ("work that an extension adds", "costs of the scenario")
    assert len(EnterpriseDigitalTwin.preset("interactive").kept) == 1
