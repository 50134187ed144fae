"""Parameters of the clients' trust (SPEC 2.3 and 10)."""

from attrs import field, frozen
from attrs.validators import gt, le

from desim.schema.validators import finite
from models.yc_bench.rules.checks import AMOUNT, DIGITS, SHARE, SWITCH

__all__ = ["TrustRules"]


@frozen(kw_only=True, slots=False)
class TrustRules:
    """How trust grows, is lost, and saves work; `formulas.py` holds the equations.

    Attributes:
        trust_max: Highest trust.
        trust_build_tasks: Tasks done in time until trust is significant: the first one gains
            `1.6 * trust_max / trust_build_tasks`, so twice as many build trust half as fast. The
            published name is `trust_build_rate`, although it divides.
        trust_fragility: Scales what trust loses with failures and days.
        trust_focus_pressure: Scales what trust of all other clients loses with every completion.
        trust_work_reduction_max: Share of the work that full trust saves.
        trust_digits: Decimals to which trust is rounded at every stop.
        accepting_step_unrounded: Whether a client's trust is not rounded in the first step after
            one of its tasks was accepted, as in the published bot runner.
    """

    trust_max: float = field(default=5.0, validator=[finite, gt(0), le(1e6)])
    trust_build_tasks: float = field(default=5.0, validator=[finite, gt(0), le(1e6)])
    trust_fragility: float = field(default=0.3, validator=AMOUNT)
    trust_focus_pressure: float = field(default=0.3, validator=AMOUNT)
    trust_work_reduction_max: float = field(default=0.5, validator=SHARE)
    trust_digits: int = field(default=3, validator=DIGITS)
    accepting_step_unrounded: bool = field(default=False, validator=SWITCH)
