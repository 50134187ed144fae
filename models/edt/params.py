"""The parameters of the Enterprise Digital Twin and its presets."""

from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import field, frozen
from attrs.validators import ge, in_, instance_of, le

from desim.core.roles import Thinking
from desim.schema.validators import finite, whole
from models.edt import document
from models.edt.scenario import Scenario

#: As in a scenario.
_MOST_MONEY = 1e12

_count = [whole, ge(1), le(100_000)]


@frozen(kw_only=True)
class DigitalTwinParams:
    """A consulting firm: consultants work on projects, each with a life of its own.

    Attributes:
        scenario: The firm and its market: the path of a scenario document, read when the model is
            built, or the scenario itself.
        asks: When the manager decides: "once" before the run, or at every one of the "events".
        mode: What happens to a malformed decision: "repair" repairs it as published, "strict"
            refuses it with a code, "second_pass" repairs it as the published scenario side alone
            does, which accepts a firm without consultants.
        gating: When extensions and follow-ons happen: "threshold" as in the code, where the
            probability must be above 1 - R, or "bernoulli" as in the paper, where in addition a
            draw must fall below the probability.
        extensions: How often a project can be extended: "repeated", each time that its work is done
            before the deadline, as in the code, or "once" as in the paper.
        release: When the consultants of a completed project can take another: "a_step_later" as in
            the code, where each loses a step, or "at_once" as in the paper.
        first_work: The first step of work on a project: "after_start", the step behind its start,
            as in the code, or "at_start" as in the paper.
        step_numbers: What a step number k in a decision means: "time", the time k as in the code,
            or "step", the time starttime + k * dt as in the paper.
        utilisation: What the metrics of utilisation count: "effort", delivered effort over
            capacity, as in the code, or "busy", consultants on a project over all, as in the paper.
        sums: What accumulated figures and the score cover: "before_last", all steps but the last,
            as in the code, or "all_steps" as in the paper.
        shows_costs: Whether the briefing shows costs and extension efforts, which the published
            briefing leaves out.
        opening_cash: Money in the bank at tick 0, paid in by the owners.
        pays_from_cash: Whether costs are paid only as far as the cash suffices: the rest is owed,
            and paid when bills are, as far as there is cash. Otherwise cash may fall below zero.
        quarter: Steps after which the manager decides although nothing has happened, at least 1.
        max_questions_per_tick: Questions at one tick; the episode fails with `Stuck` when a manager
            whose answers are refused, or who never waits, gets more questions.
        thinking: Steps that the commands of the manager take; needs `asks="events"`.

    Source: reference SPEC sections 1 to 11 for the code, 13 for the paper; `interactive`, the
    opening cash and payables are ours.
    """

    scenario: Scenario | str = field(factory=document.template, converter=document.read)
    asks: str = field(default="once", validator=in_(("once", "events")))
    mode: str = field(default="repair", validator=in_(("repair", "strict", "second_pass")))
    gating: str = field(default="threshold", validator=in_(("threshold", "bernoulli")))
    extensions: str = field(default="repeated", validator=in_(("repeated", "once")))
    release: str = field(default="a_step_later", validator=in_(("a_step_later", "at_once")))
    first_work: str = field(default="after_start", validator=in_(("after_start", "at_start")))
    step_numbers: str = field(default="time", validator=in_(("time", "step")))
    utilisation: str = field(default="effort", validator=in_(("effort", "busy")))
    sums: str = field(default="before_last", validator=in_(("before_last", "all_steps")))
    shows_costs: bool = field(default=False, validator=instance_of(bool))
    opening_cash: float = field(default=0.0, validator=[finite, ge(0), le(_MOST_MONEY)])
    pays_from_cash: bool = field(default=False, validator=instance_of(bool))
    quarter: int = field(default=12, validator=_count)
    max_questions_per_tick: int = field(default=1_000, validator=_count)
    thinking: Thinking = field(factory=Thinking, validator=instance_of(Thinking))

    #: Changes of parameters by preset; the first preset is the default.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {},
        "interactive": {"asks": "events", "shows_costs": True},
        "paper": {
            "mode": "strict",
            "gating": "bernoulli",
            "extensions": "once",
            "release": "at_once",
            "first_work": "at_start",
            "step_numbers": "step",
            "utilisation": "busy",
            "sums": "all_steps",
            "shows_costs": True,
        },
    }

    def __attrs_post_init__(self) -> None:
        if self.asks == "once" and self.thinking.takes_time:
            raise ValueError(
                'thinking was given with asks="once", where the decision comes before the first '
                'step and takes no time; give asks="events"'
            )

    @property
    def loaded_scenario(self) -> Scenario:
        """The scenario as an object, read from its document."""
        # The declared type of `scenario` includes the path, so that the command line accepts one.
        assert isinstance(self.scenario, Scenario)
        return self.scenario

    @property
    def deterministic(self) -> bool:
        """Whether episodes do not depend on the seed: only gates that open by chance draw."""
        return self.gating == "threshold"

    @property
    def follows_code(self) -> bool:
        """Whether work and sums follow the published code, whatever the metrics of utilisation."""
        rules = ("gating", "extensions", "release", "first_work", "step_numbers", "sums")
        return all(getattr(self, name) != self.presets["paper"][name] for name in rules)
