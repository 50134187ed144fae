"""`check` finds waits of random length that are the same in all futures."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from attrs import frozen
from support.small_worlds import Walk

from desim import Model, Role, World, catalog, check
from desim.studies.checks.checked_world import CheckedWorld
from desim.studies.checks.outcomes import NotChecked
from desim.studies.checks.wait_checks import waits


@frozen
class Night:
    """A day that is over.

    Attributes:
        day: Its number.
        repaired: The day at which the lathe runs again, where the owner knows it.
    """

    day: int
    repaired: int | None = None


@frozen
class Sleep:
    """Do nothing."""


@frozen
class Lathe(Model[list[int]]):
    """A lathe that breaks now and then.

    Attributes:
        waits: By a timeout whose length is drawn, also one that the owner observes, by a delay, or
            by a timeout of constant length.
        kept: As a model declares it.
    """

    waits: Literal["timeout", "observed", "delay", "constant"] = "timeout"
    kept: tuple[str, ...] = ()

    @property
    def roles(self) -> Mapping[str, Role]:
        """The owner."""
        return {"owner": Role(Night, Sleep, default_action=lambda _: Sleep())}

    def begin(self, world: World) -> list[int]:
        """Start the lathe and the nights."""
        broken: list[int] = []
        world.process(self._breaks(world, broken))
        world.process(self._nights(world, broken))
        return broken

    def redraw(self, world: World, broken: list[int]) -> None:
        """Replace nothing."""

    def _breaks(self, world: World, broken: list[int]) -> Any:
        draws = world.stream("breaks")
        while True:
            days = int(draws.integers(20, 90))
            broken.append(world.now + days)
            if self.waits == "delay":
                yield world.delay(draws, lambda each: int(each.integers(20, 90)))
            else:
                yield world.timeout(33 if self.waits == "constant" else days)

    def _nights(self, world: World, broken: list[int]) -> Any:
        for _ in range(20):
            yield world.timeout(5)
            seen = broken[-1] if self.waits == "observed" else None
            yield world.ask("owner", partial(Night, world.now, seen))
        world.end("over")

    def score(self, broken: list[int]) -> float:
        """Return the number of breakdowns."""
        return float(len(broken))

    def metrics(self, broken: list[int]) -> dict[str, Any]:
        """Return the number of breakdowns."""
        return {"broken": len(broken)}


def found(model: Any, folder: Path) -> str:
    """Return what the check has found."""
    return waits(CheckedWorld(catalog.model(model), [0], folder))


def test_a_drawn_end_that_stays_is_named() -> None:
    """With the function, the line and the tick."""
    (one,) = (one for one in check(Lathe(), seeds=[0]).findings if one.check == "waits")
    assert one.outcome == "advice"
    assert "a wait from t=0 on has a drawn end, which is t=" in one.text
    assert "`world.delay` draws its rest anew, or `kept` names it" in one.text
    assert one.place.startswith("Lathe._breaks (test_wait_checks.py, line ")


@pytest.mark.parametrize("model", [Lathe("delay"), Lathe("observed"), Lathe("constant")])
def test_waits_without_a_fault_pass(model: Lathe, tmp_path: Path) -> None:
    """A delay, an end that the role observes, a constant length."""
    assert found(model, tmp_path).endswith("none has a drawn end that no role observes")


def test_a_fact_that_is_kept_passes(tmp_path: Path) -> None:
    """The model says that it is the same in all futures."""
    assert found(Lathe(kept=("days of breakdowns",)), tmp_path).endswith(
        "keeps: days of breakdowns"
    )


@pytest.mark.parametrize("world", ["beer_game/poisson", "edt/paper", "yc_bench"])
def test_shipped_worlds_pass(world: str, tmp_path: Path) -> None:
    """Two of them declare that a redraw keeps nothing."""
    assert found(world, tmp_path)


@pytest.mark.parametrize(
    ("model", "reason"),
    [("enterprise/small", "the model is made of parts"), (Walk(), "see `futures`")],
)
def test_models_that_are_not_checked(model: Any, reason: str, tmp_path: Path) -> None:
    """Another check says what is missing."""
    with pytest.raises(NotChecked, match=reason):
        found(model, tmp_path)
