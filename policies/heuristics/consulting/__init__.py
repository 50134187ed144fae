"""Candidates of case interviews, and the scripted interviewer and judge."""

from collections.abc import Mapping

from models.consulting.params import ConsultingParams
from policies.heuristics.consulting.candidates import DataHungry, Framework, Silent
from policies.heuristics.consulting.seats import Rubric, Scripted

__all__ = ["DataHungry", "Framework", "Rubric", "Scripted", "Silent", "baselines", "lineups"]


def baselines(_: ConsultingParams) -> tuple[str, ...]:
    """Return the candidates; interviewer and judges follow the model's rules beside them."""
    return ("silent", "data_hungry", "framework")


def lineups(params: ConsultingParams) -> Mapping[str, Mapping[str, str]]:
    """Return scripts for all seats: the same episodes, with every seat's decisions on record."""
    judges = dict.fromkeys(params.judge_roles, "rubric")
    return {"scripted_seats": {"interviewer": "scripted", "candidate": "framework", **judges}}
