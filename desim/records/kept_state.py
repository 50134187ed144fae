"""The state and the series that an episode played in this process holds besides its record."""

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from desim.core.model import Model
from desim.core.points import Points, Recorded
from desim.core.result import Series, Ticks, ended_series
from desim.core.run import Run
from desim.errors import UsageError


@frozen(eq=False)
class Inside:
    """The inside of an ended episode; a copied or pickled episode has none.

    Attributes:
        model: The model that was played.
        points: The points recorded by `world.point` and by monitors, by name.
        end: The tick at which the episode ended.
    """

    model: Model[Any]
    points: Mapping[str, Recorded]
    end: int
    _states: tuple[Any, ...] = field(repr=False)
    _read: tuple[Series, Ticks] | None = field(repr=False)

    @classmethod
    def of(
        cls, run: Run[Any], points: Points | None, *, keep_state: bool, series: bool
    ) -> "Inside | None":
        """Return the inside of an ended run; None if nothing of it is wanted.

        Args:
            run: The ended run.
            points: The points that it has recorded.
            keep_state: Whether the state is held.
            series: Whether the model's series are read now, and not when they are used.

        Raises:
            WrongResult: A series is not a sequence of numbers.
            ModelFailed: The model's `series` raised an exception.
        """
        if not keep_state and not series and points is None:
            return None
        read = run.ended_series() if series else None
        states = (run.state,) if keep_state else ()
        return cls(run.model, points.read() if points else {}, run.world.now, states, read)

    @property
    def state(self) -> Any:
        """The state at the end.

        Raises:
            UsageError: The state was not kept.
        """
        if not self._states:
            raise UsageError("the state was not kept; play(..., keep_state=True) keeps it")
        return self._states[0]

    @property
    def series(self) -> tuple[Series, Ticks]:
        """The model's series up to the end of the episode, and the ends of their periods.

        Raises:
            UsageError: The series were not read, and the state was not kept.
            WrongResult: A series is not a sequence of numbers.
        """
        return self._read or ended_series(self.model, self.state, self.end)

    def __reduce__(self) -> tuple[Any, ...]:
        # A state holds generators, which cannot be copied, and results travel without it.
        return (type(None), ())
