"""The values of a model's series, without the ends of their periods."""

from typing import Any

from desim import Model
from desim.core.result import read_series


def series_of(model: Model[Any], state: Any) -> dict[str, list[float]]:
    """Return the values by name."""
    return {name: list(values) for name, values in read_series(model, state)[0].items()}
