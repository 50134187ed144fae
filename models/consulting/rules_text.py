"""The rules of a case interview in words, for each of its roles."""

import tomllib
from pathlib import Path

from desim.core.reported import SeatBriefing, Texts
from models.consulting.params import ConsultingParams

_SEATS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def texts(params: ConsultingParams, role: str) -> Texts:
    """Return the rules for a role, also in five answers."""
    seat = _SEATS[role.partition("_")[0]]
    minutes = f" and {params.minutes:g} minutes" if params.minutes else ""
    briefing = SeatBriefing(
        title="The case interview",
        you_are=seat["you_are"],
        you_want=seat["you_want"],
        it_costs=f"Every message: both sides together have {params.messages}{minutes}. "
        "Made-up facts cost points.",
        it_ends="When the interviewer closes it, or no message or time is left.",
        score="0 to 10, as the judges score the candidate.",
    )
    return Texts(seat["rules"], briefing)


def effect(params: ConsultingParams, role: str, left: int) -> str:
    """Return what a message of the dialogue did; nothing for a judge's verdict."""
    other = {"interviewer": "candidate", "candidate": "interviewer"}.get(role)
    if other is None:
        return ""
    return f"The {other} has answered. {left} of {params.messages} messages of both sides are left."
