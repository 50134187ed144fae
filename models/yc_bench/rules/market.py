"""Parameters of the market: how its tasks are drawn and replaced (SPEC 2.4 and 4.3 to 4.5)."""

from attrs import field, frozen
from attrs.validators import ge, in_, le

from desim.schema.validators import finite_numbers, whole
from models.yc_bench.rules.checks import (
    AMOUNT,
    COUNT,
    SHARE,
    SWITCH,
    Pair,
    Triple,
    as_tuple,
    levels,
    positive_pair,
    triangle,
)
from models.yc_bench.rules.specs import DOMAINS


@frozen(kw_only=True, slots=False)
class MarketRules:
    """Rules by which the tasks of the market are drawn.

    Attributes:
        num_market_tasks: Open tasks on the market; each accepted one is replaced.
        required_prestige: Low, high and mode of a triangular draw.
        reward_funds_cents: Low, high and mode, cents, before prestige and client.
        domain_count: Domains of a task, 1 to 4. Its work advances in all of them together, at the
            rate of the slowest; it needs the company's prestige in each and changes it in each.
        required_qty: Low, high and mode, units of work in each domain, before prestige.
        prestige_delta_scale: Largest prestige a task brings.
        prestige_delta_beta: The two parameters of the Beta distribution that scales it.
        skill_boost: Mean, deviation, lowest and highest of a normal draw.
        reward_prestige_scale: Growth of rewards for each level of prestige above 1.
        payout_prestige: What scales a reward: the task's "required" prestige when it is drawn, or
            the "company" prestige of its domain when it is done.
        prestige_qty_scale: Growth of quantities for each level of required prestige above 1.
        specialty_bias: Chance that a task's domain is drawn among the client's specialties.
        trust_gate: "reward": the chance that a task needs trust grows with its reward; "share":
            `trust_gating_fraction` of all tasks do.
        trust_gating_fraction: See `trust_gate`.
        trust_gated_reward_boost: Growth of a gated task's reward for each level of trust.
        replacement_stream: What numbers the replacements: each "slot" and its generation, or one
            counter for the "run".
        replacements_multiplied: Whether replacements pay the client's multiplier too.
    """

    num_market_tasks: int = field(default=200, validator=COUNT)
    required_prestige: Triple = field(default=(1.0, 5.0, 1.0), converter=as_tuple, validator=levels)
    reward_funds_cents: Triple = field(
        default=(200_000.0, 1_200_000.0, 500_000.0), converter=as_tuple, validator=triangle
    )
    domain_count: int = field(default=1, validator=[whole, ge(1), le(len(DOMAINS))])
    required_qty: Triple = field(
        default=(400.0, 1500.0, 800.0), converter=as_tuple, validator=triangle
    )
    prestige_delta_scale: float = field(default=0.35, validator=AMOUNT)
    prestige_delta_beta: Pair = field(
        default=(1.2, 2.8), converter=as_tuple, validator=positive_pair
    )
    skill_boost: tuple[float, float, float, float] = field(
        default=(0.12, 0.06, 0.01, 0.40), converter=as_tuple, validator=finite_numbers(4)
    )
    reward_prestige_scale: float = field(default=0.3, validator=AMOUNT)
    payout_prestige: str = field(default="required", validator=in_(("required", "company")))
    prestige_qty_scale: float = field(default=0.3, validator=AMOUNT)
    specialty_bias: float = field(default=0.7, validator=SHARE)
    trust_gate: str = field(default="reward", validator=in_(("reward", "share")))
    trust_gating_fraction: float = field(default=0.3, validator=SHARE)
    trust_gated_reward_boost: float = field(default=0.0, validator=AMOUNT)
    replacement_stream: str = field(default="slot", validator=in_(("slot", "run")))
    replacements_multiplied: bool = field(default=False, validator=SWITCH)
