"""Chooses one of several agent methods for each question or decision.

Source: reference SPEC of FirmBench, section 6 (the paper's Agent-of-Agents).
"""

from policies.llm.router.at_seat import Describer, Routed
from policies.llm.router.evaluation import Comparison, Evaluation, compare, evaluate, router_table
from policies.llm.router.experiences import Experience, read_experiences
from policies.llm.router.labels import Label, Labeller
from policies.llm.router.learning import Learned, learn, read_learned, tallied, write_learned
from policies.llm.router.policy import PUBLISHED_METHODS, Policy, Rule, table_4
from policies.llm.router.predictions import Item, Prediction, read_items, split, write_lines
from policies.llm.router.routing import Chooser, ModelChooser, Route, RuleChooser, route
from policies.llm.router.situation import Features, Situation, features_of

__all__ = [
    "PUBLISHED_METHODS",
    "Chooser",
    "Comparison",
    "Describer",
    "Evaluation",
    "Experience",
    "Features",
    "Item",
    "Label",
    "Labeller",
    "Learned",
    "ModelChooser",
    "Policy",
    "Prediction",
    "Route",
    "Routed",
    "Rule",
    "RuleChooser",
    "Situation",
    "compare",
    "evaluate",
    "features_of",
    "learn",
    "read_experiences",
    "read_items",
    "read_learned",
    "route",
    "router_table",
    "split",
    "table_4",
    "tallied",
    "write_learned",
    "write_lines",
]
