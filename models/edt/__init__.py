"""The Enterprise Digital Twin: a consulting firm, its consultants and its projects."""

from models.edt.actions import Decide, Window
from models.edt.model import EnterpriseDigitalTwin
from models.edt.scenario import Consultant, Project, Scenario

__all__ = ["Consultant", "Decide", "EnterpriseDigitalTwin", "Project", "Scenario", "Window"]
