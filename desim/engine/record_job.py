"""Jobs whose episodes are recorded, each in a file of its own: an episode, or several in a row."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from desim.core.model import Model
from desim.episodes.lineup import Policies


class Built:
    """Has a model, which is missing in a plan that is only printed."""

    built: Model[Any] | None

    @property
    def model(self) -> Model[Any]:
        """The frozen parameters."""
        assert self.built is not None, "a plan to print has no models"
        return self.built


@frozen
class RecordJob(Built):
    """An episode, or a series of episodes in a row, with a record each.

    Attributes:
        name: The name of its record without an ending; safe in every file system (`safe_name`).
        built: The frozen parameters; None in a plan that is only printed.
        policies: The policies for `desim.play`.
        seeds: The seeds of its episodes.
        training: The number of its first episodes that only train the policies.
        host: The address that its policies wait for, or `DEFAULT_HOST`; empty if they wait for
            none.
        purse: The name of the limits of money that it shares with other jobs.
        known: Transcript entries that its policies get before they play; see `OutsidePolicy.reuse`.
    """

    name: str
    built: Model[Any] | None
    policies: Policies
    seeds: range
    training: int = 0
    host: str = ""
    purse: str = ""
    known: Sequence[Mapping[str, Any]] = field(default=(), repr=False)

    @property
    def episodes(self) -> int:
        """The number of its episodes."""
        return len(self.seeds)

    @property
    def is_series(self) -> bool:
        """Whether it has several episodes in a row."""
        return self.episodes > 1
