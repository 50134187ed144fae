"""The Enterprise Digital Twin: a consulting firm, its consultants and its projects."""

from models.edt.actions import (
    Accept,
    Answer,
    Decide,
    Decline,
    Hire,
    Release,
    SetRisk,
    Staff,
    Wait,
    Window,
)
from models.edt.desk import Briefing, Dashboard
from models.edt.model import EnterpriseDigitalTwin
from models.edt.scenario import Consultant, Project, Scenario

__all__ = [
    "Accept",
    "Answer",
    "Briefing",
    "Consultant",
    "Dashboard",
    "Decide",
    "Decline",
    "EnterpriseDigitalTwin",
    "Hire",
    "Project",
    "Release",
    "Scenario",
    "SetRisk",
    "Staff",
    "Wait",
    "Window",
]
