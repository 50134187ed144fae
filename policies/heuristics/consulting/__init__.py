"""Candidates of case interviews, and the scripted interviewer and judge."""

from collections.abc import Mapping

from models.consulting.params import ConsultingParams
from policies.heuristics.consulting.candidates import DataHungry as DataHungry
from policies.heuristics.consulting.candidates import Framework as Framework
from policies.heuristics.consulting.candidates import Silent as Silent
from policies.heuristics.consulting.seats import Rubric as Rubric
from policies.heuristics.consulting.seats import Scripted as Scripted


def baselines(_: ConsultingParams) -> tuple[str, ...]:
    """Return the candidates; interviewer and judges follow the model's rules beside them."""
    return ("silent", "data_hungry", "framework")


def lineups(params: ConsultingParams) -> Mapping[str, Mapping[str, str]]:
    """Return scripts for all seats: the same episodes, with every seat's decisions on record."""
    judges = dict.fromkeys(params.judge_roles, "rubric")
    return {"scripted_seats": {"interviewer": "scripted", "candidate": "framework", **judges}}
