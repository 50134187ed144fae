"""A bound on the mean score of all policies that do not know the future: a fair bound."""

from typing import Any, Literal, get_args

from attrs import field, frozen
from attrs.validators import ge

from desim.schema.validators import finite
from desim.short_repr import short_repr
from desim.show.labels import estimate_text

#: Whether a bound on a mean is proved, or is the mean of bounds of some seeds.
MeanKind = Literal["proved", "estimated"]

_number: Any = finite
_width: Any = (finite, ge(0))


def _kind(value: Any) -> MeanKind:
    if value not in get_args(MeanKind):
        possible = ", ".join(get_args(MeanKind))
        raise ValueError(f"kind {short_repr(value)} was given; possible: {possible}")
    found: MeanKind = value
    return found


@frozen
class MeanBound:
    """A fair bound of a preset, and the rule that is known to come nearest to it.

    Attributes:
        value: No policy that observes its role alone has a higher mean score over all seeds.
        kind: "proved", or "estimated": the mean of a bound that holds for each seed.
        half: Half the 95 % interval of an estimated value; 0 of a proved one.
        policy: The spec of the rule.
        gap: The value less the mean score of the rule on the same seeds.
        gap_half: Half the 95 % interval of the gap; 0 where it is equal on all seeds.
        seeds: The seeds of both, "A:B"; neither the bound nor the rule was fitted on them.
    """

    value: float = field(converter=float, validator=_number)
    kind: MeanKind = field(converter=_kind)
    half: float = field(converter=float, validator=_width)
    policy: str
    gap: float = field(converter=float, validator=_number)
    gap_half: float = field(converter=float, validator=_width)
    seeds: str

    @property
    def sentence(self) -> str:
        """The bound, its kind, and how near the rule comes."""
        value = estimate_text(self.value, self.half or self.gap_half)
        interval = f" ± {estimate_text(self.half, self.half)}" if self.half else ""
        near = f"is at most {estimate_text(self.gap + self.gap_half, self.gap_half)} below it"
        if not self.gap and not self.gap_half:
            near = f"attains it on each of the seeds {self.seeds}"
        return f"fair bound of the mean {value}{interval} ({self.kind}), {self.policy} {near}"
